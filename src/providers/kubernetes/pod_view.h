// What a Pod object tells about its worker.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/base/time.h"
#include "src/providers/provider.h"

namespace hodei::providers::kubernetes {

struct PodView {
  std::string name;
  std::string uid;
  std::string worker_id;
  std::string installation;  // the label: whose it is
  std::string provider;      // likewise
  bool deleting = false;
  WallTime deletion_due{};  // when it should be gone
  WorkerStatus status;

  WorkerHandle handle() const { return {.worker_id = worker_id, .id = uid}; }
};

PodView read_pod(const nlohmann::json& pod);

}  // namespace hodei::providers::kubernetes
