#include "src/core/timers.h"

#include <algorithm>
#include <cstdlib>

namespace hodei::core {

void Timers::set(const Timer& timer, MonoTime at) {
  cancel(timer);
  Queue& queue = this->queue(timer.kind);
  queue.at.emplace(timer, at);
  queue.order.emplace(at, timer);
}

void Timers::set(const Timer& timer, WallTime at, Now now) {
  follow_wall_clock(now);
  set(timer, MonoTime{at.us - wall_offset_});
  wall_[timer] = at;
}

void Timers::cancel(const Timer& timer) {
  if (!wall_.empty()) wall_.erase(timer);
  Queue& queue = this->queue(timer.kind);
  const auto it = queue.at.find(timer);
  if (it == queue.at.end()) return;
  queue.order.erase({it->second, timer});
  queue.at.erase(it);
}

std::optional<Timer> Timers::take_due(TimerKind kind, MonoTime now) {
  const Queue& queue = this->queue(kind);
  if (queue.order.empty() || queue.order.begin()->first > now) return std::nullopt;
  Timer timer = queue.order.begin()->second;
  cancel(timer);
  return timer;
}

void Timers::follow_wall_clock(Now now) {
  const int64_t offset = now.wall.us - now.mono.us;
  if (!wall_.empty() && std::abs(offset - wall_offset_) < kJump.count()) return;
  wall_offset_ = offset;
  const absl::btree_map<Timer, WallTime> moved = std::exchange(wall_, {});
  for (const auto& [timer, at] : moved) {
    set(timer, MonoTime{at.us - wall_offset_});
    wall_[timer] = at;
  }
}

MonoTime Timers::next() const {
  MonoTime first = kNever;
  for (const Queue& queue : queues_) {
    if (!queue.order.empty()) first = std::min(first, queue.order.begin()->first);
  }
  return first;
}

size_t Timers::size() const {
  size_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.order.size();
  return sum;
}

}  // namespace hodei::core
