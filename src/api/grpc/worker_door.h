// A further address of the server, for workers only: where microVMs reach it over a network that has no other way out.
// What clients may do is not to be had there.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/grpc/artifact_service.h"
#include "src/api/grpc/worker_service.h"

namespace hodei::api {

class WorkerDoor {
 public:
  // Listens at once; `address` is host:port. The services live longer than the door.
  static absl::StatusOr<std::unique_ptr<WorkerDoor>> open(const std::string& address, WorkerService& workers,
                                                          ArtifactService& artifacts);
  ~WorkerDoor();

  void stop();

 private:
  struct Parts;
  explicit WorkerDoor(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
