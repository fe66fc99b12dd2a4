#include "src/providers/custom/worker_rolls.h"

namespace hodei::providers {

WorkerRolls::Turn::Turn(WorkerRolls& rolls, std::string worker_id) : rolls_(rolls), worker_id_(std::move(worker_id)) {
  std::unique_lock lock(rolls_.mutex_);
  rolls_.freed_.wait(lock, [&] { return !rolls_.turns_.contains(worker_id_); });
  rolls_.turns_.insert(worker_id_);
}

WorkerRolls::Turn::~Turn() {
  {
    const std::scoped_lock lock(rolls_.mutex_);
    rolls_.turns_.erase(worker_id_);
  }
  rolls_.freed_.notify_all();
}

std::optional<std::string> WorkerRolls::find(const std::string& worker_id) {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(worker_id);
  if (found == known_.end()) return std::nullopt;
  return found->second.id;
}

bool WorkerRolls::take_room(const std::string& worker_id, uint32_t room) {
  const std::scoped_lock lock(mutex_);
  if (!known_.contains(worker_id) && room != 0 && known_.size() >= room) return false;
  known_.try_emplace(worker_id).first->second.since = ++now_;
  return true;
}

void WorkerRolls::made(const std::string& worker_id, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  known_[worker_id] = {.id = id, .since = ++now_};
}

void WorkerRolls::destroyed(const std::string& worker_id) {
  const std::scoped_lock lock(mutex_);
  known_.erase(worker_id);
  gone_[worker_id] = ++now_;
}

bool WorkerRolls::was_listed() {
  const std::scoped_lock lock(mutex_);
  return was_listed_;
}

uint64_t WorkerRolls::before_list() {
  const std::scoped_lock lock(mutex_);
  return ++now_;
}

void WorkerRolls::listed(uint64_t before, const std::vector<OwnedWorker>& workers) {
  const std::scoped_lock lock(mutex_);
  std::set<std::string> there;
  for (const OwnedWorker& one : workers) {
    const auto gone = gone_.find(one.handle.worker_id);
    if (gone != gone_.end() && gone->second > before) continue;
    there.insert(one.handle.worker_id);
    Entry& entry = known_.try_emplace(one.handle.worker_id, Entry{.id = {}, .since = before}).first->second;
    if (entry.id.empty()) entry.id = one.handle.id;  // its create was never answered
  }
  std::erase_if(known_, [&](const auto& entry) {
    return !there.contains(entry.first) && entry.second.since < before && !turns_.contains(entry.first);
  });
  std::erase_if(gone_, [&](const auto& entry) { return entry.second < before; });
  was_listed_ = true;
}

}  // namespace hodei::providers
