// For the tests of the engine: a bench on which jobs, workers and time are moved by hand.
//
// After every decision it checks what must hold always: an engine loaded from the stored rows has the same digest, no
// worker has more than it can take or what a rule forbids, no quota is exceeded that was not lowered, and nothing waits
// that could run.
#pragma once

#include <map>
#include <ostream>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/core/engine.h"
#include "src/core/engine_orders.h"
#include "src/core/placement/rules/company.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/placement/rules/taints.h"
#include "src/core/watch_harness.h"

namespace hodei {

inline void PrintTo(JobId id, std::ostream* out) { *out << short_id(id); }

namespace core {

inline void PrintTo(JobState s, std::ostream* out) { *out << name(s); }
inline void PrintTo(WorkerState s, std::ostream* out) { *out << name(s); }

// The rows that a store would hold.
class StoredRows {
 public:
  void keep(const Write& write) {
    if (const auto* put = std::get_if<PutJob>(&write)) jobs[put->job->id] = put->job;
    if (const auto* finish = std::get_if<FinishJob>(&write)) {
      jobs.erase(finish->job->id);
      done[finish->job->id] = finish->job;
    }
    if (const auto* put = std::get_if<PutWorker>(&write)) workers[put->worker->info.id] = put->worker;
    if (const auto* gone = std::get_if<DeleteWorker>(&write)) workers.erase(gone->worker);
    if (const auto* put = std::get_if<PutOtp>(&write)) otps[put->otp.token] = put->otp;
    if (const auto* gone = std::get_if<DeleteOtp>(&write)) otps.erase(gone->token);
    if (const auto* put = std::get_if<PutTemplate>(&write)) templates[{put->row.ns, put->row.name}] = put->row;
    if (const auto* put = std::get_if<PutSetting>(&write)) settings[{put->row.kind, put->row.name}] = put->row;
    if (const auto* gone = std::get_if<DeleteSetting>(&write)) settings.erase({gone->kind, gone->name});
    if (const auto* put = std::get_if<PutSecret>(&write)) secrets[{put->row.ns, put->row.name}] = put->row;
    if (const auto* gone = std::get_if<DeleteSecret>(&write)) secrets.erase({gone->ns, gone->name});
    if (const auto* put = std::get_if<PutAudit>(&write)) audit.push_back(put->row);
    if (const auto* gone = std::get_if<DeleteTemplate>(&write)) templates.erase({gone->ns, gone->name});
    if (const auto* put = std::get_if<PutKeyLimit>(&write)) limits[{put->row.ns, put->row.key}] = put->row;
    if (const auto* gone = std::get_if<DeleteKeyLimit>(&write)) limits.erase({gone->ns, gone->key});
    if (const auto* put = std::get_if<PutIdempotency>(&write)) idempotency[put->row.key] = put->row;
    if (const auto* old = std::get_if<ExpireIdempotency>(&write)) {
      std::erase_if(idempotency, [&](const auto& row) { return row.second.expires < old->before; });
    }
    if (const auto* put = std::get_if<PutScheduler>(&write)) scheduler = put->config;
    if (const auto* put = std::get_if<PutNextJob>(&write)) next_job = put->next;
  }

  // In the order of store::Store::load, through the column forms of what is packed.
  void load(Engine& engine) const {
    if (scheduler) engine.restore(PutScheduler{*scheduler});
    engine.restore(PutNextJob{next_job});
    if (!audit.empty()) engine.restore(PutAudit{audit.back()});
    for (const auto& [name, row] : settings) engine.restore(PutSetting{row});
    for (const auto& [name, row] : secrets) engine.restore(PutSecret{row});
    for (const auto& [name, row] : templates) engine.restore(PutTemplate{row});
    for (const auto& [name, row] : limits) engine.restore(PutKeyLimit{row});
    for (const auto& [token, row] : otps) engine.restore(PutOtp{row});
    for (const auto& [key, row] : idempotency) engine.restore(PutIdempotency{row});
    for (const auto& [id, row] : workers) {
      auto record = std::make_shared<WorkerRecord>(*row);
      record->info = decode_worker_info(encode(row->info));
      engine.restore(PutWorker{record});
    }
    for (const auto& [id, job] : jobs) {
      auto head = std::make_shared<JobHead>(*job);
      head->shape = std::make_shared<Shape>(decode_shape(job->shape->encoded));
      if (job->past != nullptr) head->past = decode_past(encode(*job->past));
      engine.restore(PutJob{head});
    }
  }

