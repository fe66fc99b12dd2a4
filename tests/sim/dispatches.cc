#include "tests/sim/dispatches.h"

#include "src/core/placement/tenant.h"

namespace hodei::sim {

void Dispatches::committed(const core::Write& write) {
  if (const auto* put = std::get_if<core::PutJob>(&write)) {
    moved(put->job);
  } else if (const auto* end = std::get_if<core::FinishJob>(&write)) {
    leave(end->job->id);
  } else if (const auto* worker = std::get_if<core::Put<core::WorkerRecord>>(&write)) {
    workers_[worker->row->info.id] = worker->row;
  } else if (const auto* gone = std::get_if<core::Erase<core::WorkerRecord>>(&write)) {
    workers_.erase(gone->key);
  } else if (const auto* audit = std::get_if<core::Put<core::AuditRow>>(&write)) {
    if (audit->row->action == "secret.delivered") deliveries_.insert(audit->row->subject);
  } else if (const auto* tenant = std::get_if<core::Put<core::TenantRow>>(&write)) {
    limited_.insert(tenant->row->ns);
  } else if (const auto* usual = std::get_if<core::Erase<core::TenantRow>>(&write)) {
    limited_.erase(usual->key);
  }
}

void Dispatches::leave(JobId job) {
  waiting_.erase(job);
  const auto it = with_worker_.find(job);
  if (it == with_worker_.end()) return;
  Used& used = used_[it->second->worker];
  used.jobs.erase(job);
  used.amounts -= it->second->shape->needs;
  with_worker_.erase(it);
}

void Dispatches::moved(const core::JobPtr& job) {
  const auto before = with_worker_.find(job->id);
  const bool fresh = before == with_worker_.end() || before->second->executions != job->executions;
  if (core::is_active(job->state) && !fresh) return;
  leave(job->id);
  if (job->state == core::JobState::Pending) {
    if (!job->not_before.is_set()) waiting_[job->id] = job;
    return;
  }
  with_worker_[job->id] = job;
  Used& used = used_[job->worker];
  used.jobs.insert(job->id);
  used.amounts += job->shape->needs;
  const auto worker = workers_.find(job->worker);
  if (worker == workers_.end())
    return world_.broken(
        cat(to_string(job->current()), " is dispatched to ", job->worker.str(), ", which is not known"));
  check_worker(*job, *worker->second);
  check_order(*job, *worker->second);
  if (job->secrets != nullptr && !deliveries_.contains(to_string(job->current()))) {
    world_.broken(cat("the secrets of ", to_string(job->current()), " leave without a word in the audit trail"));
  }
}

void Dispatches::check_worker(const core::JobHead& job, const core::WorkerRecord& worker) {
  const auto broken = [&](const std::string& why) {
    world_.broken(cat(to_string(job.current()), " is dispatched to ", worker.info.id.str(), ", which ", why));
  };
  if (!core::takes_work(worker.state)) return broken(cat("is ", core::name(worker.state)));
  if (worker.stopped) return broken("has said that it stops");
  const Used& used = used_[worker.info.id];
  if (used.jobs.size() > worker.info.slots)
    return broken(cat("has ", worker.info.slots, " slots for ", used.jobs.size()));
  if (!worker.info.capacity.covers(used.amounts)) return broken("has not that much left");
  if (!job.shape->provider.empty() && job.shape->provider != worker.info.provider)
    return broken(cat("is of provider ", worker.info.provider));
  if (worker.info.made && !worker.info.made->ns.empty() && worker.info.made->ns != job.ns.str()) {
    return broken(cat("was made for namespace ", worker.info.made->ns));
  }
  for (const core::Taint& taint : worker.info.taints) {
    if (taint.effect != core::TaintEffect::PreferNoSchedule) return broken("is tainted");
  }
}

const std::string& Dispatches::kind_of(const core::Shape& shape) {
  std::string& kind = kinds_[shape.encoded];
  if (kind.empty()) {
    core::Shape alike = shape;
    alike.needs = {};
    kind = cat("kind ", core::encode(alike));
  }
  return kind;
}

// Where the worker takes the job, it would as well take one that waits and asks for no more.
bool Dispatches::goes_before(const core::JobHead& waiting, const core::JobHead& job) {
  if (!waiting.concurrency_key.empty()) return false;
  if (waiting.priority == job.priority) {
    return waiting.ns == job.ns && waiting.id < job.id && waiting.shape->encoded == job.shape->encoded;
  }
  return waiting.priority > job.priority && !limited_.contains(waiting.ns.str()) &&
         job.shape->needs.covers(waiting.shape->needs) && kind_of(*waiting.shape) == kind_of(*job.shape);
}

void Dispatches::check_order(const core::JobHead& job, const core::WorkerRecord& worker) {
  // The job for which a worker was made has the first claim on it; affinity depends on what else runs there.
  if (worker.info.made || !job.shape->affinity.empty()) return;
  for (const auto& [id, waiting] : waiting_) {
    if (!goes_before(*waiting, job)) continue;
    return world_.broken(cat(to_string(job.current()), " of class ", static_cast<int>(job.priority),
                             " is dispatched, and ", short_id(id), " of class ", static_cast<int>(waiting->priority),
                             " waits for such a worker"));
  }
}

}  // namespace hodei::sim
