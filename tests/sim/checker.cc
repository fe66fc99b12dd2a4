#include "tests/sim/checker.h"

#include "src/core/placement/key_rule.h"

namespace hodei::sim {

void Checker::started(ExecutionId execution, const std::string& machine, Duration timeout) {
  processes_.started(execution, machine, timeout);
  remembered_[machine].insert(execution);
  if (lives_.has_ended(execution.job)) world_.broken(cat("I1: ", to_string(execution), " started after its job's end"));
  if (const core::JobPtr head = lives_.head(execution.job)) check_key_limits(*head);
}

void Checker::supervisor_died(const std::string& machine) {
  remembered_.erase(machine);
  processes_.supervisor_died(machine);
  lives_.supervisor_died(machine);
}

void Checker::supervisor_stopped(const std::string& machine, std::set<ExecutionId> written) {
  remembered_[machine] = std::move(written);
  processes_.supervisor_died(machine);
}

void Checker::check_key_limits(const core::JobHead& job) {
  if (job.concurrency_key.empty()) return;
  std::set<JobId> jobs;
  for (const auto& [execution, run] : processes_.all()) {
    if (run.alive()) jobs.insert(execution.job);
  }
  size_t running = 0;
  for (const JobId id : jobs) {
    const core::JobPtr head = lives_.head(id);
    if (head != nullptr && head->concurrency_key == job.concurrency_key) running += processes_.running(id).size();
  }
  const int64_t limit = key_limits_[job.concurrency_key];
  if (static_cast<int64_t>(running) > limit) {
    world_.broken(cat("key ", job.concurrency_key, ": ", running, " run at once, the limit is ", limit));
  }
}

void Checker::check_outbox(const core::JobHead& job) {
  if (job.past == nullptr || job.past->executions.empty()) return;
  const core::Execution& last = job.past->executions.back();
  if (last.reason != "the worker does not have this execution") return;
  const ExecutionId execution{job.id, last.number};
  const RealRun* run = processes_.run(execution);
  if (run == nullptr || run->worker != last.worker.str()) return;
  const auto it = remembered_.find(run->worker);
  if (it != remembered_.end() && it->second.contains(execution)) {
    world_.broken(cat("I2: the end of ", to_string(execution), " was forgotten by a supervisor that lives"));
  }
}

void Checker::count_made(const core::Write& write) {
  if (const auto* put = std::get_if<core::Put<core::WorkerRecord>>(&write); put != nullptr && put->row->info.made) {
    if (put->row->state == core::WorkerState::Terminated) {
      made_.erase(put->row->info.id);
      return;
    }
    made_.insert(put->row->info.id);
    if (made_.size() > room_)
      world_.broken(cat("room: ", made_.size(), " workers are made, the provider may have ", room_));
  } else if (const auto* gone = std::get_if<core::Erase<core::WorkerRecord>>(&write)) {
    made_.erase(gone->key);
  }
}

// The highest that it ever was: lowering a limit ends nothing that runs.
void Checker::note_key_limit(const core::Write& write) {
  const auto note = [this](const std::string& key, int64_t limit) {
    int64_t& known = key_limits_[key];
    known = std::max(known, limit);
  };
  if (const auto* limit = std::get_if<core::Put<core::KeyLimitRow>>(&write)) note(limit->row->key, limit->row->limit);
  if (const auto* rule = std::get_if<core::Put<core::KeyRule>>(&write))
    note(rule->row->key, rule->row->limit.value_or(1));
}

void Checker::committed(const core::Writes& writes, MonoTime decided) {
  for (const core::Write& w : writes) {
    count_made(w);
    note_key_limit(w);
    shares_.committed(w, decided);
    dispatches_.committed(w);
    if (const auto* spec = std::get_if<core::PutSpec>(&w)) {
      lives_.entered(*spec->spec);
    } else if (const auto* worker = std::get_if<core::Put<core::WorkerRecord>>(&w)) {
      lives_.worker_put(*worker->row);
    } else if (const auto* put = std::get_if<core::PutJob>(&w)) {
      lives_.moved(put->job, false, decided);
      outputs_.recorded(*put->job);
      check_outbox(*put->job);
    } else if (const auto* end = std::get_if<core::FinishJob>(&w)) {
      lives_.moved(end->job, true, decided);
      outputs_.recorded(*end->job);
      check_outbox(*end->job);
    } else if (const auto* next = std::get_if<core::PutNextJob>(&w)) {
      if (next->next <= next_job_) world_.broken(cat("numbers of jobs go back from ", next_job_, " to ", next->next));
      next_job_ = next->next;
    }
  }
  dispatches_.batch_ended();
}

void Checker::ordered(ExecutionId execution, const WorkerId& worker, uint32_t attempt) {
  const core::JobPtr head = lives_.head(execution.job);
  if (head == nullptr || head->executions < execution.number) {
    return world_.broken(cat(to_string(execution), " leaves the server and is not stored"));
  }
  if (head->current() != execution || !core::is_active(head->state)) return;  // ended in the same batch
  if (head->worker != worker)
    world_.broken(cat(to_string(execution), " is sent to ", worker.str(), " and stored for ", head->worker.str()));
  const uint32_t expected = head->attempts + (head->state == core::JobState::Scheduled ? 1 : 0);
  if (attempt != expected)
    world_.broken(cat(to_string(execution), " is sent as attempt ", attempt, ", it is number ", expected));
}

void Checker::secret_stored(const std::string& name, int64_t revision) {
  int64_t& newest = secrets_[name];
  if (revision <= newest) world_.broken(cat("secret ", name, ": revision ", revision, " follows ", newest));
  newest = std::max(newest, revision);
}

void Checker::token_used(Hash128 token, const std::string& incarnation) {
  const auto [it, is_new] = tokens_.emplace(token, incarnation);
  if (!is_new && it->second != incarnation)
    world_.broken(cat("one token registered both ", it->second, " and ", incarnation));
}

void Checker::finish(const std::map<JobId, core::JobState>& stored, const std::function<std::string(JobId)>& why) {
  if (const std::optional<JobId> job = lives_.unended()) {
    world_.broken(cat("I1: ", short_id(*job), " was acknowledged and never ended: ", why(*job)));
  }
  for (const auto& [job, state] : stored) {
    const core::JobPtr head = lives_.head(job);
    if (head == nullptr || head->state != state)
      world_.broken(cat("I1: the stored end of ", short_id(job), " is ", core::name(state)));
  }
  for (const auto& [execution, run] : processes_.all()) {
    if (run.alive()) world_.broken(cat("I5: ", to_string(execution), " is still alive"));
  }
}

}  // namespace hodei::sim
