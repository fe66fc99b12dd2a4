#include "tests/sim/outputs.h"

#include <algorithm>

namespace hodei::sim {
namespace {

// The reader may know some of it: what was printed last may have been dropped after it had looked.
bool is_hole(const std::map<int64_t, int64_t>& holes, int64_t begin, int64_t end) {
  const auto hole = holes.find(begin);
  return hole != holes.end() && end <= hole->second;
}

}  // namespace

void Outputs::dropped(ExecutionId execution, size_t bytes) {
  Log& log = logs_[execution];
  const auto end = static_cast<int64_t>(log.text.size());
  const int64_t begin = end - static_cast<int64_t>(bytes);
  const auto before =
      std::find_if(log.holes.begin(), log.holes.end(), [&](const auto& h) { return h.second == begin; });
  (before == log.holes.end() ? log.holes[begin] : before->second) = end;
}

void Outputs::acknowledged(ExecutionId execution, int64_t offset) {
  const store::LogExtent extent = store_->extent(execution);
  if (extent.ended || extent.next_offset >= offset) return;
  world_.broken(cat("I6: output of ", to_string(execution), " is acknowledged up to ", offset, ", and stored up to ",
                    extent.next_offset));
}

void Outputs::forgotten(ExecutionId execution) {
  const Log& log = logs_[execution];
  auto end = static_cast<int64_t>(log.text.size());
  // How much was dropped at its end follows from its result.
  if (!log.holes.empty() && log.holes.rbegin()->second == end) end = log.holes.rbegin()->first;
  if (log.recorded) acknowledged(execution, end);
}

void Outputs::recorded(const core::JobHead& job) {
  if (job.past == nullptr) return;
  for (const core::Execution& e : job.past->executions) {
    if (!e.log_bytes) continue;
    const ExecutionId execution{job.id, e.number};
    Log& log = logs_[execution];
    log.recorded = true;
    if (*e.log_bytes != static_cast<int64_t>(log.text.size())) {
      world_.broken(cat("I6: ", to_string(execution), " printed ", log.text.size(), " bytes, and ", *e.log_bytes,
                        " are recorded"));
    }
  }
}

void Outputs::check_gap(const Log& log, Received::One& at, const server::LogChunk& chunk) {
  const auto broken = [&](const std::string& why) {
    world_.broken(
        cat("I6: a reader of ", to_string(chunk.execution), " at ", at.at, " gets what begins at ", chunk.offset, why));
  };
  if (!chunk.gap) {
    if (chunk.offset != at.at) broken(" without a word");
    return;
  }
  if (chunk.gap->bytes == 0) {
    at.unknown_gap = true;
    return;
  }
  if (chunk.offset != at.at + chunk.gap->bytes) broken(cat(", and is told that ", chunk.gap->bytes, " are missing"));
  // Nobody but its supervisor drops output.
  if (chunk.gap->reason == server::kDropped && !is_hole(log.holes, at.at, chunk.offset)) {
    broken(" because the rest was dropped, which it was not");
  }
}

void Outputs::got(Received& reader, const server::LogChunk& chunk) {
  if (!reader.executions.empty() && chunk.execution.number < reader.executions.rbegin()->first) {
    world_.broken(cat("I6: output of ", to_string(chunk.execution), " comes behind that of a later execution"));
  }
  Received::One& at = reader.executions[chunk.execution.number];
  const Log& log = logs_[chunk.execution];
  check_gap(log, at, chunk);
  if (at.ended && !chunk.data.empty())
    world_.broken(cat("I6: output of ", to_string(chunk.execution), " goes on behind its end"));
  const auto offset = static_cast<size_t>(chunk.offset);
  if (offset + chunk.data.size() > log.text.size() || log.text.compare(offset, chunk.data.size(), chunk.data) != 0) {
    world_.broken(cat("I6: a reader of ", to_string(chunk.execution), " gets other bytes at ", chunk.offset,
                      " than were printed"));
  }
  at.at = chunk.next_offset;
  at.ended = at.ended || chunk.end_of_execution;
}

void Outputs::read_to_end(JobId job, const Received& reader) {
  if (!lives_.has_ended(job)) {
    return world_.broken(cat("I6: the log of ", short_id(job), " ends for its reader, and the job has not ended"));
  }
  for (auto it = logs_.lower_bound({job, 0}); it != logs_.end() && it->first.job == job; ++it) {
    const auto& [execution, log] = *it;
    const auto printed = static_cast<int64_t>(log.text.size());
    const auto got = reader.executions.find(execution.number);
    const Received::One at = got == reader.executions.end() ? Received::One{} : got->second;
    // Of an execution that was lost nobody may have heard, not even that it printed.
    if (at.at == printed || (!log.recorded && (at.unknown_gap || !store_->extent(execution).exists))) continue;
    world_.broken(cat("I6: ", to_string(execution), " printed ", printed, " bytes, its reader knows of ", at.at,
                      at.unknown_gap ? ", and that some are missing" : ""));
  }
}

}  // namespace hodei::sim
