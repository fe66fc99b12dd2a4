#include "tests/sim/checker.h"

namespace hodei::sim {

void Checker::started(ExecutionId execution) {
  if (!ever_started_.insert(execution).second) world_.broken(cat("I3: ", to_string(execution), " was started twice"));
  std::set<ExecutionId>& copies = alive_[execution.job];
  for (const ExecutionId& other : copies) {
    if (!frozen_.contains(other)) {
      world_.broken(cat("I4: ", to_string(execution), " started while ", to_string(other), " runs"));
    }
  }
  copies.insert(execution);
  if (finished_.contains(execution.job)) world_.broken(cat("I1: ", to_string(execution), " started after its job's end"));
  const auto head = newest_.find(execution.job);
  if (head != newest_.end()) check_key_limits(*head->second);
}

void Checker::died(ExecutionId execution) {
  alive_[execution.job].erase(execution);
  frozen_.erase(execution);
}

void Checker::frozen(ExecutionId execution, bool yes) {
  if (yes) {
    frozen_.insert(execution);
  } else {
    frozen_.erase(execution);
  }
}

void Checker::check_key_limits(const core::JobHead& job) {
  if (job.concurrency_key.empty()) return;
  int64_t running = 0;
  for (const auto& [id, copies] : alive_) {
    const auto head = newest_.find(id);
    if (head == newest_.end() || head->second->concurrency_key != job.concurrency_key) continue;
    for (const ExecutionId& e : copies) running += !frozen_.contains(e);
  }
  const int64_t limit = key_limits_[job.concurrency_key];
  if (running > limit) {
    world_.broken(cat("key ", job.concurrency_key, ": ", running, " run at once, the limit is ", limit));
  }
}

void Checker::check_outbox(const core::JobHead& job) {
  if (job.past == nullptr || job.past->executions.empty()) return;
  const core::Execution& last = job.past->executions.back();
  if (last.reason != "the worker does not hold it") return;
  const ExecutionId execution{job.id, last.number};
  const auto it = remembered_.find(last.worker);
  if (it != remembered_.end() && it->second.contains(execution)) {
    world_.broken(cat("I2: the end of ", to_string(execution), " was forgotten by a supervisor that lives"));
  }
}

void Checker::check_room() {
  if (made_.size() > room_) world_.broken(cat("room: ", made_.size(), " workers are made, the provider may have ", room_));
}

void Checker::committed(const core::Writes& writes) {
  for (const core::Write& w : writes) {
    if (const auto* worker = std::get_if<core::PutWorker>(&w); worker != nullptr && worker->worker->info.made) {
      made_.insert(worker->worker->info.id);
      check_room();
    }
    if (const auto* gone = std::get_if<core::DeleteWorker>(&w)) made_.erase(gone->worker);
    shares_.committed(w);
    if (const auto* put = std::get_if<core::PutJob>(&w)) {
      if (finished_.contains(put->job->id)) world_.broken(cat("I1: ", short_id(put->job->id), " changed after its end"));
      newest_[put->job->id] = put->job;
      check_outbox(*put->job);
    } else if (const auto* limit = std::get_if<core::PutKeyLimit>(&w)) {
      int64_t& known = key_limits_[limit->row.key];
      known = std::max(known, limit->row.limit);   // lowering a limit ends nothing that runs
    } else if (const auto* setting = std::get_if<core::PutSetting>(&w);
               setting != nullptr && setting->row.kind == core::SettingKind::KeyRate) {
      const core::KeyRule rule = core::decode_key_rule(setting->row.bytes);
      int64_t& known = key_limits_[rule.key];
      known = std::max(known, rule.limit.value_or(1));
    } else if (const auto* end = std::get_if<core::FinishJob>(&w)) {
      const core::JobHead& job = *end->job;
      if (!finished_.emplace(job.id, job.state).second) {
        world_.broken(cat("I1: ", short_id(job.id), " has two outcomes"));
      }
      newest_[job.id] = end->job;
      check_outbox(job);
      for (const ExecutionId& e : alive_[job.id]) {
        if (!frozen_.contains(e)) world_.broken(cat("I5: ", short_id(job.id), " is ", core::name(job.state), " while ", to_string(e), " runs"));
      }
      if (job.state == core::JobState::Succeeded) {
        const core::Execution& last = job.past->executions.back();
        if (last.number != job.executions) world_.broken(cat("I2: result of ", short_id(job.id), " is not the newest execution's"));
        if (!ever_started_.contains({job.id, last.number})) {
          world_.broken(cat("I2: ", short_id(job.id), " succeeded without a start"));
        }
      }
    }
  }
}

bool Checker::all_acknowledged_ended() const {
  return std::ranges::all_of(acknowledged_, [this](JobId job) { return finished_.contains(job); });
}

void Checker::finish(const std::map<JobId, core::JobState>& done, const std::function<std::string(JobId)>& why) {
  for (const JobId job : acknowledged_) {
    if (!done.contains(job)) world_.broken(cat("I1: ", short_id(job), " was acknowledged and never ended: ", why(job)));
  }
  for (const auto& [job, copies] : alive_) {
    if (!copies.empty()) world_.broken(cat("I5: ", to_string(*copies.begin()), " is still alive"));
  }
}

}  // namespace hodei::sim
