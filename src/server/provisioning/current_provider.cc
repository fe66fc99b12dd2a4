#include "src/server/provisioning/current_provider.h"

#include <utility>
#include <vector>

#include "src/base/status.h"

namespace hodei::server {

absl::StatusOr<ProviderPtr> CurrentProvider::get() const {
  const std::lock_guard lock(mutex_);
  if (provider_ == nullptr) return no_provider_;
  return provider_;
}

ProviderPtr CurrentProvider::replace(absl::StatusOr<ProviderPtr> provider) {
  const std::lock_guard lock(mutex_);
  no_provider_ = provider.status();
  return std::exchange(provider_, provider.ok() ? *provider : nullptr);
}

ProviderPtr CurrentProvider::drop() {
  const std::lock_guard lock(mutex_);
  no_provider_ = absl::UnavailableError("the provider was removed, or the server is stopping");
  open_port_ = nullptr;
  return std::move(provider_);
}

void CurrentProvider::set_server_address(const std::string& address, OpenWorkerPort open_port) {
  const std::lock_guard lock(mutex_);
  server_address_ = address;
  open_port_ = std::move(open_port);
}

std::string CurrentProvider::server_address() const {
  const std::lock_guard lock(mutex_);
  return server_address_;
}

absl::Status CurrentProvider::open_worker_ports(providers::Provider& provider) const {
  OpenWorkerPort open;
  {
    const std::lock_guard lock(mutex_);
    open = open_port_;
  }
  if (!open) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> hosts, provider.worker_port_addresses());
  for (const std::string& host : hosts) RETURN_IF_ERROR(open(host));
  return absl::OkStatus();
}

}  // namespace hodei::server
