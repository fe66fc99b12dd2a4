#include "tests/sim/lives.h"

#include <cmath>

namespace hodei::sim {
namespace {

using core::JobState;

// After the last fault: a lease that runs out, a reconnect, a grace time, and some.
constexpr Duration kCancelTakes = 120s;

Duration shortest_back_off(const core::JobHead& job) {
  const double wanted =
      static_cast<double>(job.backoff.initial.count()) * std::pow(job.backoff.factor, job.attempts - 1.0);
  return Duration(static_cast<int64_t>(std::min(wanted, static_cast<double>(job.backoff.max.count())) / 2));
}

// 100 ms, doubling to 30 s.
Duration shortest_dispatch_delay(uint32_t times) {
  return std::min(Duration(100ms) * (int64_t{1} << std::min(times - 1, 16u)), Duration(30s));
}

}  // namespace

void Lives::told_job(const std::string& key, JobId job) {
  const auto known = keys_.find(key);
  if (known == keys_.end()) {
    world_.broken(cat("I1: a client was told of ", short_id(job), ", which is not stored"));
  } else if (known->second != job) {
    world_.broken(cat("a client was told of ", short_id(job), ", its key stands for ", short_id(known->second)));
  }
  lives_[job].told = true;
}

void Lives::cancel_taken(JobId job, JobState state) {
  Life& life = lives_[job];
  if (!life.cancel_taken) life.cancel_taken = world_.elapsed();
  if (state == JobState::Cancelled && !(life.ended && life.head->state == JobState::Cancelled)) {
    world_.broken(
        cat("a client was told that ", short_id(job), " is cancelled, and it is ", core::name(life.head->state)));
  }
}

void Lives::cancel_refused(JobId job, const absl::Status& why) {
  if (!has_ended(job))
    world_.broken(
        cat("the cancel of ", short_id(job), ", which has not ended, was refused: ", std::string(why.message())));
}

void Lives::entered(const core::SpecRow& spec) {
  if (!keys_.emplace(spec.correlation_id, spec.job).second) {
    world_.broken(cat("the same key made ", short_id(keys_.at(spec.correlation_id)), " and ", short_id(spec.job)));
  }
}

void Lives::worker_put(const core::WorkerRecord& worker) {
  const WorkerId& id = worker.info.id;
  if (!worker.stopped) {
    stopped_.erase(id);
    return;
  }
  stopped_.insert(id);
  if (!told_to_stop_.contains(id))
    world_.broken(cat("worker ", id.str(), " is recorded as stopped, and nobody told it to"));
}

void Lives::moved(const core::JobPtr& job, bool is_end, MonoTime decided) {
  Life& life = lives_[job->id];
  if (life.ended) world_.broken(cat("I1: ", short_id(job->id), " changed after its end"));
  const core::JobPtr before = std::exchange(life.head, job);
  if (before == nullptr) {
    if (job->state != JobState::Pending || job->executions != 0)
      world_.broken(cat("I1: ", short_id(job->id), " begins as ", core::name(job->state)));
  } else {
    if (job->executions != before->executions) dispatched(life, *before, *job, decided);
    if (core::is_active(job->state) && job->requeue != core::Requeue::No) life.put_back = true;
    const bool started = job->state == JobState::Running && before->state != JobState::Running;
    if (started && processes_.run(job->current()) == nullptr) {
      world_.broken(cat("I9: ", to_string(job->current()), " is recorded as started and never was"));
    }
    if (core::is_active(before->state) && !core::is_active(job->state)) execution_ended(life, *job, decided);
    if (before->state == JobState::Pending && job->state == JobState::Pending) take_back_attempt(life, *before, *job);
  }
  check_attempts(life, *job);
  if (!is_end) return;
  life.ended = true;
  life.ended_at = world_.elapsed();
  ++ended_;
  job_ended(life, *job);
}

void Lives::dispatched(Life& life, const core::JobHead& before, const core::JobHead& job, MonoTime decided) {
  const std::string name = to_string(job.current());
  if (job.executions != before.executions + 1 || before.state != JobState::Pending ||
      job.state != JobState::Scheduled) {
    world_.broken(cat("I2: ", name, " is dispatched while its job is ", core::name(before.state)));
  }
  if (life.cancel_taken) world_.broken(cat(name, " is dispatched although the cancel of its job was acknowledged"));
  if (life.attempts >= job.max_attempts)
    world_.broken(cat(name, " is dispatched after ", life.attempts, " of ", job.max_attempts, " attempts"));
  if (life.attempts > 0 && !job.allow_retry)
    world_.broken(cat(name, " is dispatched, and its job must not be retried"));
  // Whoever set the wall clock meanwhile has made the stored time meaningless.
  if (life.back_off && life.back_off->wall_jumps == world_.wall_jumps() && decided < life.back_off->until) {
    world_.broken(cat(name, " is dispatched ", (life.back_off->until - decided).count() / 1000,
                      " ms before its back-off can have ended"));
  }
  life.back_off.reset();
  life.put_back = false;
}

void Lives::execution_ended(Life& life, const core::JobHead& job, MonoTime decided) {
  const std::string name = to_string(job.current());
  if (job.past == nullptr || job.past->executions.empty() || job.past->executions.back().number != job.executions) {
    return world_.broken(cat("I2: the newest execution on record is not ", name));
  }
  for (const ExecutionId& copy : processes_.running(job.id)) {
    world_.broken(cat("I5: ", short_id(job.id), " is ", core::name(job.state), " while ", to_string(copy), " runs"));
  }
  const core::Execution& last = job.past->executions.back();
  compare_end(job, last);
  const bool was_told_an_end = last.failure != "worker_lost";
  const bool failed = last.state == JobState::Failed || last.state == JobState::Timeout;
  const bool ran = last.started.is_set() || (failed && was_told_an_end);
  const bool interrupted = last.failure == "interrupted";
  if (interrupted) {
    ++life.interruptions;
  } else if (ran && last.failure != "evicted" && last.failure != "preempted") {
    life.interruptions = 0;
  }
  const bool is_one_too_many = interrupted && life.interruptions > 10 && job.attempts > life.attempts;
  const bool put_back = (life.put_back || stopped_.contains(last.worker)) && !is_one_too_many;
  const bool waits_again = job.state == JobState::Pending && last.state == JobState::Pending;
  if (ran) life.unstarted = 0;
  if (ran && !(put_back && waits_again)) {
    ++life.attempts;
    check_interruption(job, last, decided);
  }
  if (!ran && waits_again && !put_back) {
    life.back_off = BackOff{decided + shortest_dispatch_delay(++life.unstarted), world_.wall_jumps()};
  }
  if (was_told_an_end && failed && job.state == JobState::Pending) {
    life.back_off = BackOff{decided + shortest_back_off(job), world_.wall_jumps()};
  }
}

void Lives::supervisor_died(const std::string& machine) {
  std::erase_if(interrupted_, [&](const auto& each) { return each.second == machine; });
}

// The job was not to blame for its end, and whoever knew could say so.
void Lives::check_interruption(const core::JobHead& job, const core::Execution& last, MonoTime decided) {
  if (last.failure != "worker_lost" || last.state == JobState::Timeout || last.state == JobState::Cancelled) return;
  if (!interrupted_.contains(job.current())) return;
  const std::string name = to_string(job.current());
  if (last.reason.find("was silent for") == std::string::npos) {
    return world_.broken(cat(name, " ended because its worker was stopped, and counts: ", last.reason));
  }
  const auto heard = stops_heard_.find(last.worker);
  if (heard != stops_heard_.end() && heard->second < decided) {
    world_.broken(cat(name, " counts because its worker is silent, which had said that it stops"));
  }
}

// Its worker was silent for too long, then came back and said that it had been stopped.
void Lives::take_back_attempt(Life& life, const core::JobHead& before, const core::JobHead& job) {
  if (job.attempts == before.attempts) return;
  if (job.attempts + 1 != before.attempts || !ever_interrupted_.contains(job.current())) {
    return world_.broken(
        cat(short_id(job.id), " waits, and its attempts change from ", before.attempts, " to ", job.attempts));
  }
  --life.attempts;
}

void Lives::compare_end(const core::JobHead& job, const core::Execution& last) {
  const std::string name = to_string(job.current());
  const RealRun* run = processes_.run(job.current());
  const bool lost = last.failure == "worker_lost" || last.failure == "interrupted";
  const auto wrong = [&](const std::string& why) {
    world_.broken(cat("I2: ", name, " is recorded as ", core::name(last.state), ", ", why));
  };
  if (last.state == JobState::Succeeded || (last.state == JobState::Failed && !lost)) {
    if (run == nullptr) return wrong("and nobody ran it");
    if (run->failed_to_start) return last.state == JobState::Failed ? void() : wrong("and it failed to start");
    if (!run->end) return wrong("and it has not ended");
    const bool good = run->end->exit_code == 0 && run->end->signal == 0;
    if (good != (last.state == JobState::Succeeded) || last.exit_code.value_or(0) != run->end->exit_code ||
        last.signal != run->end->signal) {
      return wrong(cat("and it ended with code ", run->end->exit_code, ", signal ", run->end->signal));
    }
  }
  if (last.state == JobState::Cancelled && !lives_.at(job.id).cancel_sent) return wrong("and nobody asked for it");
  if (last.state == JobState::Timeout && !lost) {
    if (job.timeout == Duration(0)) return wrong("and has no time-out");
    if (run == nullptr || !run->end || run->end->at - run->started < job.timeout)
      return wrong("and did not run for so long");
  }
}

void Lives::check_attempts(const Life& life, const core::JobHead& job) {
  const uint32_t counted = life.attempts + (job.state == JobState::Running ? 1 : 0);
  if (job.attempts == counted) return;
  world_.broken(cat(short_id(job.id), " has made ", counted, " attempts, ", job.attempts, " are on record"));
}

void Lives::job_ended(Life& life, const core::JobHead& job) {
  const std::string name = short_id(job.id);
  const bool may_go_on = job.allow_retry && life.attempts < job.max_attempts;
  switch (job.state) {
    case JobState::Succeeded: break;
    case JobState::Cancelled:
      if (!life.cancel_sent) world_.broken(cat(name, " is cancelled, and nobody asked for it"));
      break;
    case JobState::Failed:
    case JobState::Timeout:
      if (life.attempts == 0) world_.broken(cat("I8: ", name, " never started and is ", core::name(job.state)));
      if (may_go_on && !life.cancel_sent)
        world_.broken(
            cat(name, " is ", core::name(job.state), " after ", life.attempts, " of ", job.max_attempts, " attempts"));
      break;
    default: world_.broken(cat("I1: ", name, " ends as ", core::name(job.state))); break;
  }
  if (!life.cancel_taken || job.state == JobState::Cancelled) return;
  // Something else ended it before the cancel could: then not long after it.
  if (world_.elapsed() > cancel_deadline(life))
    world_.broken(cat("the cancel of ", name, " was acknowledged and not carried out"));
}

Duration Lives::cancel_deadline(const Life& life) const {
  return std::max(*life.cancel_taken, trouble_ends_) + kCancelTakes;
}

void Lives::check_cancels() const {
  for (const auto& [job, life] : lives_) {
    if (!life.cancel_taken || life.ended || world_.elapsed() <= cancel_deadline(life)) continue;
    world_.broken(cat("the cancel of ", short_id(job), " was acknowledged and not carried out"));
  }
}

core::JobPtr Lives::head(JobId job) const {
  const auto it = lives_.find(job);
  return it == lives_.end() ? nullptr : it->second.head;
}

std::optional<Duration> Lives::ended_at(JobId job) const {
  const auto it = lives_.find(job);
  if (it == lives_.end() || !it->second.ended) return std::nullopt;
  return it->second.ended_at;
}

std::optional<JobId> Lives::unended() const {
  for (const auto& [job, life] : lives_) {
    if (life.told && !life.ended) return job;
  }
  return std::nullopt;
}

std::optional<ExecutionId> Lives::active_elsewhere(const WorkerId& worker, uint64_t random) const {
  std::vector<ExecutionId> found;
  for (const auto& [job, life] : lives_) {
    if (life.head != nullptr && core::is_active(life.head->state) && life.head->worker != worker)
      found.push_back(life.head->current());
  }
  if (found.empty()) return std::nullopt;
  return found[random % found.size()];
}

bool Lives::all_told_ended() const { return !unended(); }

}  // namespace hodei::sim
