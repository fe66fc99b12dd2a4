#include "src/core/engine_harness.h"

#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/placement/rules/taints.h"

namespace hodei::core {

namespace {

template <class... Maps>
struct KeepInMap {
  std::tuple<Maps...>& maps;

  template <class Row>
  void operator()(const Put<Row>& put) const {
    if constexpr ((std::is_same_v<Maps, std::map<KeyOf<Row>, Row>> || ...))
      std::get<std::map<KeyOf<Row>, Row>>(maps).insert_or_assign(key_of(*put.row), *put.row);
  }
  template <class Row>
  void operator()(const Erase<Row>& gone) const {
    if constexpr ((std::is_same_v<Maps, std::map<KeyOf<Row>, Row>> || ...))
      std::get<std::map<KeyOf<Row>, Row>>(maps).erase(gone.key);
  }
  template <class Verb>
  void operator()(const Verb&) const {}
};
template <class... Maps>
KeepInMap(std::tuple<Maps...>&) -> KeepInMap<Maps...>;

}  // namespace

void StoredRows::keep(const Write& write) {
  std::visit(KeepInMap{others}, write);
  if (const auto* put = std::get_if<PutJob>(&write)) {
    jobs[put->job->id] = put->job;
    head_bytes += put->job->past == nullptr ? 0 : encode(*put->job->past).size();
  }
  if (const auto* put = std::get_if<PutExecution>(&write)) {
    const bool is_new = archived.emplace(ExecutionId{put->job, put->archived->execution.number}, *put->archived).second;
    EXPECT_TRUE(is_new) << "an execution is archived once";
    archived_bytes += encode(*put->archived).size();
  }
  if (const auto* drop = std::get_if<DropExecutions>(&write)) {
    std::erase_if(archived,
                  [&](const auto& row) { return row.first.job == drop->job && row.first.number < drop->below; });
  }
  if (const auto* erase = std::get_if<EraseJob>(&write)) {
    EXPECT_FALSE(jobs.contains(erase->job)) << "a live job is not erased";
    done.erase(erase->job);
    std::erase_if(archived, [&](const auto& row) { return row.first.job == erase->job; });
  }
  if (const auto* finish = std::get_if<FinishJob>(&write)) {
    jobs.erase(finish->job->id);
    done[finish->job->id] = finish->job;
  }
  if (const auto* put = std::get_if<Put<WorkerRecord>>(&write)) workers[put->row->info.id] = put->row;
  if (const auto* gone = std::get_if<Erase<WorkerRecord>>(&write)) workers.erase(gone->key);
  if (const auto* put = std::get_if<Put<OtpRow>>(&write)) otps[put->row->token] = *put->row;
  if (const auto* gone = std::get_if<Erase<OtpRow>>(&write)) otps.erase(gone->key);
  if (const auto* put = std::get_if<Put<TemplateRow>>(&write)) templates[key_of(*put->row)] = *put->row;
  if (const auto* put = std::get_if<Put<ProviderRow>>(&write)) providers[put->row->name] = *put->row;
  if (const auto* gone = std::get_if<Erase<ProviderRow>>(&write)) providers.erase(gone->key);
  if (const auto* put = std::get_if<Put<PoolRow>>(&write)) pools[put->row->name] = *put->row;
  if (const auto* gone = std::get_if<Erase<PoolRow>>(&write)) pools.erase(gone->key);
  if (const auto* put = std::get_if<Put<TenantRow>>(&write)) tenants[put->row->ns] = *put->row;
  if (const auto* gone = std::get_if<Erase<TenantRow>>(&write)) tenants.erase(gone->key);
  if (const auto* put = std::get_if<Put<UserRow>>(&write)) users[put->row->name] = *put->row;
  if (const auto* gone = std::get_if<Erase<UserRow>>(&write)) users.erase(gone->key);
  if (const auto* put = std::get_if<Put<GroupRow>>(&write)) groups[put->row->name] = *put->row;
  if (const auto* gone = std::get_if<Erase<GroupRow>>(&write)) groups.erase(gone->key);
  if (const auto* put = std::get_if<Put<KeyRule>>(&write)) key_rules[key_of(*put->row)] = *put->row;
  if (const auto* gone = std::get_if<Erase<KeyRule>>(&write)) key_rules.erase(gone->key);
  if (const auto* put = std::get_if<Put<AuditRow>>(&write)) audit.push_back(*put->row);
  if (const auto* gone = std::get_if<Erase<TemplateRow>>(&write)) templates.erase(gone->key);
  if (const auto* put = std::get_if<Put<KeyLimitRow>>(&write)) limits[key_of(*put->row)] = *put->row;
  if (const auto* gone = std::get_if<Erase<KeyLimitRow>>(&write)) limits.erase(gone->key);
  if (const auto* put = std::get_if<Put<IdempotencyRow>>(&write)) idempotency[put->row->key] = *put->row;
  if (const auto* old = std::get_if<ExpireIdempotency>(&write)) {
    std::erase_if(idempotency, [&](const auto& row) { return row.second.expires < old->before; });
  }
  if (const auto* gone = std::get_if<EraseIdempotency>(&write)) {
    std::erase_if(idempotency, [&](const auto& row) { return row.first == gone->key && row.second.job == gone->job; });
  }
  if (const auto* put = std::get_if<PutScheduler>(&write)) scheduler = put->config;
  if (const auto* put = std::get_if<PutNextJob>(&write)) next_job = put->next;
}

void StoredRows::load(Engine& engine) const {
  if (scheduler) engine.restore(PutScheduler{*scheduler});
  engine.restore(PutNextJob{next_job});
  if (!audit.empty()) engine.restore(Put<AuditRow>{audit.back()});
  for (const auto& [name, row] : providers) engine.restore(Put<ProviderRow>{decode_provider(encode(row))});
  for (const auto& [name, row] : groups) engine.restore(Put<GroupRow>{decode_group(encode(row))});
  for (const auto& [name, row] : users) engine.restore(Put<UserRow>{decode_user(encode(row))});
  for (const auto& [name, row] : pools) engine.restore(Put<PoolRow>{decode_pool(encode(row))});
  for (const auto& [ns, row] : tenants) engine.restore(Put<TenantRow>{decode_tenant(encode(row))});
  for (const auto& [name, rule] : key_rules) engine.restore(Put<KeyRule>{decode_key_rule(encode(rule))});
  for (const auto& [name, row] : limits) engine.restore(Put<KeyLimitRow>{row});
  for (const auto& [name, row] : templates) engine.restore(Put<TemplateRow>{row});
  for (const auto& [key, row] : idempotency) engine.restore(Put<IdempotencyRow>{row});
  for (const auto& [token, row] : otps) engine.restore(Put<OtpRow>{row});
  std::apply(
      [&](const auto&... maps) {
        const auto restore_all = [&]<class Key, class Row>(const std::map<Key, Row>& map) {
          for (const auto& [key, row] : map) engine.restore(Put<Row>{row});
        };
        (restore_all(maps), ...);
      },
      others);
  for (const auto& [id, row] : workers) {
    auto record = std::make_shared<WorkerRecord>(*row);
    record->info = decode_worker_info(encode(row->info));
    engine.restore(Put<WorkerRecord>{record});
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

absl::StatusOr<Reply> Bench::decide(const Command& command) { return decide_as("", command); }

absl::StatusOr<Reply> Bench::decide_as(std::string principal, const Command& command) {
  last = Turn{};
  Envelope envelope;
  envelope.principal.name = std::move(principal);
  absl::StatusOr<Reply> reply = engine_->decide(command, envelope, now, last);
  for (const Write& write : last.writes) rows.keep(write);
  for (const Effect& effect : last.effects) effects.push_back(effect);
  const bool quiet = std::holds_alternative<Tick>(command) && last.writes.empty();
  if (checks && !quiet) check();
  if (checks) watch_.look(engine_->modules(), last, now.mono);
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
  for (auto at = rows.archived.lower_bound({id, 0}); at != rows.archived.end() && at->first.job == id; ++at) {
    out.insert(out.end(), at->second.transitions.begin(), at->second.transitions.end());
  }
  if (job(id).past == nullptr) return out;
  const std::vector<Transition>& newest = job(id).past->transitions;
  EXPECT_EQ(out.size(), job(id).past->archived_transitions);
  out.insert(out.end(), newest.begin(), newest.end());
  return out;
}

int64_t Bench::held(const std::string& key, const std::string& ns) const {
  const auto it = engine_->modules().placement.keys.all().find({ns, key});
  return it == engine_->modules().placement.keys.all().end() ? 0 : it->second.held;
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

const LiveWorker& Hand::live() const { return *bench_.engine().modules().fleet.workers.all().at(id()); }

void Bench::check() {
  Engine fresh(config_);
  rows.load(fresh);
  EXPECT_EQ(fresh.digest(), engine_->digest()) << "memory and stored rows differ";
  const Modules& modules = engine_->modules();
  const JobTable& live_jobs = modules.jobs.table;
  for (const auto& [id, worker] : modules.fleet.workers.all()) {
    EXPECT_LE(worker->executions.size(), worker->record->info.slots) << id.str() << " has more than its slots";
    EXPECT_TRUE(worker->record->info.capacity.covers(worker->used)) << id.str() << " has more than its capacity";
    for (const ExecutionId& execution : worker->executions)
      check_running(*live_jobs.find(execution.job)->head, *worker);
  }
  for (const Effect& effect : last.effects) {
    const RunExecution* run = std::get_if<RunExecution>(&effect);
    if (run == nullptr || live_jobs.find(run->execution.job) == nullptr) continue;
    EXPECT_FALSE(first_rejection(*live_jobs.find(run->execution.job)->head->shape, rows.workers.at(run->worker)->info))
        << run->worker.str() << " was given " << to_string(run->execution);
    EXPECT_TRUE(serves(rows.workers.at(run->worker)->info, live_jobs.find(run->execution.job)->head->ns.str()))
        << run->worker.str() << " was given another namespace's " << to_string(run->execution);
  }
  for (const auto& [name, key] : modules.placement.keys.all()) EXPECT_GE(key.held, 0) << name.second;
  for (const auto& [id, live] : live_jobs.all()) check_waiting(live);
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
  const Modules& modules = engine_->modules();
  const Placement& placement = modules.placement;
  if (head.state != JobState::Pending || live.where == LiveJob::Where::Delayed) return;
  const auto key = placement.keys.all().find({head.ns.str(), head.concurrency_key});
  if (!head.concurrency_key.empty() && key != placement.keys.all().end() && key->second.room(now.mono) <= 0) return;
  if (!placement.roster.tenants.find(head.ns)->admits(head.shape->needs)) return;
  for (const auto& [id, worker] : modules.fleet.workers.all()) {
    if (!worker->available() || !worker->has_slot() || !worker->free().covers(head.shape->needs)) continue;
    if (!serves(worker->record->info, head.ns.str()) || first_rejection(*head.shape, worker->record->info)) continue;
    if (rejects_affinity(*head.shape, *worker)) continue;
    const LaneKey lane = live.lane->key();
    if (worker->reserved.priority >= lane.priority && worker->reserved != lane) continue;
    const Fit fit = with_affinity(*head.shape, fit_of(*head.shape, worker->record->info), *worker);
    if (!is_kept(worker->rank, fit, placement.scheduler.config())) continue;
    ADD_FAILURE() << short_id(head.id) << " waits though " << id.str() << " has room for it";
  }
}

}  // namespace hodei::core
