// The gRPC host: all services on one address, with limits, health and reflection.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/calls/all_calls.h"

namespace hodei::api {

class GrpcHost {
 public:
  // Listens at once; `address` is host:port. The calls outlive the host.
  static absl::StatusOr<std::unique_ptr<GrpcHost>> open(const AllCalls& calls, const std::string& address);
  ~GrpcHost();

  // Listens on a further address of this machine, with the same port, for calls of workers only. Safe from any thread;
  // OK when it is open already.
  absl::Status open_worker_port(const std::string& host);

  // Calls that are under way get a moment to end.
  void stop();
  // To whoever asks gRPC's health service, about the whole and about each service; called once a second.
  void tell_health();
  // From now on it says that it serves nothing.
  void leave();
  int port() const;

 private:
  struct Parts;
  explicit GrpcHost(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
