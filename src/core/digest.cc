// One number for all stored state: an engine loaded fresh from the store must come to the same.
#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/core/state.h"

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
  if (j.past != nullptr) out.text(encode(*j.past));
}

void add_to(Encoder& out, const LiveWorker& w) {
  const WorkerRecord& r = *w.record;
  out.text(encode(r.info)).u64(static_cast<uint64_t>(r.state)).u64(r.session.high).u64(r.session.low);
  out.u64(r.used_otp.high).u64(r.used_otp.low).text(r.incarnation).u64(r.stopped).i64(r.registered.us);
  out.u64(static_cast<uint64_t>(w.state)).u64(w.executions.size());
  for (const ExecutionId& e : w.executions) out.u64(number(e.job)).u64(e.number);
  out.i64(w.used.cpu_milli).i64(w.used.memory_mb).i64(w.used.storage_mb).i64(w.used.gpus);
}

}  // namespace

uint64_t State::digest() const {
  uint64_t sum = mix64(next_job_) + mix64(~next_audit_);
  // Parts are added up, so that the order in which they are visited does not matter.
  const auto add = [&sum](Encoder& part) { sum += hash64(part.bytes()); };
  for (const auto& [id, live] : jobs_) {
    Encoder out;
    add_to(out, *live.head);
    add(out);
  }
  for (const auto& [id, worker] : workers_) {
    Encoder out;
    add_to(out, *worker);
    add(out);
  }
  for (const auto& [name, row] : templates_) {
    Encoder out;
    out.u64(1).text(name.first).text(name.second).i64(row.revision).i64(row.updated.us).u64(row.hash);
    add(out);
  }
  for (const auto& [name, secret] : secrets_) {
    Encoder out;
    out.text(name.first).text(name.second).i64(secret.revision).i64(secret.updated.us).u64(secret.hash);
    add(out);
  }
  for (const auto& [name, hash] : settings_) {
    Encoder out;
    out.u64(static_cast<uint64_t>(name.first)).text(name.second).u64(hash);
    add(out);
  }
  for (const auto& [token, otp] : otps_) {
    Encoder out;
    out.u64(token.high).u64(token.low).text(otp.worker.str()).i64(otp.expires.us);
    add(out);
  }
  for (const auto& [name, key] : keys_.all()) {
    if (!key.is_stored) continue;
    Encoder out;
    out.text(name.first).text(name.second).i64(key.limit).i64(key.jobs).i64(key.held);
    add(out);
  }
  for (const auto& [ns, tenant] : roster_.tenants()) {
    if (tenant->running == 0) continue;
    Encoder out;
    out.text(ns.str()).i64(tenant->running).i64(tenant->used.cpu_milli).i64(tenant->used.memory_mb);
    add(out);
  }
  for (const auto& [key, row] : idempotency_.all()) {
    Encoder out;
    out.u64(key.high).u64(key.low).u64(number(row.job)).i64(row.expires.us).u64(row.fingerprint);
    add(out);
  }
  Encoder out;
  const SchedulerConfig& s = scheduler_;
  out.u64(static_cast<uint64_t>(s.strategy)).u64(static_cast<uint64_t>(s.packing)).u64(s.preemption);
  out.i64(s.reserve_after.count());
  for (double v : {s.capacity, s.load, s.affinity, s.zone, s.history, s.threshold})
    out.i64(bounded_whole(v * 1000, 0, INT64_MAX));
  add(out);
  return sum;
}

}  // namespace hodei::core
