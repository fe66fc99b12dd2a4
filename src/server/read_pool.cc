#include "src/server/read_pool.h"

#include <utility>

#include "src/base/status.h"

namespace hodei::server {
namespace {

std::string machine_of(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

}  // namespace

size_t ReadPool::Line::of_peer(const std::string& peer) const {
  const auto it = by_peer_.find(peer);
  return it == by_peer_.end() ? 0 : it->second.size();
}

size_t ReadPool::Line::of_machine(const std::string& machine) const {
  const auto it = by_machine_.find(machine);
  return it == by_machine_.end() ? 0 : it->second;
}

void ReadPool::Line::push(const std::string& peer, Work work) {
  by_peer_[peer].push_back(std::move(work));
  ++by_machine_[machine_of(peer)];
  ++count_;
}

ReadPool::Work ReadPool::Line::pop() {
  auto next = by_peer_.upper_bound(last_);
  if (next == by_peer_.end()) next = by_peer_.begin();
  last_ = next->first;
  Work work = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) by_peer_.erase(next);
  const auto machine = by_machine_.find(machine_of(last_));
  if (--machine->second == 0) by_machine_.erase(machine);
  --count_;
  return work;
}

void ReadPool::start() {
  const std::lock_guard lock(mutex_);
  if (!stopping_) return;
  stopping_ = false;
  for (size_t i = 0; i < limits_.threads; ++i) threads_.emplace_back([this] { run(false); });
  for (size_t i = 0; i < limits_.quick_threads; ++i) threads_.emplace_back([this] { run(true); });
}

void ReadPool::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  wake_quick_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

absl::Status ReadPool::check_room(const Asker& who, const Line& lane) const {
  if (stopping_) return absl::UnavailableError("the server is shutting down; try again in a moment");
  const char* then = " are already waiting; try again in a moment with fewer requests at once";
  if (lane.count() >= limits_.waiting) {
    return absl::ResourceExhaustedError(cat(limits_.waiting, " ", what_, then));
  }
  if (who.peer.empty()) return absl::OkStatus();
  if (lane.of_peer(who.peer) >= limits_.of_peer) {
    return absl::ResourceExhaustedError(cat(limits_.of_peer, " ", what_, " of this connection", then));
  }
  if (lane.of_machine(machine_of(who.peer)) >= limits_.of_machine) {
    return absl::ResourceExhaustedError(cat(limits_.of_machine, " ", what_, " of this machine", then));
  }
  return absl::OkStatus();
}

absl::Status ReadPool::post(const Asker& who, Work work) {
  const bool is_quick = who.lane == Lane::Quick;
  {
    const std::lock_guard lock(mutex_);
    Line& lane = is_quick ? quick_ : long_;
    RETURN_IF_ERROR(check_room(who, lane));
    lane.push(who.peer, std::move(work));
  }
  wake_.notify_one();
  if (is_quick) wake_quick_.notify_one();
  return absl::OkStatus();
}

void ReadPool::post_always(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    long_.push({}, std::move(work));
  }
  wake_.notify_one();
}

void ReadPool::run(bool only_quick) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return quick_.count() > 0 || (!only_quick && long_.count() > 0); };
  while (true) {
    (only_quick ? wake_quick_ : wake_).wait(lock, [&] { return stopping_ || has_work(); });
    if (!has_work()) return;
    const Work work = quick_.count() > 0 ? quick_.pop() : long_.pop();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace hodei::server
