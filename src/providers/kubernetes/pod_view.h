// What a Pod object tells about its worker.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
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
  // Of an image that could not be pulled. The kubelet soon says no more than that it waits before it tries again.
  std::optional<WorkerStatus> pull_error;
  bool backs_off = false;

  WorkerHandle handle() const { return {.worker_id = worker_id, .id = uid}; }
};

PodView read_pod(const nlohmann::json& pod);

// While it waits before the next pull, what the last one failed at is what there is to say.
void keep_pull_error(const PodView& before, PodView& now);

}  // namespace hodei::providers::kubernetes
