#include "src/core/engine_harness.h"

#include "src/core/placement/rules/company.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {

void StoredRows::keep(const Write& write) {
  if (const auto* put = std::get_if<PutJob>(&write)) {
    jobs[put->job->id] = put->job;
    head_bytes += put->job->past == nullptr ? 0 : encode(*put->job->past).size();
  }
  if (const auto* put = std::get_if<PutExecution>(&write)) {
    const bool is_new = shelf.emplace(ExecutionId{put->job, put->shelved->execution.number}, *put->shelved).second;
    EXPECT_TRUE(is_new) << "an execution is shelved once";
    shelved_bytes += encode(*put->shelved).size();
  }
  if (const auto* drop = std::get_if<DropExecutions>(&write)) {
    std::erase_if(shelf, [&](const auto& row) { return row.first.job == drop->job && row.first.number < drop->below; });
  }
  if (const auto* erase = std::get_if<EraseJob>(&write)) {
    EXPECT_FALSE(jobs.contains(erase->job)) << "a live job is not erased";
    done.erase(erase->job);
    std::erase_if(shelf, [&](const auto& row) { return row.first.job == erase->job; });
  }
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
  if (const auto* gone = std::get_if<DeleteIdempotency>(&write)) {
    std::erase_if(idempotency, [&](const auto& row) { return row.first == gone->key && row.second.job == gone->job; });
  }
  if (const auto* put = std::get_if<PutScheduler>(&write)) scheduler = put->config;
  if (const auto* put = std::get_if<PutNextJob>(&write)) next_job = put->next;
}

void StoredRows::load(Engine& engine) const {
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

Bench::Bench(EngineConfig config) : config_(config) {
  engine_ = std::make_unique<Engine>(config_);
  engine_->restored(now);
}

absl::StatusOr<Reply> Bench::decide(const Command& command) {
  last = Turn{};
  absl::StatusOr<Reply> reply = engine_->decide(command, now, last);
  for (const Write& write : last.writes) rows.keep(write);
  for (const Effect& effect : last.effects) effects.push_back(effect);
  const bool quiet = std::holds_alternative<Tick>(command) && last.writes.empty();
  if (checks && !quiet) check();
  if (checks) watch_.look(engine_->state(), last, now.mono);
  return reply;
}

void Bench::advance(Duration by) {
  const MonoTime end = now.mono + by;
  while (now.mono < end) {
    const MonoTime next = std::min({end, now.mono + 1s, std::max(engine_->next_wakeup(), now.mono + 1ms)});
    const Duration step = next - now.mono;
    now = {now.wall + step, next};
    if (now.mono.us / 10'000'000 != (now.mono - step).us / 10'000'000) beat();
    if (engine_->next_wakeup() <= now.mono) decide(Tick{}).IgnoreError();
  }
}

void Bench::restart() {
  engine_ = std::make_unique<Engine>(config_);
  rows.load(*engine_);
  engine_->restored(now);
  check();
}

const JobHead& Bench::job(JobId id) const {
  const auto live = rows.jobs.find(id);
  return live != rows.jobs.end() ? *live->second : *rows.done.at(id);
}

std::vector<Transition> Bench::history(JobId id) const {
  std::vector<Transition> out;
  for (auto at = rows.shelf.lower_bound({id, 0}); at != rows.shelf.end() && at->first.job == id; ++at) {
    out.insert(out.end(), at->second.transitions.begin(), at->second.transitions.end());
  }
  if (job(id).past == nullptr) return out;
  const std::vector<Transition>& newest = job(id).past->transitions;
  EXPECT_EQ(out.size(), job(id).past->shelved_transitions);
  out.insert(out.end(), newest.begin(), newest.end());
  return out;
}

int64_t Bench::held(const std::string& key, const std::string& ns) const {
  const auto it = engine_->state().keys().all().find({ns, key});
  return it == engine_->state().keys().all().end() ? 0 : it->second.held;
}

void Bench::beat() {
  for (const std::string& id : beating) {
    decide(Heartbeat{WorkerId(id), streams.at(id), now.mono.us}).IgnoreError();
  }
}

JobId Bench::submit(const JobOrder& order) { return ask<Submitted>(Submit{{order.made()}}).jobs.at(0).job; }

JobState Bench::cancel(JobId job, std::string reason) { return ask<CancelTaken>(Cancel{job, std::move(reason)}).state; }

Explanation Bench::explain(JobId job) { return ask<Explanation>(Question{ExplainJob{job}}); }

QueueReport Bench::queue() { return ask<QueueReport>(Question{DescribeQueue{}}); }

Bench::~Bench() = default;

Hand& Hand::joins(WorkerOrder order) {
  order.info.id = id();
  const uint64_t n = ++bench_.numbers;
  const Hash128 token = hash128(cat("token ", n));
  bench_.sessions[id_] = hash128(cat("session ", n));
  bench_.ask<OtpMade>(MakeOtp{token, id()});
  bench_.ask<Registered>(
      RegisterWorker{token, {}, bench_.sessions[id_], order.info, cat("incarnation ", n), cat("folder-of-", id_), n});
  return returns();
}

Hand& Hand::returns(std::vector<HeldExecution> held) {
  bench_.streams[id_] = ++bench_.numbers;
  bench_.beating.insert(id_);
  const Incarnation who = parse_incarnation(bench_.rows.workers.at(id())->incarnation);
  bench_.ask<StreamOpened>(
      OpenStream{bench_.sessions[id_], who.id, stream(), std::move(held), who.lineage, who.generation});
  return *this;
}

Hand& Hand::restarts(std::vector<HeldExecution> held) {
  const uint64_t n = bench_.streams[id_] = ++bench_.numbers;
  bench_.beating.insert(id_);
  bench_.ask<StreamOpened>(
      OpenStream{bench_.sessions[id_], cat("incarnation ", n), stream(), std::move(held), cat("folder-of-", id_), n});
  return *this;
}

Hand& Hand::restarts_after_a_stop(std::vector<HeldExecution> held, bool elsewhere) {
  const std::string before = parse_incarnation(bench_.rows.workers.at(id())->incarnation).id;
  const uint64_t n = bench_.streams[id_] = ++bench_.numbers;
  bench_.beating.insert(id_);
  OpenStream hello{bench_.sessions[id_], cat("incarnation ", n), stream(), std::move(held), cat("folder-of-", id_), n};
  if (elsewhere) hello.lineage = cat("another-folder-of-", id_);
  hello.stopped = {"long-ago", before};
  bench_.ask<StreamOpened>(hello);
  return *this;
}

absl::Status Hand::appears(const Incarnation& who) {
  const uint64_t stream = ++bench_.numbers;
  const absl::Status answer =
      bench_.refused(OpenStream{bench_.sessions[id_], who.id, stream, {}, who.lineage, who.generation});
  if (answer.ok()) bench_.streams[id_] = stream;
  return answer;
}

Hand& Hand::stops() {
  bench_.ask<Done>(WorkerStops{id(), stream()});
  return *this;
}

Hand& Hand::closes() {
  bench_.beating.erase(id_);
  bench_.ask<Done>(CloseStream{id(), stream()});
  return *this;
}

Hand& Hand::starts(JobId job) {
  EXPECT_TRUE(reports({.started = {{bench_.current(job), bench_.now.wall}}}).ok());
  return *this;
}

Hand& Hand::takes(JobId job) {
  EXPECT_EQ(bench_.state(job), JobState::Scheduled) << short_id(job);
  EXPECT_EQ(bench_.where(job), id_) << short_id(job);
  return starts(job);
}

Hand& Hand::finishes(JobId job, Outcome outcome) {
  ResultReport result;
  result.execution = bench_.current(job);
  result.outcome = outcome;
  result.exit_code = outcome == Outcome::Succeeded ? 0 : 1;
  result.started = bench_.now.wall;
  result.ended = bench_.now.wall;
  EXPECT_TRUE(reports({.results = {result}}).ok());
  return *this;
}

Hand& Hand::goes_silent() {
  bench_.beating.erase(id_);
  return *this;
}

Hand& Hand::beats(double cpu_load) {
  bench_.beating.insert(id_);
  bench_.ask<HeartbeatTaken>(Heartbeat{id(), stream(), bench_.now.mono.us, cpu_load});
  return *this;
}

absl::StatusOr<Reply> Hand::reports(Report report) {
  report.worker = id();
  report.stream = stream();
  return bench_.decide(report);
}

uint64_t Hand::stream() const { return bench_.streams.at(id_); }

const LiveWorker& Hand::live() const { return *bench_.engine().state().workers().at(id()); }

void Bench::check() {
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
    EXPECT_TRUE(serves(rows.workers.at(run->worker)->info, state.job(run->execution.job)->head->ns.str()))
        << run->worker.str() << " was given another namespace's " << to_string(run->execution);
  }
  for (const auto& [name, key] : state.keys().all()) EXPECT_GE(key.held, 0) << name.second;
  for (const auto& [id, live] : state.jobs()) check_waiting(live);
}

