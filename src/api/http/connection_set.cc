#include "src/api/http/connection_set.h"

namespace hodei::api {

bool ConnectionSet::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (!is_closed_) all_.emplace(connection.get(), connection);
  return !is_closed_;
}

void ConnectionSet::remove(const Connection* connection) {
  std::shared_ptr<Connection> last;  // let go without the lock
  const std::lock_guard lock(mutex_);
  const auto it = all_.find(connection);
  if (it == all_.end()) return;
  last = std::move(it->second);
  all_.erase(it);
  if (all_.empty()) is_empty_.notify_all();
}

std::vector<std::shared_ptr<Connection>> ConnectionSet::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  std::vector<std::shared_ptr<Connection>> out;
  for (const auto& [key, connection] : all_) out.push_back(connection);
  return out;
}

void ConnectionSet::wait_until_empty(Duration limit) {
  std::unique_lock lock(mutex_);
  is_empty_.wait_for(lock, limit, [this] { return all_.empty(); });
}

}  // namespace hodei::api
