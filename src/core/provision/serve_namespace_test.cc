// Whose jobs a made worker runs, and how many: it serves the namespace that it was made for, and a microVM one job,
// unless a pool says otherwise.
#include "src/core/provision_harness.h"

namespace hodei::core {
namespace {

WorkerInfo info_of(const Bench& bench, const std::string& id) { return bench.rows.workers.at(WorkerId(id))->info; }

std::string rule_against(const Explanation& explanation, const std::string& worker) {
  for (const Candidate& c : explanation.candidates) {
    if (c.worker.str() == worker) return std::string(c.rule);
  }
  return "not a candidate";
}

TEST(ServeNamespace, AMadeWorkerRunsNoOtherNamespacesJobs) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().in("a").image("x"));
  const std::string of_a = only_asked(bench);
  EXPECT_EQ(info_of(bench, of_a).made->ns, "a");
  arrives(bench, of_a).takes(first).finishes(first);
  const JobId foreign = bench.submit(a_job().in("b").image("x"));
  EXPECT_EQ(bench.state(foreign), JobState::Pending);
  EXPECT_EQ(rule_against(bench.explain(foreign), of_a), "namespace");
  EXPECT_NE(bench.refused(Assign{foreign, WorkerId(of_a)}).message().find("was created for namespace 'a'"),
            std::string::npos);
  const std::string of_b = only_asked(bench);
  EXPECT_EQ(info_of(bench, of_b).made->ns, "b");
  arrives(bench, of_b).takes(foreign);
}

