// A further address of the server, for workers only: where microVMs reach it over a network that has no other way out.
// This port accepts worker calls only; client calls are refused.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/calls/all_calls.h"

namespace hodei::server {
class Server;
}

namespace hodei::api {

class WorkerDoor {
 public:
  // Listens at once; `address` is host:port. Calls and server live longer than the door.
  static absl::StatusOr<std::unique_ptr<WorkerDoor>> open(const std::string& address, const AllCalls& calls,
                                                          server::Server& server);
  ~WorkerDoor();

  void stop();

 private:
  struct Parts;
  explicit WorkerDoor(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
