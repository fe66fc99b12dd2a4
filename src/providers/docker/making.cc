#include "src/providers/docker/making.h"

namespace hodei::providers::docker {

Making::Claim Making::claim(const std::string& worker_id) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return !now_.contains(worker_id); });
  std::set<std::string> before;
  for (const auto& [id, stop] : now_) before.insert(id);
  const std::stop_source stop;
  now_.emplace(worker_id, stop);
  return Claim(this, worker_id, std::move(before), stop.get_token());
}

bool Making::contains(const std::string& worker_id) const {
  const std::lock_guard lock(mutex_);
  return now_.contains(worker_id);
}

void Making::stop(const std::string& worker_id) {
  std::unique_lock lock(mutex_);
  if (const auto it = now_.find(worker_id); it != now_.end()) it->second.request_stop();
  done_.wait(lock, [&] { return !now_.contains(worker_id); });
}

void Making::release(const std::string& worker_id) {
  {
    const std::lock_guard lock(mutex_);
    now_.erase(worker_id);
  }
  done_.notify_all();
}

}  // namespace hodei::providers::docker
