#include "src/server/provisioning/provider_adapters.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {

ProviderAdapters::ProviderAdapters(std::shared_ptr<EngineLine> line, const Clock& clock, ProvisionerSetup setup)
    : line_(std::move(line)), clock_(clock), setup_(std::move(setup)) {}

void ProviderAdapters::set_server_address(const std::string& address, OpenWorkerPort open_port) {
  const std::lock_guard lock(mutex_);
  server_address_ = address;
  open_port_ = std::move(open_port);
}

void ProviderAdapters::apply(const Rows& rows) {
  drop_those_not_in(rows);
  for (const core::ProviderView& view : rows) keep(view);
}

void ProviderAdapters::drop_those_not_in(const Rows& rows) {
  std::vector<AdapterPtr> gone;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = places_.begin(); it != places_.end();) {
      const bool stays =
          std::any_of(rows.begin(), rows.end(), [&](const auto& view) { return view.provider.row.name == it->first; });
      if (!stays) gone.push_back(it->second.adapter);
      it = stays ? std::next(it) : places_.erase(it);
    }
  }
  for (const auto& one : gone) one->close(Duration(0));
}

void ProviderAdapters::keep(const core::ProviderView& view) {
  const core::ProviderRow& row = view.provider.row;
  AdapterPtr known = find(row.name);
  bool is_changed = true;
  std::string address;
  OpenWorkerPort open_port;
  {
    const std::lock_guard lock(mutex_);
    if (known != nullptr) {
      const core::ProviderRow& was = places_[row.name].row;
      is_changed = was.type != row.type || was.options != row.options;
    }
    address = row.server_address.empty() ? server_address_ : row.server_address;
    // Workers that are sent elsewhere do not come to the ports of this machine.
    if (row.server_address.empty()) open_port = open_port_;
  }
  if (known == nullptr) known = std::make_shared<ProviderAdapter>(row.name, line_, clock_, setup_.on_making);
  known->set_server_address(address, std::move(open_port));
  if (is_changed) {
    absl::StatusOr<std::unique_ptr<providers::Provider>> made = setup_.make(config_of(row), setup_.installation);
    if (!made.ok())
      journal(Level::Error, "providers", "provider=", row.name,
              " cannot be used: ", std::string(made.status().message()));
    known->use(made.ok() ? absl::StatusOr<ProviderPtr>(std::move(*made)) : made.status());
  } else if (!view.provider.seen) {
    known->look_at_everything();
  }
  const std::lock_guard lock(mutex_);
  places_[row.name] = {row, known};
}

MonoTime ProviderAdapters::tick(MonoTime latest) {
  for (const AdapterPtr& one : all()) latest = std::min(latest, one->tick());
  return latest;
}

void ProviderAdapters::close(Duration patience) {
  std::vector<std::thread> closing;
  for (const AdapterPtr& one : all()) {
    closing.emplace_back([one, patience] { one->close(patience); });
  }
  for (std::thread& one : closing) one.join();
  checkers_.stop(patience);
}

ProviderAdapters::AdapterPtr ProviderAdapters::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = places_.find(name);
  return it == places_.end() ? nullptr : it->second.adapter;
}

std::vector<ProviderAdapters::AdapterPtr> ProviderAdapters::all() const {
  std::vector<AdapterPtr> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, place] : places_) out.push_back(place.adapter);
  return out;
}

void ProviderAdapters::check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done) {
  const auto look = [make = setup_.make, installation = setup_.installation, config = config_of(row), done] {
    done(make(config, installation).status());
  };
  if (!checkers_.add(look))
    done(absl::ResourceExhaustedError("too many provider checks are in progress; try again in a moment"));
}

}  // namespace hodei::server