// Taints may have changed since it was placed: only NoExecute ends what runs.
void Bench::check_running(const JobHead& head, const LiveWorker& worker) const {
  WorkerInfo info = worker.record->info;
  std::erase_if(info.taints, [](const Taint& t) { return t.effect != TaintEffect::NoExecute; });
  if (head.cancel_requested || head.timeout_requested || head.requeue != Requeue::No) return;
  EXPECT_FALSE(first_rejection(*head.shape, info)) << worker.id().str() << " has " << to_string(head.current());
}

void Bench::check_waiting(const LiveJob& live) const {
  const JobHead& head = *live.head;
  const State& state = engine_->state();
  if (head.state != JobState::Pending || live.where == LiveJob::Where::Delayed) return;
  const auto key = state.keys().all().find({head.ns.str(), head.concurrency_key});
  if (!head.concurrency_key.empty() && key != state.keys().all().end() && key->second.room(now.mono) <= 0) return;
  if (!state.roster().find_tenant(head.ns)->admits(head.shape->needs)) return;
  for (const auto& [id, worker] : state.workers()) {
    if (!worker->available() || !worker->has_slot() || !worker->free().covers(head.shape->needs)) continue;
    if (!serves(worker->record->info, head.ns.str()) || first_rejection(*head.shape, worker->record->info)) continue;
    if (rejects_company(*head.shape, *worker)) continue;
    const LaneKey lane = live.lane->key();
    if (worker->reserved.priority >= lane.priority && worker->reserved != lane) continue;
    const Fit fit = in_company(*head.shape, fit_of(*head.shape, worker->record->info), *worker);
    if (!is_kept(worker->rank, fit, state.scheduler())) continue;
    ADD_FAILURE() << short_id(head.id) << " waits though " << id.str() << " has room for it";
  }
}

}  // namespace hodei::core
