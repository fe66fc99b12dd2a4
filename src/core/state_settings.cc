// What people set while it runs, as it comes from the store.
#include "src/core/state.h"

#include <algorithm>

namespace hodei::core {

void State::put_setting(const SettingRow& row) {
  settings_[{row.kind, row.name}] = hash64(row.bytes);
  switch (row.kind) {
    case SettingKind::Provider: put_provider(decode_provider(row.bytes)); break;
    case SettingKind::Pool: pools_[row.name] = decode_pool(row.bytes); break;
    case SettingKind::Tenant: roster_.set_tenant(decode_tenant(row.bytes)); break;
    case SettingKind::KeyRate: keys_.set(decode_key_rule(row.bytes)); break;
  }
}

// Workers that say they are of it may be there before it is.
void State::put_provider(ProviderRow row) {
  const auto [it, is_new] = providers_.try_emplace(row.name);
  LiveProvider& provider = it->second;
  provider.row = std::move(row);
  if (!is_new) return;
  for (const auto& [id, worker] : workers_) {
    if (worker->record->info.provider != provider.row.name) continue;
    provider.jobs += static_cast<uint32_t>(worker->executions.size());
  }
}

size_t State::setting_count(SettingKind kind) const {
  const auto first = settings_.lower_bound({kind, ""});
  return static_cast<size_t>(
      std::count_if(first, settings_.end(), [&](const auto& s) { return s.first.first == kind; }));
}

void State::delete_setting(SettingKind kind, const std::string& name) {
  settings_.erase({kind, name});
  switch (kind) {
    case SettingKind::Provider: providers_.erase(name); break;
    case SettingKind::Pool: pools_.erase(name); break;
    case SettingKind::Tenant: roster_.set_tenant(TenantRow{.ns = name}); break;
    case SettingKind::KeyRate: {
      const size_t slash = name.find('/');  // namespaces have none
      keys_.unset(name.substr(0, slash), name.substr(slash + 1));
      break;
    }
  }
}

}  // namespace hodei::core
