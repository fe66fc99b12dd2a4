// Takes heartbeats to the metrics store and to whoever watches, on a thread of its own. Nobody ever waits for it: what
// finds no room is counted and left out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "src/server/metrics/sample_maker.h"

namespace hodei::server {

class MetricsRecorder {
 public:
  static constexpr size_t kMaxWaiting = 100'000;  // heartbeats
  static constexpr Duration kWriteEvery = 1s;
  static constexpr Duration kForgetEvery = std::chrono::minutes(1);
  static constexpr Duration kWatchedBeat = 2s;  // how often workers should tell while somebody watches

  // `samples` is alive during the call only. Called on the recorder's thread; must not block.
  using Watcher = std::function<void(const std::vector<store::MetricSample>& samples)>;

  // `on_first_watcher` is called when somebody begins to watch and nobody did.
  MetricsRecorder(store::MetricsStore& store, const Clock& clock, Duration keep,
                  std::function<void()> on_first_watcher);
  ~MetricsRecorder() { stop(); }

  void start();
  void stop();

  void take(Beat beat);  // from any thread
  uint64_t watch(Watcher watcher);
  void unwatch(uint64_t id);  // no call comes after it has returned
  // While the disk is nearly full samples are only shown to those who watch; they are counted as dropped.
  void hold_back(bool disk_low) { disk_low_ = disk_low; }
  bool is_watched() const { return watched_; }
  uint64_t dropped() const { return dropped_; }

 private:
  void run();
  void publish(const std::vector<store::MetricSample>& samples);
  void write(std::vector<store::MetricSample>& samples, Now now);

  store::MetricsStore& store_;
  const Clock& clock_;
  const Duration keep_;
  const std::function<void()> on_first_watcher_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Beat> waiting_;
  bool stopping_ = true;
  std::mutex watching_;  // held while watchers are called, so that unwatch is final
  std::map<uint64_t, Watcher> watchers_;
  uint64_t next_watcher_ = 1;
  std::atomic<bool> watched_ = false;
  std::atomic<bool> disk_low_ = false;
  std::atomic<uint64_t> dropped_ = 0;
  // The recorder's thread only.
  SampleMaker maker_;
  MonoTime write_at_{0};
  MonoTime forget_at_{0};
  std::thread thread_;
};

}  // namespace hodei::server
