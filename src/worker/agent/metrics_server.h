// The worker's own /metrics: a thread that answers one caller after another. Written by hand, because the worker links
// nothing that it can do without.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/worker/core/execution.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

inline constexpr size_t kOutcomeCount = static_cast<size_t>(Outcome::Interrupted) + 1;

// Set by the agent's loop, read by its thread.
struct AgentFigures {
  std::atomic<uint64_t> active = 0;  // executions held, ended ones included until the server has them
  std::atomic<uint64_t> started = 0;
  std::array<std::atomic<uint64_t>, kOutcomeCount> ended = {};  // by Outcome
  std::atomic<uint64_t> log_sent_bytes = 0;
  std::atomic<uint64_t> log_dropped_bytes = 0;
  std::atomic<int64_t> heartbeat_acked_us = 0;  // boot-time clock, when the newest acknowledged one was sent; 0: none
  std::atomic<double> cpu_load = 0;
  std::atomic<uint64_t> memory_used_bytes = 0;
  std::atomic<bool> online = false;
};

// The text format of Prometheus.
std::string metrics_text(const AgentFigures& figures, Now now);

// The whole answer to what a caller sent.
std::string answer_to(std::string_view request, const AgentFigures& figures, Now now);

class MetricsServer {
 public:
  static constexpr size_t kMaxRequest = 8 << 10;
  static constexpr Duration kCallerLimit = 2s;  // one caller; the next one waits meanwhile

  MetricsServer(const AgentFigures& figures, const Clock& clock) : figures_(figures), clock_(clock) {}
  ~MetricsServer() { stop(); }

  absl::Status start(const std::string& address);  // host:port
  void stop();
  int port() const;

 private:
  void run();
  void serve(int caller);
  // True: readable or writable before the limit; false: too late, or told to stop.
  bool ready(int fd, short events, MonoTime limit);

  const AgentFigures& figures_;
  const Clock& clock_;
  Fd listener_;
  Fd stop_;
  std::thread thread_;
};

}  // namespace hodei::worker
