#include "src/core/state.h"

#include "src/base/codec.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

size_t class_index(Priority p) { return static_cast<size_t>(p) - 1; }

}  // namespace

void State::fold(const Write& write) {
  std::visit(
      [this](const auto& w) {
        using W = std::decay_t<decltype(w)>;
        if constexpr (std::is_same_v<W, PutJob>) {
          put(w.job);
        } else if constexpr (std::is_same_v<W, FinishJob>) {
          const auto it = jobs_.find(w.job->id);
          HODEI_CHECK(it != jobs_.end());
          detach(it->second);
          forget_key_job(*it->second.head);
          footprint_.remove(*it->second.head, it->second.bytes);
          jobs_.erase(it);
        } else if constexpr (std::is_same_v<W, PutWorker>) {
          put_worker(w.worker);
        } else if constexpr (std::is_same_v<W, DeleteWorker>) {
          delete_worker(w.worker);
        } else if constexpr (std::is_same_v<W, PutOtp>) {
          otps_[w.otp.token] = w.otp;
        } else if constexpr (std::is_same_v<W, DeleteOtp>) {
          otps_.erase(w.token);
        } else if constexpr (std::is_same_v<W, PutTemplate>) {
          templates_[{w.row.ns, w.row.name}] = {w.row.revision, w.row.updated, hash64(w.row.bytes)};
        } else if constexpr (std::is_same_v<W, DeleteTemplate>) {
          templates_.erase({w.ns, w.name});
        } else if constexpr (std::is_same_v<W, PutKeyLimit>) {
          KeyState& key = keys_.at(w.row.ns, w.row.key);
          key.is_stored = true;
          key.limit = w.row.limit;
        } else if constexpr (std::is_same_v<W, DeleteKeyLimit>) {
          keys_.erase(w.ns, w.key);
        } else if constexpr (std::is_same_v<W, PutIdempotency>) {
          idempotency_.put(w.row.key, {w.row.job, w.row.expires, w.row.fingerprint});
        } else if constexpr (std::is_same_v<W, ExpireIdempotency>) {
          idempotency_.expire(w.before);
        } else if constexpr (std::is_same_v<W, DeleteIdempotency>) {
          idempotency_.erase(w.key, w.job);
        } else if constexpr (std::is_same_v<W, PutScheduler>) {
          scheduler_ = w.config;
          roster_.refresh_all();
        } else if constexpr (std::is_same_v<W, PutNextJob>) {
          next_job_ = w.next;
        } else if constexpr (std::is_same_v<W, PutSetting>) {
          put_setting(w.row);
        } else if constexpr (std::is_same_v<W, DeleteSetting>) {
          delete_setting(w.kind, w.name);
        } else if constexpr (std::is_same_v<W, PutSecret>) {
          secrets_[{w.row.ns, w.row.name}] = {w.row.revision, w.row.updated, hash64(w.row.sealed)};
        } else if constexpr (std::is_same_v<W, DeleteSecret>) {
          secrets_.erase({w.ns, w.name});
        } else if constexpr (std::is_same_v<W, PutAudit>) {
          next_audit_ = w.row.number + 1;
        } else {
          static_assert(std::is_same_v<W, PutSpec> || std::is_same_v<W, ExpireAudit> ||
                            std::is_same_v<W, PutExecution> || std::is_same_v<W, DropExecutions> ||
                            std::is_same_v<W, EraseJob>,
                        "specs, the shelf, finished jobs and the audit trail live in the store; every other write must "
                        "be folded");
        }
      },
      write);
}

const LiveJob* State::job(JobId id) const {
  const auto it = jobs_.find(id);
  return it == jobs_.end() ? nullptr : &it->second;
}

void State::put(const JobPtr& job) {
  LiveJob& live = jobs_[job->id];
  if (live.head != nullptr) {
    detach(live);
    footprint_.remove(*live.head, live.bytes);
  } else if (!job->concurrency_key.empty()) {
    ++keys_.at(job->ns.str(), job->concurrency_key).jobs;
  }
  live.head = job;
  live.bytes = Footprint::own_bytes(*job);
  footprint_.add(*job, live.bytes);
  attach(live);
}

