// What processes printed, by our own account, and what workers, the store and readers made of it (I6): every byte that
// a reader gets is the one that was printed there, and where some are missing the reader is told how many.
#pragma once

#include <map>
#include <set>
#include <string>

#include "src/server/logs/log_types.h"
#include "tests/sim/lives.h"
#include "tests/sim/world.h"

namespace hodei::sim {

// What one reader of a job's output has got so far.
struct Received {
  struct One {
    int64_t at = 0;            // bytes, with those that it was told are missing
    bool unknown_gap = false;  // it was told that something is missing, and not how much
    bool ended = false;
  };
  std::map<uint32_t, One> executions;
};

class Outputs {
 public:
  Outputs(World& world, const Lives& lives) : world_(world), lives_(lives) {}
  void set_store(const store::NumberedLogStore* store) { store_ = store; }

  // Processes and their supervisors.
  void printed(ExecutionId execution, std::string_view bytes) { logs_[execution].text += bytes; }
  void dropped(ExecutionId execution, size_t bytes);  // the last ones that were printed
  const std::string& text(ExecutionId execution) { return logs_[execution].text; }
  // The worker may free what lies before it: it must be durable, or nobody wants it any more.
  void acknowledged(ExecutionId execution, int64_t offset);

  // Its worker lets go of it: what is recorded to have been printed must be durable by then.
  void forgotten(ExecutionId execution);

  // The store of jobs: how much an execution printed, by the word of its worker.
  void recorded(const core::JobHead& job);

  // Readers.
  void got(Received& reader, const server::LogChunk& chunk);
  void read_to_end(JobId job, const Received& reader);

 private:
  struct Log {
    std::string text;
    std::map<int64_t, int64_t> holes;  // dropped by its supervisor: where each begins and ends
    bool recorded = false;
  };
  void check_gap(const Log& log, Received::One& at, const server::LogChunk& chunk);

  World& world_;
  const Lives& lives_;
  const store::NumberedLogStore* store_ = nullptr;
  std::map<ExecutionId, Log> logs_;
};

}  // namespace hodei::sim
