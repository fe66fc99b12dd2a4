// What people set while it runs, as it comes from the store.
#include "src/core/state.h"

namespace hodei::core {

void State::put_setting(const SettingRow& row) {
  settings_[{row.kind, row.name}] = hash64(row.bytes);
  switch (row.kind) {
    case SettingKind::Provider: providers_[row.name].row = decode_provider(row.bytes); break;
    case SettingKind::Pool: pools_[row.name] = decode_pool(row.bytes); break;
    case SettingKind::Tenant: break;
    case SettingKind::KeyRate: break;
  }
}

void State::delete_setting(SettingKind kind, const std::string& name) {
  settings_.erase({kind, name});
  switch (kind) {
    case SettingKind::Provider: providers_.erase(name); break;
    case SettingKind::Pool: pools_.erase(name); break;
    case SettingKind::Tenant: break;
    case SettingKind::KeyRate: break;
  }
}

}  // namespace hodei::core