void State::forget_key_job(const JobHead& head) {
  if (!head.concurrency_key.empty()) --keys_.at(head.ns.str(), head.concurrency_key).jobs;
}

bool State::key_in_use(const std::string& ns, const std::string& key) const {
  const KeyState* found = keys_.find(ns, key);
  return found != nullptr && found->jobs > 0;
}

void State::attach(LiveJob& live) {
  const JobHead& head = *live.head;
  ++counts_[static_cast<size_t>(head.state)];
  if (is_active(head.state)) {
    live.where = LiveJob::Where::WithWorker;
    occupy(head, +1);
    return;
  }
  HODEI_CHECK(head.state == JobState::Pending);
  count_waiting(head, +1);
  if (head.not_before.is_set()) {
    live.where = LiveJob::Where::Delayed;
    delayed_.insert({head.not_before, head.id});
    return;
  }
  live.lane = roster_.lane(head.priority, head.ns, head.shape);
  live.where = LiveJob::Where::InLane;
  roster_.enqueue(live.lane, head.id);
}

void State::leave_queue(LiveJob& live) {
  const JobId id = live.head->id;
  Lane* lane = live.lane;
  switch (live.where) {
    case LiveJob::Where::Delayed: delayed_.erase({live.head->not_before, id}); break;
    case LiveJob::Where::InLane: roster_.dequeue(lane, id); break;
    case LiveJob::Where::Parked:
      keys_.unpark(keys_.at(live.head->ns.str(), live.head->concurrency_key), lane, id);
      --parked_;
      break;
    case LiveJob::Where::WithWorker: break;
  }
  live.lane = nullptr;
  if (lane != nullptr) roster_.drop_if_idle(lane);
}

void State::detach(LiveJob& live) {
  const JobHead& head = *live.head;
  --counts_[static_cast<size_t>(head.state)];
  if (is_active(head.state)) {
    occupy(head, -1);
  } else {
    count_waiting(head, -1);
    leave_queue(live);
  }
}

void State::count_waiting(const JobHead& head, int64_t sign) {
  waiting_[class_index(head.priority)] += sign;
  const auto it = waiting_by_namespace_.try_emplace(head.ns.str(), 0).first;
  it->second += sign;
  if (it->second == 0) waiting_by_namespace_.erase(it);
}

void State::queue(JobId id) {
  LiveJob& live = jobs_.at(id);
  Lane* lane = roster_.lane(live.head->priority, live.head->ns, live.head->shape);
  ++lane->parked;  // keeps the lane while the job changes places
  leave_queue(live);
  --lane->parked;
  live.lane = lane;
  live.where = LiveJob::Where::InLane;
  roster_.enqueue(lane, id);
}

void State::park(JobId id) {
  LiveJob& live = jobs_.at(id);
  HODEI_CHECK(live.where == LiveJob::Where::InLane);
  keys_.park(keys_.at(live.head->ns.str(), live.head->concurrency_key), live.lane, id);
  roster_.dequeue(live.lane, id);
  live.where = LiveJob::Where::Parked;
  ++parked_;
}

void State::occupy(const JobHead& head, int sign) {
  if (!head.concurrency_key.empty()) keys_.at(head.ns.str(), head.concurrency_key).held += sign;
  LiveWorker* w = worker(head.worker);
  HODEI_CHECK(w != nullptr);
  if (const auto provider = providers_.find(w->record->info.provider); provider != providers_.end()) {
    provider->second.jobs += static_cast<uint32_t>(sign);
  }
  Tenant& tenant = *roster_.tenant(head.ns);
  tenant.running += sign;
  if (sign > 0) {
    tenant.used += head.shape->needs;
    w->executions.insert(head.current());
    w->used += head.shape->needs;
    if (head.labels != nullptr) w->company.emplace(head.current(), head.labels);
    ++w->by_class[static_cast<size_t>(head.priority)];
    if (w->state == WorkerState::Ready) w->state = *next(w->state, WorkerEvent::Occupy);
  } else {
    tenant.used -= head.shape->needs;
    w->executions.erase(head.current());
    w->used -= head.shape->needs;
    if (head.labels != nullptr) w->company.erase(head.current());
    --w->by_class[static_cast<size_t>(head.priority)];
    if (w->state == WorkerState::Busy && w->executions.empty()) w->state = *next(w->state, WorkerEvent::Empty);
  }
  roster_.refresh(w);
  if (sign < 0) roster_.rest_if_idle(&tenant);
}

