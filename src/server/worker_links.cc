#include "src/server/worker_links.h"

namespace hodei::server {

uint64_t WorkerLinks::add(std::shared_ptr<WorkerLink> link) {
  const std::lock_guard lock(mutex_);
  links_[next_] = std::move(link);
  return next_++;
}

void WorkerLinks::remove(uint64_t stream) {
  const std::lock_guard lock(mutex_);
  links_.erase(stream);
}

std::shared_ptr<WorkerLink> WorkerLinks::find(uint64_t stream) const {
  const std::lock_guard lock(mutex_);
  const auto it = links_.find(stream);
  return it == links_.end() ? nullptr : it->second;
}

void WorkerLinks::send(uint64_t stream, ToWorker message) {
  if (const std::shared_ptr<WorkerLink> link = find(stream)) link->send(std::move(message));
}

void WorkerLinks::close(uint64_t stream, const std::string& why) {
  if (const std::shared_ptr<WorkerLink> link = find(stream)) link->close(why);
}

void WorkerLinks::send_all(const ToWorker& message) {
  std::map<uint64_t, std::shared_ptr<WorkerLink>> all;
  {
    const std::lock_guard lock(mutex_);
    all = links_;
  }
  for (const auto& [stream, link] : all) link->send(message);
}

void WorkerLinks::close_all(const std::string& why) {
  std::map<uint64_t, std::shared_ptr<WorkerLink>> all;
  {
    const std::lock_guard lock(mutex_);
    all = links_;
  }
  for (const auto& [stream, link] : all) link->close(why);
}

size_t WorkerLinks::size() const {
  const std::lock_guard lock(mutex_);
  return links_.size();
}

}  // namespace hodei::server
