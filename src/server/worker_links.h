// The open streams to workers, by their number. The carrier speaks to a number; whether somebody still listens there is
// not its concern: a worker that reconnects says what it holds.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/core/effects.h"
#include "src/core/writes.h"

namespace hodei::server {

struct LogPosition {
  static constexpr int64_t kUnknown = -1;  // until OrderFiller has looked it up
  ExecutionId execution;
  int64_t offset = 0;
};

// One message to a worker, with everything that a turn has for it.
struct ToWorker {
  struct Welcome {
    std::vector<ExecutionId> unknown;
    std::vector<LogPosition> logs;
    int64_t log_window = 0;  // 0: the worker knows of none
  };
  struct Run {
    ExecutionId execution;
    uint32_t attempt = 1;
    std::shared_ptr<const core::SpecRow> spec;  // null until OrderFiller has read it
    bool has_secrets = false;                   // opened when the order is written to the stream
  };
  struct Cancel {
    ExecutionId execution;
    bool timed_out = false;
    Duration grace{0};
  };
  uint64_t epoch = 0;
  bool unreadable = false;  // the spec of one of its orders cannot be read: the stream must be closed
  std::optional<Welcome> welcome;
  std::vector<Run> run;
  std::vector<Cancel> cancel;
  std::optional<std::string> drain;
  bool drain_is_over = false;  // of `drain`: stay after all
  bool stop_noted = false;
  std::vector<ExecutionId> results;  // durable
  std::vector<LogPosition> logs;     // durable up to there
  int64_t heartbeat_sent_us = 0;
  std::vector<std::string> words;  // for its log
  Duration beat{0};                // somebody watches: tell of yourself this often
};

class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  virtual void send(ToWorker message) = 0;  // any thread; never blocks
  virtual void close(const std::string& why) = 0;
};

class WorkerLinks {
 public:
  uint64_t add(std::shared_ptr<WorkerLink> link);  // returns the stream's number, never used twice
  void remove(uint64_t stream);
  void send(uint64_t stream, ToWorker message);
  void send_all(const ToWorker& message);
  void close(uint64_t stream, const std::string& why);
  void close_all(const std::string& why);
  size_t size() const;

 private:
  std::shared_ptr<WorkerLink> find(uint64_t stream) const;
  mutable std::mutex mutex_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::shared_ptr<WorkerLink>> links_;
};

}  // namespace hodei::server
