// Takes heartbeats to the metrics store and to whoever watches, on a thread of its own. Nobody ever waits for it: what
// finds no room is counted and left out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "src/server/metrics/sample_maker.h"
#include "src/server/metrics/sample_watchers.h"

namespace hodei::server {

class MetricsRecorder {
 public:
  static constexpr size_t kMaxWaiting = 100'000;  // heartbeats
  static constexpr Duration kWriteEvery = 1s;
  static constexpr Duration kForgetEvery = std::chrono::minutes(1);
  static constexpr Duration kWatchedBeat = 2s;  // how often workers should tell while somebody watches

  // `clock` is the one by which samples grow old. `on_first_watcher` is called when somebody begins to watch and nobody
  // did.
  MetricsRecorder(store::MetricsStore& store, const Clock& clock, Duration keep,
                  std::function<void()> on_first_watcher);
  ~MetricsRecorder() { stop(); }

  void start();
  void stop();

  void take(Beat beat);  // from any thread
  SampleWatchers& watchers() { return watchers_; }
  // While the disk is nearly full samples are only shown to those who watch; they are counted as dropped.
  void hold_back(bool disk_low) { disk_low_ = disk_low; }
  uint64_t dropped() const { return dropped_; }

 private:
  void run();
  void write(std::vector<store::MetricSample>& samples, Now now);

  store::MetricsStore& store_;
  const Clock& clock_;
  const Duration keep_;
  SampleWatchers watchers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Beat> waiting_;
  bool stopping_ = true;
  std::atomic<bool> disk_low_ = false;
  std::atomic<uint64_t> dropped_ = 0;
  // The recorder's thread only.
  SampleMaker maker_;
  MonoTime write_at_{0};
  MonoTime forget_at_{0};
  WallTime newest_;  // when the last heartbeat came, by the clock that samples are stamped with
  std::thread thread_;
};

}  // namespace hodei::server
