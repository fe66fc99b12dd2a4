#include "src/core/jobs/table.h"

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

void add_to(Encoder& out, const JobHead& j) {
  out.u64(number(j.id)).text(j.ns.str()).u64(static_cast<uint64_t>(j.state)).u64(static_cast<uint64_t>(j.priority));
  out.u64(j.allow_retry).u64(j.cancel_requested).u64(j.timeout_requested).u64(static_cast<uint64_t>(j.requeue));
  out.u64(j.executions).u64(j.attempts).u64(j.max_attempts).u64(j.lost_dispatches);
  out.i64(j.timeout.count()).i64(j.grace.count()).i64(j.backoff.initial.count()).i64(j.backoff.max.count());
  out.i64(bounded_whole(j.backoff.factor * 1000, 0, INT64_MAX)).i64(j.created.us).i64(j.not_before.us);
  out.text(j.concurrency_key).text(j.worker.str()).text(j.shape->encoded);
  if (j.labels != nullptr) {
    for (const auto& [key, value] : *j.labels) out.text(key).text(value);
  }
  if (j.secrets != nullptr) out.text(*j.secrets);
  if (j.owner.is_set()) out.u64(static_cast<uint64_t>(j.owner.module)).u64(j.owner.id);
  if (j.past != nullptr) out.text(encode(*j.past));
}

}  // namespace

const LiveJob* JobTable::find(JobId id) const {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : &it->second;
}

LiveJob* JobTable::find(JobId id) {
  const auto it = all_.find(id);
  return it == all_.end() ? nullptr : &it->second;
}

void JobTable::fold(const PutJob& write) {
  const JobPtr& job = write.job;
  LiveJob& live = all_[job->id];
  if (live.head != nullptr) {
    detach(live);
    footprint_.remove(*live.head, live.bytes);
  } else {
    placement_.usage.count_job(*job, +1);
  }
  live.head = job;
  live.bytes = Footprint::own_bytes(*job);
  footprint_.add(*job, live.bytes);
  attach(live);
}

void JobTable::fold(const FinishJob& write) {
  const auto it = all_.find(write.job->id);
  HODEI_CHECK(it != all_.end());
  detach(it->second);
  placement_.usage.count_job(*it->second.head, -1);
  footprint_.remove(*it->second.head, it->second.bytes);
  all_.erase(it);
}

void JobTable::attach(LiveJob& live) {
  ++counts_[static_cast<size_t>(live.head->state)];
  if (!is_active(live.head->state)) return placement_.queue.enter(live);
  live.where = LiveJob::Where::WithWorker;
  occupy(*live.head, +1);
}

void JobTable::detach(LiveJob& live) {
  --counts_[static_cast<size_t>(live.head->state)];
  if (is_active(live.head->state)) {
    occupy(*live.head, -1);
  } else {
    placement_.queue.leave(live);
  }
}

void JobTable::occupy(const JobHead& head, int sign) {
  LiveWorker* worker = workers_.find(head.worker);
  HODEI_CHECK(worker != nullptr);
  ports_.suppliers->count_executions(worker->record->info.provider, sign);
  placement_.usage.count_execution(head, sign);
  if (sign > 0) {
    occupy_worker(*worker, head);
  } else {
    free_worker(*worker, head);
  }
  placement_.roster.workers.refresh(worker);
}

uint64_t JobTable::digest() const {
  uint64_t sum = mix64(next_number_);
  for (const auto& [id, live] : all_) {
    Encoder out;
    add_to(out, *live.head);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core