LiveWorker* State::worker(const WorkerId& id) {
  const auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : it->second.get();
}

LiveWorker* State::worker_of_session(const Hash128& session) {
  const auto it = sessions_.find(session);
  return it == sessions_.end() ? nullptr : worker(it->second);
}

void State::put_worker(const WorkerRecordPtr& record) {
  std::unique_ptr<LiveWorker>& slot = workers_[record->info.id];
  const bool known = slot != nullptr;
  if (!known) slot = std::make_unique<LiveWorker>();
  LiveWorker* worker = slot.get();
  if (known) {
    sessions_.erase(worker->record->session);
    count_jobs(*worker, -1);
    count_made(*worker->record, -1);
    worker_bytes_ -= bytes_of(*worker->record);
  }
  worker_bytes_ += bytes_of(*record);
  // One that is still being made has none.
  if (record->session != Hash128{}) sessions_[record->session] = record->info.id;
  count_made(*record, +1);
  const bool busy = record->state == WorkerState::Ready && !worker->executions.empty();
  worker->state = busy ? WorkerState::Busy : record->state;
  // Nothing can be placed on it before it has said what it is, nor when it is gone.
  const bool is_listed = record->state != WorkerState::Creating && record->state != WorkerState::Terminated;
  if (worker->kind != nullptr && is_listed) {
    roster_.change(worker, record);
  } else {
    if (worker->kind != nullptr) roster_.remove(worker);
    worker->record = record;
    if (is_listed) roster_.add(worker);
  }
  count_jobs(*worker, +1);
}

void State::count_jobs(const LiveWorker& worker, int sign) {
  if (worker.executions.empty()) return;
  const auto provider = providers_.find(worker.record->info.provider);
  if (provider == providers_.end()) return;
  provider->second.jobs += static_cast<uint32_t>(sign * static_cast<int>(worker.executions.size()));
}

void State::count_made(const WorkerRecord& record, int sign) {
  if (!record.info.made || record.state == WorkerState::Terminated) return;
  const auto provider = providers_.find(record.info.made->provider);
  if (provider != providers_.end()) provider->second.workers += static_cast<uint32_t>(sign);
}

void State::delete_worker(const WorkerId& id) {
  const auto it = workers_.find(id);
  if (it == workers_.end()) return;
  HODEI_CHECK(it->second->executions.empty());
  if (it->second->kind != nullptr) roster_.remove(it->second.get());
  count_made(*it->second->record, -1);
  worker_bytes_ -= bytes_of(*it->second->record);
  sessions_.erase(it->second->record->session);
  workers_.erase(it);
}

const State::StoredFacts* State::job_template(const std::string& ns, const std::string& name) const {
  const auto it = templates_.find({ns, name});
  return it == templates_.end() ? nullptr : &it->second;
}

const State::StoredFacts* State::secret(const std::string& ns, const std::string& name) const {
  const auto it = secrets_.find({ns, name});
  return it == secrets_.end() ? nullptr : &it->second;
}

size_t State::secret_count(const std::string& ns) const {
  size_t count = 0;
  for (auto it = secrets_.lower_bound({ns, ""}); it != secrets_.end() && it->first.first == ns; ++it) ++count;
  return count;
}

const OtpRow* State::otp(const Hash128& token) const {
  const auto it = otps_.find(token);
  return it == otps_.end() ? nullptr : &it->second;
}

bool State::has_key(const std::string& ns, const std::string& key) const {
  const KeyState* found = keys_.find(ns, key);
  return found != nullptr && found->is_stored;
}

}  // namespace hodei::core
