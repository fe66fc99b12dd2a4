#include "src/core/placement/queue.h"

#include "src/base/status.h"

namespace hodei::core {

void WaitingQueue::enter(LiveJob& job) {
  const JobHead& head = *job.head;
  HODEI_CHECK(head.state == JobState::Pending);
  count(head, +1);
  if (head.not_before.is_set()) {
    job.where = LiveJob::Where::Delayed;
    delayed_.insert({head.not_before, head.id});
    return;
  }
  job.lane = roster_.lanes.at(head.priority, head.ns, head.shape);
  job.where = LiveJob::Where::InLane;
  roster_.lanes.enqueue(job.lane, head.id);
}

void WaitingQueue::leave(LiveJob& job) {
  count(*job.head, -1);
  take_out(job);
}

void WaitingQueue::take_out(LiveJob& job) {
  const JobId id = job.head->id;
  Lane* lane = job.lane;
  switch (job.where) {
    case LiveJob::Where::Delayed: delayed_.erase({job.head->not_before, id}); break;
    case LiveJob::Where::InLane: roster_.lanes.dequeue(lane, id); break;
    case LiveJob::Where::Parked:
      keys_.unpark(keys_.at(job.head->ns.str(), job.head->concurrency_key), lane, id);
      --parked_;
      break;
    case LiveJob::Where::WithWorker: break;
  }
  job.lane = nullptr;
  if (lane != nullptr) roster_.lanes.drop_if_idle(lane);
}

void WaitingQueue::count(const JobHead& head, int64_t sign) {
  const size_t c = static_cast<size_t>(head.priority) - 1;
  by_class_[c] += sign;
  const auto block = by_block_.try_emplace(number(head.id) >> kBlockBits).first;
  block->second[c] += static_cast<uint32_t>(sign);
  if (block->second == std::array<uint32_t, kPriorities>{}) by_block_.erase(block);
  const auto it = by_namespace_.try_emplace(head.ns.str(), 0).first;
  it->second += sign;
  if (it->second == 0) by_namespace_.erase(it);
}

int64_t WaitingQueue::before_block_of(JobId job, Priority priority) const {
  int64_t sum = 0;
  for (const auto& [block, counts] : by_block_) {
    if (block >= number(job) >> kBlockBits) break;
    sum += counts[static_cast<size_t>(priority) - 1];
  }
  return sum;
}

int64_t WaitingQueue::in_namespace(const std::string& ns) const {
  const auto it = by_namespace_.find(ns);
  return it == by_namespace_.end() ? 0 : it->second;
}

void WaitingQueue::queue(LiveJob& job) {
  Lane* lane = roster_.lanes.at(job.head->priority, job.head->ns, job.head->shape);
  ++lane->parked;  // keeps the lane while the job changes places
  take_out(job);
  --lane->parked;
  job.lane = lane;
  job.where = LiveJob::Where::InLane;
  roster_.lanes.enqueue(lane, job.head->id);
}

void WaitingQueue::park(LiveJob& job) {
  HODEI_CHECK(job.where == LiveJob::Where::InLane);
  keys_.park(keys_.at(job.head->ns.str(), job.head->concurrency_key), job.lane, job.head->id);
  roster_.lanes.dequeue(job.lane, job.head->id);
  job.where = LiveJob::Where::Parked;
  ++parked_;
}

}  // namespace hodei::core
