#include "src/providers/docker/event_watch.h"

#include <condition_variable>
#include <mutex>

#include "src/providers/worker_environment.h"

namespace hodei::providers::docker {
namespace {

constexpr Duration kFirstPause = 200ms;
constexpr Duration kLongestPause = 15s;

void pause(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

std::string worker_of(const StringMap& labels) {
  const auto it = labels.find(kWorkerLabel);
  return it == labels.end() ? std::string() : it->second;
}

}  // namespace

void EventWatch::start(Changed changed) {
  stop();
  changed_ = std::move(changed);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void EventWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void EventWatch::run(const std::stop_token& stop) {
  Duration wait = kFirstPause;
  while (!stop.stop_requested()) {
    // Whatever ended the events, they are asked for again: a failing engine is seen by the health check.
    (void)engine_.events(
        labels_, stop,
        [&] {
          wait = kFirstPause;
          tell_all();
        },
        [&](const Engine::Event& event) {
          const std::string worker = worker_of(event.attributes);
          if (worker.empty()) return;
          event.action == "destroy" ? (void)known_.erase(worker) : (void)known_.insert(worker);
          changed_(worker);
        });
    pause(stop, wait);
    wait = std::min(2 * wait, kLongestPause);
  }
}

void EventWatch::tell_all() {
  std::set<std::string> all = std::move(known_);
  known_.clear();
  const auto containers = engine_.containers(labels_);
  if (containers.ok()) {
    for (const ContainerFacts& container : *containers) known_.insert(worker_of(container.labels));
  }
  all.insert(known_.begin(), known_.end());
  all.erase("");
  for (const std::string& worker : all) changed_(worker);
}

}  // namespace hodei::providers::docker
