// Which provider is in use right now, and how the workers that it makes reach the server. Used by many threads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/providers/provider.h"

namespace hodei::server {

// Makes the server listen on a further address of this machine, for workers only; OK when it does already.
using OpenWorkerPort = std::function<absl::Status(const std::string& host)>;

using ProviderPtr = std::shared_ptr<providers::Provider>;

class CurrentProvider {
 public:
  // An error: there is none, and this is why.
  absl::StatusOr<ProviderPtr> get() const;
  // Returns the one before; null: there was none.
  ProviderPtr replace(absl::StatusOr<ProviderPtr> provider);
  // For good. Who still hangs in a call must not come back to a server that is gone, so no port is opened any more.
  ProviderPtr drop();

  // Without `open_port`, workers need no port of their own.
  void set_server_address(const std::string& address, OpenWorkerPort open_port);
  std::string server_address() const;
  // Opens the ports through which its workers come. May block.
  absl::Status open_worker_ports(providers::Provider& provider) const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  ProviderPtr provider_;
  absl::Status no_provider_ = absl::UnavailableError("not ready yet");  // why there is none
  std::string server_address_;
  OpenWorkerPort open_port_;
};

}  // namespace hodei::server