  using Name = std::pair<std::string, std::string>;
  std::map<JobId, JobPtr> jobs, done;
  std::map<WorkerId, WorkerRecordPtr> workers;
  std::map<Hash128, OtpRow> otps;
  std::map<Name, TemplateRow> templates;
  std::map<std::pair<SettingKind, std::string>, SettingRow> settings;
  std::map<Name, SecretRow> secrets;
  std::vector<AuditRow> audit;
  std::map<Name, KeyLimitRow> limits;
  std::map<Hash128, IdempotencyRow> idempotency;
  std::optional<SchedulerConfig> scheduler;
  uint64_t next_job = 1;
};

class Bench;

// One worker, as it behaves on the bench. A cheap handle: the bench keeps what it knows.
class Hand {
 public:
  Hand(Bench& bench, std::string id) : bench_(bench), id_(std::move(id)) {}

  Hand& joins(uint32_t slots = 1) { return joins(a_worker().slots(slots)); }
  Hand& joins(WorkerOrder order);                                     // token, registration, stream
  Hand& returns(std::vector<HeldExecution> held = {});                // a new stream with this hello
  Hand& closes();                                                     // its stream ends
  Hand& starts(JobId job);
  Hand& takes(JobId job);                                             // it was sent the job, and starts it
  Hand& finishes(JobId job, Outcome outcome = Outcome::Succeeded);
  Hand& fails(JobId job) { return finishes(job, Outcome::Failed); }
  Hand& goes_silent();                                                // no heartbeats any more
  Hand& beats(double cpu_load = 0);
  absl::StatusOr<Reply> reports(Report report);                       // on its stream

  WorkerId id() const { return WorkerId(id_); }
  uint64_t stream() const;
  const LiveWorker& live() const;

 private:
  Bench& bench_;
  std::string id_;
};

class Bench {
 public:
  explicit Bench(EngineConfig config = {}) : config_(config) {
    engine_ = std::make_unique<Engine>(config_);
    engine_->restored(now);
  }

  absl::StatusOr<Reply> decide(const Command& command) {
    last = Turn{};
    absl::StatusOr<Reply> reply = engine_->decide(command, now, last);
    for (const Write& write : last.writes) rows.keep(write);
    for (const Effect& effect : last.effects) effects.push_back(effect);
    const bool quiet = std::holds_alternative<Tick>(command) && last.writes.empty();
    if (checks && !quiet) check();
    if (checks) watch_.look(engine_->state(), last, now.mono);
    return reply;
  }
  // A command that must work, and its answer.
  template <class Answer>
  Answer ask(const Command& command) {
    absl::StatusOr<Reply> reply = decide(command);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? std::get<Answer>(*std::move(reply)) : Answer{};
  }
  absl::Status refused(const Command& command) { return decide(command).status(); }

  JobId submit(const JobOrder& order) { return ask<Submitted>(Submit{{order.made()}}).jobs.at(0).job; }
  JobState cancel(JobId job, std::string reason = "") { return ask<CancelTaken>(Cancel{job, std::move(reason)}).state; }
  Hand worker(std::string id) { return {*this, std::move(id)}; }
  Explanation explain(JobId job) { return ask<Explanation>(Question{ExplainJob{job}}); }
  QueueReport queue() { return ask<QueueReport>(Question{DescribeQueue{}}); }

