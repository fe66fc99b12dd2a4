#include "src/server/metrics/metrics_recorder.h"

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/journal.h"

namespace hodei::server {

MetricsRecorder::MetricsRecorder(store::MetricsStore& store, const Clock& clock, Duration keep,
                                 std::function<void()> on_first_watcher)
    : store_(store), clock_(clock), keep_(keep), watchers_(std::move(on_first_watcher)) {}

void MetricsRecorder::start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  thread_ = std::thread([this] { run(); });
}

void MetricsRecorder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void MetricsRecorder::take(Beat beat) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (waiting_.size() >= kMaxWaiting) {
      ++dropped_;
      return;
    }
    first = waiting_.empty();
    waiting_.push_back(std::move(beat));
  }
  if (first) wake_.notify_one();
}

void MetricsRecorder::run() {
  std::vector<store::MetricSample> unwritten;
  bool ends = false;
  while (!ends) {
    std::vector<Beat> beats;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kWriteEvery, [this] { return stopping_ || !waiting_.empty(); });
      ends = stopping_;
      beats.swap(waiting_);
    }
    if (!beats.empty()) newest_ = beats.back().at.wall;
    for (const Beat& beat : beats) {
      const std::vector<store::MetricSample> samples = maker_.make(beat);
      watchers_.publish(samples);
      unwritten.insert(unwritten.end(), samples.begin(), samples.end());
    }
    const Now now = clock_.now();
    if (!unwritten.empty() && (ends || now.mono >= write_at_ || unwritten.size() >= kMaxWaiting)) write(unwritten, now);
  }
}

void MetricsRecorder::write(std::vector<store::MetricSample>& samples, Now now) {
  write_at_ = now.mono + kWriteEvery;
  const absl::Status written = disk_low_ ? absl::OkStatus() : store_.append(samples);
  if (disk_low_) dropped_ += samples.size();
  if (!written.ok()) {
    dropped_ += samples.size();
    journal(Level::Warn, "server", counted(samples.size(), "metric sample"), " lost: ", std::string(written.message()));
  }
  samples.clear();
  if (now.mono < forget_at_) return;
  forget_at_ = now.mono + kForgetEvery;
  maker_.forget_silent(now.mono);
  // Old by both clocks: the wall clock may be ahead for a while, and the clock of retention for years after that.
  const absl::Status forgotten = store_.forget_before(std::min(now.wall, newest_) - keep_);
  if (!forgotten.ok())
    journal(Level::Warn, "server", "cannot remove old metric samples: ", std::string(forgotten.message()));
}

}  // namespace hodei::server
