// A further address of the server, for workers only: where microVMs reach it over a network that has no other way out.
// What clients may do is not to be had there.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/grpc/artifact_service.h"
#include "src/api/grpc/input_service.h"
#include "src/api/grpc/worker_service.h"

namespace hodei::api {

class WorkerDoor {
 public:
  // They live longer than the door.
  struct Services {
    WorkerService& workers;
    ArtifactService& artifacts;
    InputService& inputs;
  };
  // Listens at once; `address` is host:port.
  static absl::StatusOr<std::unique_ptr<WorkerDoor>> open(const std::string& address, const Services& services);
  ~WorkerDoor();

  void stop();

 private:
  struct Parts;
  explicit WorkerDoor(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
