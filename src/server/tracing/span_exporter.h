// Sends the spans of finished jobs to a collector, on a thread of its own. Nobody waits for it: what finds no room, or
// is not taken after a few tries, is counted and dropped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "src/core/jobs/job.h"
#include "src/server/event_hub.h"
#include "src/server/tracing/spans.h"
#include "src/store/store.h"

namespace hodei::server {

class SpanExporter {
 public:
  static constexpr size_t kMaxWaiting = 10'000;  // finished jobs
  static constexpr size_t kMaxBatch = 100;       // of them in one request
  static constexpr int kTries = 3;
  static constexpr Duration kRetryAfter = 500ms;  // and twice as long each time

  // Hands a request's body to the collector. UNAVAILABLE and DEADLINE_EXCEEDED are tried again.
  using Post = std::function<absl::Status(const std::string& json)>;

  SpanExporter(EventHub& events, store::Reader& reader, Post post);
  ~SpanExporter() { stop(); }

  void start();
  void stop();  // what waits is sent once more, without tries

  uint64_t exported() const { return exported_; }
  uint64_t dropped() const { return dropped_; }

 private:
  void finished(const core::JobPtr& job);
  void run();
  void send(const std::vector<core::JobPtr>& jobs);
  bool wait(Duration time);  // false: it is stopping

  EventHub& events_;
  store::Reader& reader_;
  const Post post_;
  uint64_t watch_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<core::JobPtr> waiting_;
  bool stopping_ = true;
  std::atomic<uint64_t> exported_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
  std::thread thread_;
};

}  // namespace hodei::server