  // Time passes: everything that is due happens, and workers that are not silent send their heartbeats.
  void advance(Duration by) {
    const MonoTime end = now.mono + by;
    while (now.mono < end) {
      const MonoTime next = std::min({end, now.mono + 1s, std::max(engine_->next_wakeup(), now.mono + 1ms)});
      const Duration step = next - now.mono;
      now = {now.wall + step, next};
      if (now.mono.us / 10'000'000 != (now.mono - step).us / 10'000'000) beat();
      if (engine_->next_wakeup() <= now.mono) decide(Tick{}).IgnoreError();
    }
  }

  // The server dies and another one loads what is stored; every stream is gone.
  void restart() {
    engine_ = std::make_unique<Engine>(config_);
    rows.load(*engine_);
    engine_->restored(now);
    check();
  }

  const JobHead& job(JobId id) const {
    const auto live = rows.jobs.find(id);
    return live != rows.jobs.end() ? *live->second : *rows.done.at(id);
  }
  JobState state(JobId id) const { return job(id).state; }
  ExecutionId current(JobId id) const { return job(id).current(); }
  std::string where(JobId id) const { return job(id).worker.str(); }
  std::vector<Transition> history(JobId id) const {
    return job(id).past == nullptr ? std::vector<Transition>() : job(id).past->transitions;
  }
  int64_t held(const std::string& key, const std::string& ns = "default") const {
    const auto it = engine_->state().keys().all().find({ns, key});
    return it == engine_->state().keys().all().end() ? 0 : it->second.held;
  }
  Engine& engine() { return *engine_; }

  // Every effect of one kind so far.
  template <class E>
  std::vector<E> told() const {
    std::vector<E> out;
    for (const Effect& effect : effects) {
      if (const E* one = std::get_if<E>(&effect)) out.push_back(*one);
    }
    return out;
  }

  void check();
  void beat() {
    for (const std::string& id : beating) {
      decide(Heartbeat{WorkerId(id), streams.at(id), now.mono.us}).IgnoreError();
    }
  }

  Now now{{1'800'000'000'000'000}, {1'000'000'000}};
  StoredRows rows;
  Turn last;                                    // what the newest decision wanted
  std::vector<Effect> effects;
  bool checks = true;

  // Of the workers.
  std::set<std::string> beating;
  std::map<std::string, uint64_t> streams;
  std::map<std::string, Hash128> sessions;
  uint64_t numbers = 0;

