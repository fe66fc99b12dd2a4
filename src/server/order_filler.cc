#include "src/server/order_filler.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"

namespace hodei::server {

void OrderFiller::fill(const std::vector<ToWorker*>& messages) const {
  fill_specs(messages);
  for (ToWorker* message : messages) {
    if (!message->welcome) continue;
    for (LogPosition& log : message->welcome->logs) {
      if (log.offset == LogPosition::kUnknown) log.offset = durable_offset_(log.execution);
    }
  }
}

void OrderFiller::fill_specs(const std::vector<ToWorker*>& messages) const {
  std::vector<JobId> missing;
  for (const ToWorker* message : messages) {
    for (const ToWorker::Run& run : message->run) {
      if (run.spec == nullptr) missing.push_back(run.execution.job);
    }
  }
  if (missing.empty()) return;
  const auto rows = reader_.specs(missing);
  absl::flat_hash_map<JobId, std::shared_ptr<const core::SpecRow>> found;
  if (rows.ok()) {
    for (const auto& row : *rows) found[row->job] = row;
  }
  for (ToWorker* message : messages) {
    for (ToWorker::Run& run : message->run) {
      if (run.spec == nullptr) run.spec = found[run.execution.job];
    }
    message->unreadable =
        std::any_of(message->run.begin(), message->run.end(), [](const auto& run) { return run.spec == nullptr; });
    if (message->unreadable) message->run.clear();
  }
}

}  // namespace hodei::server
