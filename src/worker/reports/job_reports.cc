#include "src/worker/reports/job_reports.h"

#include <algorithm>

#include "src/base/status.h"

namespace hodei::worker {

absl::Status add_output(const OutputLine& output, std::map<std::string, std::string>& reported) {
  size_t bytes = output.key.size() + output.value.size();
  for (const auto& [key, value] : reported) {
    if (key != output.key) bytes += key.size() + value.size();
  }
  if (bytes > kMaxOutputBytes) {
    return absl::ResourceExhaustedError(
        cat("output: more than ", kMaxOutputBytes, " bytes in total; return large results as artifacts"));
  }
  if (!reported.contains(output.key) && reported.size() >= kMaxOutputs) {
    return absl::ResourceExhaustedError(cat("output: more than ", kMaxOutputs, " keys"));
  }
  reported[output.key] = output.value;
  return absl::OkStatus();
}

void ProgressBoard::note(ExecutionId execution, ProgressLine progress) {
  Entry& entry = entries_[execution];
  entry.newest = std::move(progress);
  entry.sent = false;
}

MonoTime ProgressBoard::next_due(const IsRunning& is_running) const {
  MonoTime next = kNever;
  for (const auto& [execution, entry] : entries_) {
    if (!entry.sent && is_running(execution)) next = std::min(next, entry.due);
  }
  return next;
}

std::vector<std::pair<ExecutionId, ProgressLine>> ProgressBoard::take_due(MonoTime now, const IsRunning& is_running) {
  std::vector<std::pair<ExecutionId, ProgressLine>> out;
  for (auto& [execution, entry] : entries_) {
    if (entry.sent || entry.due > now || !is_running(execution)) continue;
    entry.sent = true;
    entry.due = now + kProgressInterval;
    out.emplace_back(execution, entry.newest);
  }
  return out;
}

std::optional<ProgressLine> ProgressBoard::take_last(ExecutionId execution) {
  const auto it = entries_.find(execution);
  if (it == entries_.end() || it->second.sent) return std::nullopt;
  it->second.sent = true;
  return it->second.newest;
}

void ProgressBoard::send_again() {
  for (auto& [execution, entry] : entries_) entry.sent = false;
}

}  // namespace hodei::worker
