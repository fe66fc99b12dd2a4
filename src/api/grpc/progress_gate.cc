#include "src/api/grpc/progress_gate.h"

#include <utility>

namespace hodei::api {

std::vector<core::ProgressReport> ProgressGate::pass(std::vector<core::ProgressReport> fresh, MonoTime now) {
  for (core::ProgressReport& each : fresh) {
    const ExecutionId execution = each.execution;
    waiting_.insert_or_assign(execution, std::move(each));
  }
  if (now - second_ >= 1s) {
    second_ = now;
    left_ = kMostPerSecond;
  }
  std::vector<core::ProgressReport> out;
  while (left_ > 0 && !waiting_.empty()) {
    auto next = waiting_.upper_bound(after_);
    if (next == waiting_.end()) next = waiting_.begin();
    after_ = next->first;
    out.push_back(std::move(next->second));
    waiting_.erase(next);
    --left_;
  }
  return out;
}

std::optional<core::ProgressReport> ProgressGate::take(ExecutionId execution) {
  const auto it = waiting_.find(execution);
  if (it == waiting_.end()) return std::nullopt;
  std::optional<core::ProgressReport> out = std::move(it->second);
  waiting_.erase(it);
  return out;
}

}  // namespace hodei::api
