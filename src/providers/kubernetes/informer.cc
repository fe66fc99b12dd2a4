#include "src/providers/kubernetes/informer.h"

#include <algorithm>
#include <condition_variable>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::providers::kubernetes {
namespace {

constexpr const char* kWho = "kubernetes";
constexpr Duration kFirstWatchPause = 200ms;
constexpr Duration kLongestWatchPause = 30s;
constexpr size_t kMostForgotten = 4096;

bool same(const PodView& a, const PodView& b) {
  return a.uid == b.uid && a.status.phase == b.status.phase && a.status.reason == b.status.reason &&
         a.status.hopeless == b.status.hopeless && a.deleting == b.deleting;
}

void wait(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

void Informer::start(Provider::Changed changed) {
  stop();
  const std::lock_guard lock(lifecycle_);
  thread_ = std::jthread([this, changed = std::move(changed)](const std::stop_token& stop) { run(stop, changed); });
}

void Informer::stop() {
  const std::lock_guard lock(lifecycle_);
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  set_live(false);
}

std::optional<PodView> Informer::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(name);
  if (!live_ || it == known_.end()) return std::nullopt;
  return it->second;
}

void Informer::forget(const PodView& pod) {
  const std::lock_guard lock(mutex_);
  if (const auto it = known_.find(pod.name); it != known_.end() && it->second.uid == pod.uid) known_.erase(it);
  forgotten_.push_back(pod.uid);
  if (forgotten_.size() > kMostForgotten) forgotten_.pop_front();
}

bool Informer::is_forgotten(const std::string& uid) const {
  return std::find(forgotten_.begin(), forgotten_.end(), uid) != forgotten_.end();
}

void Informer::set_live(bool live) {
  const std::lock_guard lock(mutex_);
  live_ = live;
}

void Informer::run(const std::stop_token& stop, const Provider::Changed& changed) {
  std::string version;  // empty: list first
  Duration pause = kFirstWatchPause;
  while (!stop.stop_requested()) {
    const absl::Status ended = list_and_watch(stop, changed, version);
    set_live(false);
    if (ended.ok()) {
      pause = kFirstWatchPause;
      continue;
    }
    if (stop.stop_requested()) return;
    if (absl::IsOutOfRange(ended)) version.clear();
    journal(absl::IsOutOfRange(ended) ? Level::Debug : Level::Warn, kWho,
            "the watch on pods was interrupted: ", ended.ToString());
    wait(stop, pause);
    pause = std::min(pause * 2, kLongestWatchPause);
  }
}

absl::Status Informer::list_and_watch(const std::stop_token& stop, const Provider::Changed& changed,
                                      std::string& version) {
  if (version.empty()) {
    ASSIGN_OR_RETURN(const PodList list, pods_.list(selector_));
    version = list.resource_version;
    for (const std::string& worker : replace_all(list)) changed(worker);
  }
  const SystemClock clock;
  const MonoTime began = clock.now().mono;
  bool brought = false;
  const auto on_begin = [this] { set_live(true); };
  const absl::Status ended = pods_.watch(selector_, version, stop, on_begin, [&](const PodEvent& event) {
    brought = true;
    if (!event.resource_version.empty()) version = event.resource_version;
    if (event.kind != PodEvent::Kind::Bookmark && apply(event)) changed(event.pod.worker_id);
  });
  // A server that ends every watch at once must not be asked without a pause.
  if (ended.ok() && !brought && clock.now().mono - began < 1s) return absl::UnavailableError("it ended at once");
  return ended;
}

std::vector<std::string> Informer::replace_all(const PodList& list) {
  std::vector<std::string> changed;
  const std::lock_guard lock(mutex_);
  std::map<std::string, PodView> now;
  for (const PodView& pod : list.pods) {
    if (is_forgotten(pod.uid)) continue;
    PodView& view = now[pod.name] = pod;
    if (const auto before = known_.find(pod.name); before != known_.end()) keep_pull_error(before->second, view);
  }
  for (const auto& [name, pod] : now) {
    const auto before = known_.find(name);
    if (before == known_.end() || !same(before->second, pod)) changed.push_back(pod.worker_id);
  }
  for (const auto& [name, pod] : known_) {
    if (!now.contains(name)) changed.push_back(pod.worker_id);
  }
  known_ = std::move(now);
  return changed;
}

bool Informer::apply(const PodEvent& event) {
  const std::lock_guard lock(mutex_);
  const auto it = known_.find(event.pod.name);
  if (event.kind == PodEvent::Kind::Deleted) {
    if (it != known_.end() && it->second.uid == event.pod.uid) known_.erase(it);
    return true;
  }
  if (is_forgotten(event.pod.uid)) return false;
  PodView now = event.pod;
  if (it != known_.end()) keep_pull_error(it->second, now);
  const bool is_news = it == known_.end() || !same(it->second, now);
  known_[event.pod.name] = std::move(now);
  return is_news;
}

}  // namespace hodei::providers::kubernetes
