// A further address of the server, for workers only: where microVMs reach it over a network that has no other way out.
// This port accepts worker calls only; client calls are refused.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/calls/all_calls.h"

namespace hodei::api {

class WorkerPort {
 public:
  // Listens at once; `address` is host:port. The calls live longer than the port.
  static absl::StatusOr<std::unique_ptr<WorkerPort>> open(const std::string& address, const AllCalls& calls);
  ~WorkerPort();

  void stop();

 private:
  struct Parts;
  explicit WorkerPort(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
