#include "src/worker/limits/execution_watch.h"

#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "src/worker/system/disk_usage.h"

namespace hodei::worker {
namespace {

void announce(int ready) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(ready, &one, sizeof(one));
}

}  // namespace

absl::Status ExecutionWatch::start() {
  ready_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ready_.is_open()) return absl::ErrnoToStatus(errno, "eventfd");
  thread_ = std::thread([this] { run(); });
  return absl::OkStatus();
}

void ExecutionWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ExecutionWatch::guard(ExecutionId execution, std::string folder, int64_t most_bytes) {
  {
    const std::lock_guard lock(mutex_);
    guarded_[execution] = {std::move(folder), most_bytes};
  }
  wake_.notify_one();
}

void ExecutionWatch::unguard(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  guarded_.erase(execution);
}

void ExecutionWatch::follow(RunningTree tree) {
  const MonoTime next = clock_.now().mono + kFirstLook;
  bool sleeps = false;
  {
    const std::lock_guard lock(mutex_);
    const ExecutionId execution = tree.execution;
    followed_[execution] = {std::move(tree), next};
    sleeps = is_idle_;
  }
  // Most are gone before the first look: nobody is woken for each of them.
  if (sleeps) wake_.notify_one();
}

int64_t ExecutionWatch::unfollow(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  const auto it = followed_.find(execution);
  if (it == followed_.end()) return 0;
  const int64_t most = it->second.most_kb;
  followed_.erase(it);
  return most;
}

void ExecutionWatch::measure(std::vector<RunningTree> trees) {
  {
    const std::lock_guard lock(mutex_);
    to_measure_ = std::move(trees);
  }
  wake_.notify_one();
}

ExecutionWatch::Seen ExecutionWatch::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(ready_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(seen_, {});
}

void ExecutionWatch::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  MonoTime next_look{0};
  while (!stopping_) {
    if (guarded_.empty()) next_look = kNever;
    wait(lock, next_look);
    if (stopping_) return;
    if (next_look == kNever && !guarded_.empty()) next_look = clock_.now().mono;
    sample(lock);
    if (to_measure_) {
      const std::vector<RunningTree> trees = *std::exchange(to_measure_, std::nullopt);
      lock.unlock();
      std::vector<LiveUsage> usage = read_live_usage(trees);
      lock.lock();
      seen_.usage = std::move(usage);
      announce(ready_.get());
    }
    if (clock_.now().mono < next_look) continue;
    const Duration took = look_at_folders(lock);
    next_look = clock_.now().mono + std::max(kQuotaInterval, took * 10);
  }
}

void ExecutionWatch::wait(std::unique_lock<std::mutex>& lock, MonoTime next_look) {
  const auto something_to_do = [&] {
    return stopping_ || to_measure_.has_value() || (next_look == kNever && !guarded_.empty());
  };
  const MonoTime next = std::min(next_look, next_sample());
  if (next == kNever) {
    is_idle_ = true;
    wake_.wait(lock, [&] { return something_to_do() || !followed_.empty(); });
    is_idle_ = false;
  } else {
    wake_.wait_for(lock, next - clock_.now().mono, something_to_do);
  }
}

// Looks at all of them together, however many there are.
MonoTime ExecutionWatch::next_sample() const {
  MonoTime next = kNever;
  for (const auto& [execution, followed] : followed_) next = std::min(next, followed.next);
  return next;
}

void ExecutionWatch::sample(std::unique_lock<std::mutex>& lock) {
  const MonoTime now = clock_.now().mono;
  std::vector<RunningTree> due;
  for (auto& [execution, followed] : followed_) {
    if (followed.next > now) continue;
    due.push_back(followed.tree);
    followed.pause = std::min<Duration>(followed.pause * 2, kLongestPause);
    followed.next = now + followed.pause;
  }
  if (due.empty()) return;
  lock.unlock();
  std::vector<std::pair<ExecutionId, int64_t>> seen;
  for (const RunningTree& tree : due) seen.emplace_back(tree.execution, peak_memory_kb(tree));
  lock.lock();
  for (const auto& [execution, kb] : seen) {
    if (const auto it = followed_.find(execution); it != followed_.end()) {
      it->second.most_kb = std::max(it->second.most_kb, kb);
    }
  }
}

Duration ExecutionWatch::look_at_folders(std::unique_lock<std::mutex>& lock) {
  const MonoTime began = clock_.now().mono;
  const std::map<ExecutionId, Guarded> looked_at = guarded_;
  lock.unlock();
  std::vector<OverQuota> over;
  for (const auto& [execution, guarded] : looked_at) {
    const int64_t bytes = disk_usage(guarded.folder);
    if (bytes > guarded.most_bytes) over.push_back({execution, bytes, guarded.most_bytes});
  }
  lock.lock();
  for (const OverQuota& each : over) {
    // Gone meanwhile: its folder may already be another's.
    if (guarded_.erase(each.execution) > 0) seen_.over.push_back(each);
  }
  if (!seen_.over.empty()) announce(ready_.get());
  return clock_.now().mono - began;
}

}  // namespace hodei::worker
