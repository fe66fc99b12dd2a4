// Any commands in any order: memory equals what is stored, no worker gets what it must not, nothing waits that could
// run, and a job that has ended stays as it is. The bench checks all of that after every decision.
#include <random>

#include "src/core/engine_harness.h"

namespace hodei::core::random_commands_test {
namespace {

class Chaos {
 public:
  explicit Chaos(uint64_t seed) : random_(seed) {}

  void step() {
    switch (below(16)) {
      case 0:
      case 1:
      case 2: submit(); break;
      case 3: join(); break;
      case 4:
      case 5:
      case 6: report(); break;
      case 7: bench_.decide(Cancel{any_job(), "random"}).IgnoreError(); break;
      case 8: reconnect(); break;
      case 9: bench_.advance(std::chrono::milliseconds(below(20'000))); break;
      case 10: leave(); break;
      case 11: bench_.decide(Assign{any_job(), any_worker()}).IgnoreError(); break;
      case 12: beat(); break;
      case 13:
      case 14: set_share_or_limit(); break;
      default: rare(); break;
    }
    check_ends();
  }

  size_t submitted() const { return number_of_jobs_; }
  size_t ended() const { return ends_.size(); }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  std::string worker_name() { return cat("w", below(5)); }
  WorkerId any_worker() { return WorkerId(worker_name()); }
  JobId any_job() { return JobId{below(number_of_jobs_ + 1) + 1}; }

  void submit() {
    Submit command;
    for (uint64_t n = below(3) + 1; n > 0; --n) {
      JobOrder order = a_job().in(cat("ns", below(3))).attempts(static_cast<int>(below(3)) + 1);
      order.memory(static_cast<int64_t>(below(3) * 500))
          .cores(static_cast<double>(below(3)))
          .priority(static_cast<Priority>(below(4) + 1));
      if (below(3) == 0) order.key(cat("key", below(3)), static_cast<int64_t>(below(4)));
      if (below(6) == 0) order.pool(below(2) == 0 ? "gpu" : "nowhere");
      if (below(6) == 0) order.timeout(std::chrono::seconds(below(60) + 1));
      if (below(8) == 0) order.idempotent(cat("id", below(10)));
      if (below(8) == 0) order.without_retry();
      if (below(6) == 0) order.secret("token");
      command.jobs.push_back(order.made());
    }
    const absl::StatusOr<Reply> made = bench_.decide(command);
    if (!made.ok()) {
      ASSERT_TRUE(absl::IsResourceExhausted(made.status())) << made.status();
      return;
    }
    for (const Submitted::One& one : std::get<Submitted>(*made).jobs)
      number_of_jobs_ = std::max(number_of_jobs_, number(one.job));
  }

  void join() {
    const std::string id = worker_name();
    if (bench_.rows.workers.contains(WorkerId(id))) return;
    WorkerOrder order = a_worker().slots(static_cast<uint32_t>(below(4)) + 1).cores(static_cast<int64_t>(below(4)) + 1);
    if (below(3) == 0) order.label("pool", "gpu");
    if (below(6) == 0) order.taint({"odd", "yes", TaintEffect::NoSchedule});
    bench_.worker(id).joins(order);
  }

  // What a worker might say about any execution, current or not.
  void report() {
    const std::string id = worker_name();
    if (!bench_.streams.contains(id)) return;
    ExecutionId execution{any_job(), static_cast<uint32_t>(below(3)) + 1};
    const auto known = bench_.rows.workers.find(WorkerId(id));
    if (known != bench_.rows.workers.end() && below(4) != 0) {
      const auto& executions = bench_.worker(id).live().executions;
      if (executions.empty()) return;
      execution = *std::next(executions.begin(), static_cast<int64_t>(below(executions.size())));
    }
    Report report{WorkerId(id), below(10) == 0 ? 0 : bench_.streams[id], {}, {}, {}};
    if (below(2) == 0) report.started.push_back({execution, bench_.now.wall});
    if (below(4) == 0) report.progress.push_back({execution, static_cast<double>(below(100)), "on its way"});
    if (below(2) == 0) {
      ResultReport result;
      result.execution = execution;
      result.outcome = static_cast<Outcome>(below(5) + 1);
      if (below(3) != 0) result.started = bench_.now.wall;
      report.results.push_back(result);
    }
    bench_.decide(report).IgnoreError();
  }

  void reconnect() {
    const std::string id = worker_name();
    const auto known = bench_.rows.workers.find(WorkerId(id));
    if (known == bench_.rows.workers.end() || known->second->state == WorkerState::Terminated) return;
    std::vector<HeldExecution> held;
    for (const ExecutionId& e : bench_.worker(id).live().executions) {
      if (below(4) != 0) held.push_back({e, below(2) == 0, below(5) == 0});
    }
    if (below(4) == 0) held.push_back({{any_job(), 1}, true, below(2) == 0});
    bench_.worker(id).returns(held);
  }

  void leave() {
    const std::string id = worker_name();
    if (!bench_.rows.workers.contains(WorkerId(id))) return;
    switch (below(5)) {
      case 0: bench_.decide(DrainWorker{WorkerId(id), ""}).IgnoreError(); break;
      case 1: bench_.decide(UnregisterWorker{WorkerId(id), "", below(2) == 0}).IgnoreError(); break;
      case 4: bench_.decide(UndrainWorker{WorkerId(id)}).IgnoreError(); break;
      case 2: bench_.worker(id).closes(); break;
      default: bench_.worker(id).goes_silent(); break;
    }
  }

  void beat() {
    const std::string id = worker_name();
    if (!bench_.rows.workers.contains(WorkerId(id))) return;
    const double load = static_cast<double>(below(100)) / 100;
    bench_.decide(Heartbeat{WorkerId(id), bench_.streams[id], bench_.now.mono.us, load}).IgnoreError();
  }

  // Quotas and limits of all kinds, and none at all.
  void set_share_or_limit() {
    const std::string ns = cat("ns", below(3));
    const std::string key = cat("key", below(3));
    const auto some = [this](uint64_t most) {
      return std::optional<int64_t>(below(3) == 0 ? 0 : static_cast<int64_t>(below(most) + 1));
    };
    switch (below(6)) {
      case 0:
        bench_.ask<TenantViews>(SetTenant{ns, 0.1 * static_cast<double>(below(50) + 1), some(2), {}, {}, {}});
        break;
      case 1: bench_.ask<TenantViews>(SetTenant{ns, {}, {}, some(3000), some(2000), {}}); break;
      case 2: bench_.ask<TenantViews>(SetTenant{ns, {}, {}, {}, {}, some(10)}); break;
      case 3: bench_.decide(SetLimit{ns, key, some(4), {}, {}}).IgnoreError(); break;
      case 4: {
        const double rate = 0.05 * static_cast<double>(below(40) + 1);
        bench_.decide(SetLimit{ns, key, {}, rate, static_cast<int64_t>(below(4) + 1)}).IgnoreError();
        break;
      }
      default: bench_.decide(DropLimit{ns, key}).IgnoreError(); break;
    }
  }

  void rare() {
    switch (below(7)) {
      case 0: bench_.restart(); break;
      case 5: bench_.ask<SecretPut>(PutStoredSecret{{"ns", cat("s", below(3)), 0, {}, "sealed"}, ""}); break;
      case 6: bench_.decide(DropStoredSecret{"ns", cat("s", below(3))}).IgnoreError(); break;
      case 1: bench_.ask<SchedulerConfig>(ConfigureScheduler{.threshold = below(3) == 0 ? 60.0 : 0.0}); break;
      case 2: bench_.ask<TemplatePut>(PutJobTemplate{{"ns", cat("t", below(3)), 0, {}, "bytes"}}); break;
      case 3: long_silence(); break;
      default: bench_.ask<Done>(Stall{std::chrono::seconds(below(5))}); break;
    }
  }

  void long_silence() {
    bench_.beating.clear();
    bench_.advance(std::chrono::minutes(below(70)));
  }

  void check_ends() {
    for (const auto& [id, job] : bench_.rows.done) {
      const auto end = ends_.try_emplace(id, job).first;
      ASSERT_EQ(end->second, job) << short_id(id) << " ended twice";
      ASSERT_FALSE(bench_.rows.jobs.contains(id)) << short_id(id) << " is finished and alive";
      ASSERT_LE(job->attempts, job->max_attempts) << short_id(id) << " ran too often";
    }
    ASSERT_EQ(bench_.rows.jobs.size() + bench_.rows.done.size(), number_of_jobs_) << "a job was lost";
  }

  std::mt19937_64 random_;
  Bench bench_;
  uint64_t number_of_jobs_ = 0;
  std::map<JobId, JobPtr> ends_;
};

TEST(AnyCommands, KeepEveryPromise) {
  size_t ended = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Chaos chaos(seed);
    for (int i = 0; i < 300; ++i) {
      chaos.step();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    ended += chaos.ended();
  }
  EXPECT_GT(ended, 600u) << "too little happens to mean anything";
}

}  // namespace
}  // namespace hodei::core::random_commands_test
