// Those who watch metric samples as they come in. Used by many threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "src/store/metrics_store.h"

namespace hodei::server {

class SampleWatchers {
 public:
  // `samples` is alive during the call only. Called on the recorder's thread; must not block.
  using Watcher = std::function<void(const std::vector<store::MetricSample>& samples)>;

  // `on_first` is called when somebody begins to watch and nobody did.
  explicit SampleWatchers(std::function<void()> on_first) : on_first_(std::move(on_first)) {}

  uint64_t watch(Watcher watcher);
  void unwatch(uint64_t id);  // no call comes after it has returned
  bool is_watched() const { return watched_; }

  void publish(const std::vector<store::MetricSample>& samples);

 private:
  const std::function<void()> on_first_;
  std::mutex mutex_;  // held while watchers are called, so that unwatch is final
  std::map<uint64_t, Watcher> watchers_;
  uint64_t next_ = 1;
  std::atomic<bool> watched_ = false;
};

}  // namespace hodei::server
