// Whatever workers, shapes and settings there are and however they change: no placement violates a filter, nothing
// waits that could run, and nobody loses an attempt to others. The bench checks the first two after every decision.
#include <random>

#include "src/core/engine_harness.h"
#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core::placement_property_test {
namespace {

class Placements {
 public:
  explicit Placements(uint64_t seed) : random_(seed) {}

  void step() {
    switch (below(12)) {
      case 0: join(); break;
      case 1: taint(); break;
      case 2: configure(); break;
      case 3: bench_.advance(std::chrono::seconds(below(40))); break;
      case 4: leave(); break;
      case 5:
      case 6:
      case 7: work(); break;
      default: submit(); break;
    }
  }

  // Everything that can run does, once nothing changes any more.
  void finish() {
    for (const auto& [id, worker] : bench_.engine().modules().fleet.workers.all()) {
      bench_.decide(TaintWorker{id, {}}).IgnoreError();
    }
    for (int i = 0; i < 300 && !bench_.rows.jobs.empty(); ++i) {
      work();
      if (i % 50 == 0) bench_.advance(5s);
    }
    for (const auto& [id, job] : bench_.rows.done) {
      EXPECT_LE(job->attempts, 1u) << short_id(id) << " has used up an attempt that it was not let finish";
      EXPECT_EQ(job->state, JobState::Succeeded) << short_id(id) << ": " << job->past->reason;
    }
  }

  size_t placed() const { return placed_; }
  size_t put_back() const { return put_back_; }
  size_t done() const { return bench_.rows.done.size(); }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(uint64_t one_in) { return below(one_in) == 0; }
  std::string pick(std::initializer_list<const char*> words) { return *(words.begin() + below(words.size())); }
  LabelRule some_rule(const std::string& key) {
    switch (below(6)) {
      case 0: return {key, LabelOperator::In, {pick({"1", "2"}), pick({"2", "3"})}};
      case 1: return {key, LabelOperator::NotIn, {pick({"1", "2", "3"})}};
      case 2: return {key, LabelOperator::Exists, {}};
      case 3: return {key, LabelOperator::DoesNotExist, {}};
      case 4: return {key, LabelOperator::Gt, {pick({"0", "1", "2"})}};
      default: return {key, LabelOperator::Lt, {pick({"2", "3"})}};
    }
  }
  Taint some_taint() { return {pick({"t1", "t2"}), pick({"a", "b"}), static_cast<TaintEffect>(below(3) + 1)}; }

  // One that is there; empty: nobody is.
  std::string some_worker() {
    std::vector<std::string> there;
    for (const auto& [id, record] : bench_.rows.workers) {
      if (record->state != WorkerState::Terminated) there.push_back(id.str());
    }
    return there.empty() ? "" : there[below(there.size())];
  }

  void join() {
    if (bench_.beating.size() >= 6) return;
    const std::string id = cat("w", ++joined_);
    WorkerOrder order = a_worker().slots(static_cast<uint32_t>(below(4)) + 1).cores(static_cast<int64_t>(below(4)) + 1);
    if (chance(2)) order.label("zone", pick({"1", "2", "3"}));
    if (chance(3)) order.label("pool", "p");
    if (chance(3)) order.taint(some_taint());
    if (chance(4)) order.image("i:1");
    if (chance(3)) order.info.isolation = Isolation::Container;
    if (chance(4)) order.info.architecture = "arm64";
    if (chance(4)) order.info.capacity.gpus = 1;
    if (chance(4)) order.info.capabilities = {"docker", "script", "shell"};
    bench_.worker(id).joins(order);
  }