TEST(ServeNamespace, AMadeWorkerGoesOnWithJobsOfItsNamespace) {
  Bench bench;
  add(bench, a_docker());
  const JobId first = bench.submit(a_job().in("a").image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(first).finishes(first);
  const JobId second = bench.submit(a_job().in("a").image("x"));
  bench.worker(id).takes(second).finishes(second);
  EXPECT_EQ(bench.told<CreateWorker>().size(), 1u);
}

TEST(ServeNamespace, AWorkerThatIsFreedLooksOnlyAtItsNamespace) {
  Bench bench;
  add(bench, a_docker().most(1));
  const JobId first = bench.submit(a_job().in("a").image("x"));
  const JobId older = bench.submit(a_job().in("b").image("x"));
  const JobId younger = bench.submit(a_job().in("a").image("x"));
  const std::string id = only_asked(bench);
  arrives(bench, id).takes(first).finishes(first);
  EXPECT_EQ(bench.state(older), JobState::Pending);
  bench.worker(id).takes(younger).finishes(younger);
}

TEST(ServeNamespace, EveryNamespaceThatWaitsGetsAWorkerOfItsOwnTheOldestJobFirst) {
  Bench bench;
  add(bench, a_docker().most(2));
  bench.submit(a_job().in("z").image("x"));
  bench.submit(a_job().in("m").image("x"));
  bench.submit(a_job().in("a").image("x"));
  std::set<std::string> served;
  for (const WorkerRecordPtr& record : asked(bench)) served.insert(record->info.made->ns);
  EXPECT_EQ(served, (std::set<std::string>{"z", "m"}));
}

TEST(ServeNamespace, ThePoolSaysWhomItsWorkersServe) {
  Bench bench;
  add(bench, a_docker());
  bench.ask<Done>(PutPool{{.name = "all", .image = "x"}});
  bench.ask<Done>(PutPool{{.name = "one", .image = "x", .ns = "a"}});
  const JobId first = bench.submit(a_job().in("a").pool("all"));
  const std::string shared = only_asked(bench);
  EXPECT_EQ(info_of(bench, shared).made->ns, "");
  arrives(bench, shared).takes(first).finishes(first);
  const JobId second = bench.submit(a_job().in("b").pool("all"));
  bench.worker(shared).takes(second);

  const JobId foreign = bench.submit(a_job().in("b").pool("one"));
  EXPECT_TRUE(asked(bench).empty());
  EXPECT_EQ(bench.explain(foreign).providers.at(0).reason, "pool 'one' creates workers for namespace 'a' only");
  const JobId own = bench.submit(a_job().in("a").pool("one"));
  const std::string bound = only_asked(bench);
  EXPECT_EQ(info_of(bench, bound).made->ns, "a");
  arrives(bench, bound).takes(own).finishes(own);
  EXPECT_EQ(bench.state(foreign), JobState::Pending);
}

TEST(ServeNamespace, TwoNamespacesInOnePoolShareTheWorkersOnTheirWay) {
  Bench bench;
  add(bench, a_docker());
  bench.ask<Done>(PutPool{{.name = "p", .image = "x", .slots = 2}});
  bench.submit(a_job().in("a").pool("p"));
  bench.submit(a_job().in("b").pool("p"));
  EXPECT_EQ(asked(bench).size(), 1u);
}

TEST(ServeNamespace, AMicroVmRunsOneJob) {
  Bench bench;
  add(bench, a_vm());
  const JobId first = bench.submit(a_job().image("x"));
  const std::string id = only_asked(bench);
  Hand worker = arrives(bench, id);
  worker.takes(first);
  const JobId second = bench.submit(a_job().image("x"));
  bench.worker(id).finishes(first);
  EXPECT_EQ(bench.state(second), JobState::Pending) << "the microVM was somebody's own";
  EXPECT_EQ(bench.told<TellDrain>().size(), 1u);
  const std::string other = only_asked(bench);
  EXPECT_NE(other, id);
  arrives(bench, other).takes(second);
}

TEST(ServeNamespace, APoolMayLetMicroVmsRunJobAfterJob) {
  Bench bench;
  add(bench, a_vm());
  bench.ask<Done>(PutPool{{.name = "fresh", .image = "x", .slots = 4}});
  bench.ask<Done>(PutPool{{.name = "kept", .image = "x", .slots = 4, .reuse = true}});
  bench.submit(a_job().pool("fresh"));
  const WorkerInfo fresh = info_of(bench, only_asked(bench));
  EXPECT_TRUE(fresh.made->one_job);
  EXPECT_EQ(fresh.slots, 1u) << "jobs side by side share a machine too";
  arrives(bench, fresh.id.str());
  const JobId first = bench.submit(a_job().pool("kept"));
  const std::string kept = only_asked(bench);
  EXPECT_EQ(info_of(bench, kept).slots, 4u);
  arrives(bench, kept).takes(first).finishes(first);
  const JobId second = bench.submit(a_job().pool("kept"));
  bench.worker(kept).takes(second);
  EXPECT_NE(bench.refused(PutPool{{.name = "p", .one_job = true, .reuse = true}})
                .message()
                .find("cannot be combined with one_job"),
            std::string::npos);
}

TEST(ServeNamespace, AMadeWorkerCannotTalkItselfIntoSomethingElse) {
  Bench bench;
  add(bench, a_docker());
  bench.submit(a_job().in("a").image("x"));
  const std::string id = only_asked(bench);
  WorkerOrder order;
  order.info = info_of(bench, id);
  order.info.made.reset();
  order.info.provider = "manual";
  order.info.image = "secret-image";
  order.info.isolation = Isolation::Hardware;
  order.info.labels["pool"] = "payroll";
  order.info.slots = 100;
  bench.ask<Done>(WorkerRuns{WorkerId(id)});
  bench.worker(id).joins(order);
  const WorkerInfo now = info_of(bench, id);
  EXPECT_EQ(now.provider, "docker");
  EXPECT_EQ(now.image, "x");
  EXPECT_EQ(now.isolation, Isolation::Container);
  EXPECT_FALSE(now.labels.contains("pool"));
  EXPECT_EQ(now.slots, 1u);
  EXPECT_EQ(now.made->ns, "a");
}

TEST(ServeNamespace, RowsOfOlderVersionsServeEverybody) {
  WorkerInfo info = a_worker().info;
  info.id = WorkerId("w");
  info.made = Made{.provider = "docker", .for_job = 7, .one_job = true};
  std::string bytes = encode(info);
  bytes.pop_back();  // the empty namespace, which older versions did not write
  EXPECT_EQ(decode_worker_info(bytes), info);
  EXPECT_TRUE(serves(decode_worker_info(bytes), "any"));
  const PoolRow pool{.name = "p", .image = "x", .labels = {{"zone", "a"}}};
  std::string row = encode(pool);
  row.resize(row.size() - 2);  // an empty namespace, and no reuse
  EXPECT_EQ(decode_pool(row), pool);
}

}  // namespace
}  // namespace hodei::core