 private:
  void check_running(const JobHead& head, const LiveWorker& worker) const;
  void check_waiting(const LiveJob& live) const;
  Watch watch_;
  const EngineConfig config_;
  std::unique_ptr<Engine> engine_;
};

inline Hand& Hand::joins(WorkerOrder order) {
  order.info.id = id();
  const uint64_t n = ++bench_.numbers;
  const Hash128 token = hash128(cat("token ", n));
  bench_.sessions[id_] = hash128(cat("session ", n));
  bench_.ask<OtpMade>(MakeOtp{token, id()});
  bench_.ask<Registered>(RegisterWorker{token, {}, bench_.sessions[id_], order.info, cat("incarnation ", n)});
  return returns();
}

inline Hand& Hand::returns(std::vector<HeldExecution> held) {
  bench_.streams[id_] = ++bench_.numbers;
  bench_.beating.insert(id_);
  const auto record = bench_.rows.workers.at(id());
  bench_.ask<StreamOpened>(OpenStream{bench_.sessions[id_], record->incarnation, stream(), std::move(held)});
  return *this;
}

inline Hand& Hand::closes() {
  bench_.beating.erase(id_);
  bench_.ask<Done>(CloseStream{id(), stream()});
  return *this;
}

inline Hand& Hand::starts(JobId job) {
  EXPECT_TRUE(reports({.started = {{bench_.current(job), bench_.now.wall}}}).ok());
  return *this;
}

inline Hand& Hand::takes(JobId job) {
  EXPECT_EQ(bench_.state(job), JobState::Scheduled) << short_id(job);
  EXPECT_EQ(bench_.where(job), id_) << short_id(job);
  return starts(job);
}

inline Hand& Hand::finishes(JobId job, Outcome outcome) {
  ResultReport result;
  result.execution = bench_.current(job);
  result.outcome = outcome;
  result.exit_code = outcome == Outcome::Succeeded ? 0 : 1;
  result.started = bench_.now.wall;
  result.ended = bench_.now.wall;
  EXPECT_TRUE(reports({.results = {result}}).ok());
  return *this;
}

inline Hand& Hand::goes_silent() {
  bench_.beating.erase(id_);
  return *this;
}

inline Hand& Hand::beats(double cpu_load) {
  bench_.beating.insert(id_);
  bench_.ask<Done>(Heartbeat{id(), stream(), bench_.now.mono.us, cpu_load});
  return *this;
}

inline absl::StatusOr<Reply> Hand::reports(Report report) {
  report.worker = id();
  report.stream = stream();
  return bench_.decide(report);
}

inline uint64_t Hand::stream() const { return bench_.streams.at(id_); }

inline const LiveWorker& Hand::live() const { return *bench_.engine().state().workers().at(id()); }

inline void Bench::check() {
  Engine fresh(config_);
  rows.load(fresh);
  EXPECT_EQ(fresh.digest(), engine_->digest()) << "memory and stored rows differ";
  const State& state = engine_->state();
  for (const auto& [id, worker] : state.workers()) {
    EXPECT_LE(worker->executions.size(), worker->record->info.slots) << id.str() << " has more than its slots";
    EXPECT_TRUE(worker->record->info.capacity.covers(worker->used)) << id.str() << " has more than its capacity";
    for (const ExecutionId& execution : worker->executions) check_running(*state.job(execution.job)->head, *worker);
  }
  for (const Effect& effect : last.effects) {
    const RunExecution* run = std::get_if<RunExecution>(&effect);
    if (run == nullptr || state.job(run->execution.job) == nullptr) continue;
    EXPECT_FALSE(first_rejection(*state.job(run->execution.job)->head->shape, rows.workers.at(run->worker)->info))
        << run->worker.str() << " was given " << to_string(run->execution);
  }
  for (const auto& [name, key] : state.keys().all()) EXPECT_GE(key.held, 0) << name.second;
  for (const auto& [id, live] : state.jobs()) check_waiting(live);
}

// Taints may have changed since it was placed: only NoExecute ends what runs.
inline void Bench::check_running(const JobHead& head, const LiveWorker& worker) const {
  WorkerInfo info = worker.record->info;
  std::erase_if(info.taints, [](const Taint& t) { return t.effect != TaintEffect::NoExecute; });
  if (head.cancel_requested || head.timeout_requested || head.requeue != Requeue::No) return;
  EXPECT_FALSE(first_rejection(*head.shape, info)) << worker.id().str() << " has " << to_string(head.current());
}

inline void Bench::check_waiting(const LiveJob& live) const {
  const JobHead& head = *live.head;
  const State& state = engine_->state();
  if (head.state != JobState::Pending || live.where == LiveJob::Where::Delayed) return;
  const auto key = state.keys().all().find({head.ns.str(), head.concurrency_key});
  if (!head.concurrency_key.empty() && key != state.keys().all().end() && key->second.room(now.mono) <= 0) return;
  if (!state.roster().find_tenant(head.ns)->admits(head.shape->needs)) return;
  for (const auto& [id, worker] : state.workers()) {
    if (!worker->available() || !worker->has_slot() || !worker->free().covers(head.shape->needs)) continue;
    if (first_rejection(*head.shape, worker->record->info)) continue;
    if (rejects_company(*head.shape, *worker)) continue;
    const LaneKey lane = live.lane->key();
    if (worker->reserved.priority >= lane.priority && worker->reserved != lane) continue;
    Fit fit = fit_of(*head.shape, worker->record->info);
    fit.affinity *= company_share(*head.shape, *worker);
    if (!is_kept(worker->rank, fit, state.scheduler())) continue;
    ADD_FAILURE() << short_id(head.id) << " waits though " << id.str() << " has room for it";
  }
}

}  // namespace core
}  // namespace hodei