  void submit() {
    JobOrder order = a_job()
                         .in(cat("ns", below(3)))
                         .cores(static_cast<int64_t>(below(4)))
                         .priority(static_cast<Priority>(below(4) + 1));
    if (chance(3)) order.wants(some_rule("zone"));
    if (chance(8)) order.pool("p");
    if (chance(3)) order.tolerating({chance(3) ? "" : pick({"t1", "t2"}), chance(2) ? "" : "a"});
    if (chance(8)) order.image("i:1");
    if (chance(8)) order.spec.shape.isolation = Isolation::Container;
    if (chance(8)) order.spec.shape.architecture = "arm64";
    if (chance(10)) order.spec.shape.needs.gpus = 1;
    if (chance(10)) order.spec.shape.capabilities = {"docker"};
    if (chance(4)) order.zone(pick({"1", "2"}));
    if (chance(2)) order.label("app", pick({"1", "2", "3"}));
    if (chance(6)) order.beside(some_rule("app"), chance(3));
    if (chance(5)) order.away_from(some_rule("app"), chance(2));
    bench_.submit(order);
    look();
  }

  void taint() {
    std::vector<Taint> taints;
    for (uint64_t n = below(3); n > 0; --n) taints.push_back(some_taint());
    bench_.decide(TaintWorker{WorkerId(some_worker()), taints}).IgnoreError();
    look();
  }

  void configure() {
    ConfigureScheduler c;
    c.strategy = static_cast<Strategy>(below(5) + 1);
    c.packing = static_cast<Packing>(below(2) + 1);
    c.preemption = chance(2);
    c.reserve_after = std::chrono::seconds(below(3) * 10);
    c.threshold = chance(3) ? 40.0 : 0.0;
    bench_.ask<SchedulerConfig>(c);
    look();
  }

  void leave() {
    const std::string id = some_worker();
    if (id.empty() || bench_.worker(id).live().state != WorkerState::Ready) return;
    bench_.ask<Done>(UnregisterWorker{WorkerId(id), ""});
    bench_.beating.erase(id);
  }

  // Every execution of a worker moves on: it starts, and some end as they were told to or by themselves.
  void work() {
    const std::string id = some_worker();
    if (id.empty()) return;
    Hand hand = bench_.worker(id);
    const std::vector<ExecutionId> executions(hand.live().executions.begin(), hand.live().executions.end());
    for (const ExecutionId& e : executions) {
      const JobHead& job = bench_.job(e.job);
      if (job.requeue != Requeue::No) {
        ++put_back_;
        hand.finishes(e.job, chance(4) ? Outcome::Failed : Outcome::Cancelled);
      } else if (job.state == JobState::Scheduled) {
        hand.starts(e.job);
      } else if (chance(2)) {
        hand.finishes(e.job);
      }
      look();
    }
  }

  // Checks affinity against the jobs that the worker had when the only job of this decision came to the worker.
  void look() {
    std::map<WorkerId, std::vector<ExecutionId>> sent;
    for (const Effect& effect : bench_.last.effects) {
      if (const auto* run = std::get_if<RunExecution>(&effect)) sent[run->worker].push_back(run->execution);
    }
    for (const auto& [id, runs] : sent) {
      placed_ += runs.size();
      if (runs.size() != 1) continue;
      LiveWorker before = *bench_.engine().modules().fleet.workers.all().at(id);
      before.executions.erase(runs[0]);
      before.job_labels.erase(runs[0]);
      EXPECT_FALSE(rejects_affinity(*bench_.job(runs[0].job).shape, before))
          << to_string(runs[0]) << " on " << id.str();
    }
  }

  std::mt19937_64 random_;
  Bench bench_;
  uint64_t joined_ = 0;
  size_t placed_ = 0;
  size_t put_back_ = 0;
};

TEST(AnyPlacement, KeepsToEveryFilterAndCostsNobodyAnAttempt) {
  size_t placed = 0;
  size_t put_back = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Placements random(seed);
    for (int i = 0; i < 250; ++i) {
      random.step();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    random.finish();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", at its end";
    placed += random.placed();
    put_back += random.put_back();
  }
  EXPECT_GT(placed, 240u) << "too little happens to mean anything";
  EXPECT_GT(put_back, 12u);
}

}  // namespace
}  // namespace hodei::core::placement_property_test
