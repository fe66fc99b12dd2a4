// What the engine keeps in memory has bounds: what has ended leaves nothing behind, and what is refused names the
// limit.
#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core::memory_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string full(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  return std::string(status.message());
}

TEST(Memory, TimeOutsOfEndedExecutionsAreForgotten) {
  Bench bench;
  Hand worker = bench.worker("w1");
  worker.joins(10);
  for (int i = 0; i < 20; ++i) {
    const JobId job = bench.submit(a_job().timeout(std::chrono::hours(24 * 300)));
    worker.starts(job);
    EXPECT_EQ(bench.deadlines(), 1u);
    worker.finishes(job, i % 2 == 0 ? Outcome::Succeeded : Outcome::Failed);
    EXPECT_EQ(bench.deadlines(), 0u) << i;
  }
  const JobId job = bench.submit(a_job().timeout(std::chrono::hours(1)));
  worker.starts(job).closes().returns();  // it lost the execution
  EXPECT_EQ(bench.deadlines(), 0u);
}

TEST(Memory, ATimeOutStillEndsAnExecutionThatRunsTooLong) {
  Bench bench;
  Hand worker = bench.worker("w1");
  worker.joins();
  const JobId job = bench.submit(a_job().timeout(30s).attempts(2).backoff(1s));
  worker.takes(job).fails(job);
  bench.advance(5s);
  worker.starts(job);
  bench.advance(29s);
  EXPECT_TRUE(bench.told<CancelExecution>().empty()) << "the clock of the first execution must not end the second";
  bench.advance(2s);
  EXPECT_EQ(bench.told<CancelExecution>().size(), 1u);
}

TEST(Memory, BackOffsOfCancelledJobsAreForgotten) {
  Bench bench;
  Hand worker = bench.worker("w1");
  worker.joins();
  for (int i = 0; i < 10; ++i) {
    const JobId job = bench.submit(a_job().attempts(2).backoff(std::chrono::hours(24), std::chrono::hours(24)));
    worker.takes(job).fails(job);
    EXPECT_EQ(bench.deadlines(), 1u);
    bench.cancel(job);
    EXPECT_EQ(bench.deadlines(), 0u);
  }
}

TEST(Memory, NamespacesOfTheDayBeforeAreForgotten) {
  Bench bench;
  bench.checks = false;
  Hand worker = bench.worker("w1");
  worker.joins();
  for (size_t i = 0; i < 3 * TenantTable::kMaxIdle; ++i) {
    const JobId job = bench.submit(a_job().in(cat("branch-", i)));
    worker.takes(job).finishes(job);
  }
  EXPECT_LE(bench.engine().modules().placement.roster.tenants.all().size(), TenantTable::kMaxIdle);
  // Whoever waits, runs or has a setting stays.
  bench.ask<TenantViews>(SetTenant{.ns = "set", .weight = 3});
  const JobId running = bench.submit(a_job().in("running"));
  const JobId waiting = bench.submit(a_job().in("waiting"));
  for (size_t i = 0; i < 2 * TenantTable::kMaxIdle; ++i) bench.cancel(bench.submit(a_job().in(cat("more-", i))));
  for (const char* ns : {"set", "running", "waiting"}) {
    EXPECT_NE(bench.engine().modules().placement.roster.tenants.find(Namespace(ns)), nullptr) << ns;
  }
  worker.takes(running).finishes(running);
  worker.takes(waiting).finishes(waiting);
}

TEST(Memory, ATenantThatComesBackWaitsForItsTurnLikeEverybody) {
  Bench bench;
  Hand worker = bench.worker("w1");
  worker.joins();
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(bench.submit(a_job().in("a")));
  for (int i = 0; i < 4; ++i) jobs.push_back(bench.submit(a_job().in("b")));
  std::string order;
  for (int i = 0; i < 8; ++i) {
    const ExecutionId current = *worker.live().executions.begin();
    order += bench.job(current.job).ns.str();
    worker.takes(current.job).finishes(current.job);
  }
  EXPECT_EQ(order, "abababab");
  EXPECT_EQ(bench.engine().modules().placement.roster.tenants.find(Namespace("a"))->running, 0);
}

TEST(Memory, JobsAreRefusedWhenTheirBytesAreUsedUp) {
  EngineConfig config;
  config.max_job_bytes = 200'000;
  Bench bench(config);
  absl::Status status;
  size_t taken = 0;
  while (status.ok() && taken < 10'000) {
    JobOrder order = a_job().label("n", std::to_string(taken));
    for (int i = 0; i < 20; ++i) order.tolerating({cat("key-", i, "-", taken), std::string(300, 'v')});
    status = bench.refused(Submit{{order.made()}});
    taken += status.ok();
  }
  EXPECT_THAT(full(status), AllOf(HasSubstr("KiB of memory"), HasSubstr("fewer labels, rules and tolerations")));
  EXPECT_GE(taken, 5u);
  EXPECT_LE(taken, 30u);
  EXPECT_GT(bench.engine().modules().jobs.table.bytes(), 200'000u);
  // What ends makes room again; nothing is left of it.
  for (uint64_t n = 1; n <= taken; ++n) bench.cancel(JobId{n});
  EXPECT_EQ(bench.engine().modules().jobs.table.bytes(), 0u);
  bench.submit(a_job());
}

TEST(Memory, WhatEqualJobsShareIsCountedOnce) {
  Bench bench;
  JobOrder order = a_job().label("team", "blue");
  for (int i = 0; i < 40; ++i) order.tolerating({cat("key-", i), std::string(300, 'v')});
  bench.submit(order);
  const size_t one = bench.engine().modules().jobs.table.bytes();
  bench.submit(order);
  EXPECT_LT(bench.engine().modules().jobs.table.bytes() - one, 1'000u);
  EXPECT_GT(one, 40u * 300u);
}

TEST(Memory, TokensAreRefusedBeyondTheirLimitUntilSomeExpire) {
  EngineConfig config;
  config.max_otps = 3;
  Bench bench(config);
  for (int i = 0; i < 3; ++i) bench.ask<OtpMade>(MakeOtp{hash128(cat("token", i)), WorkerId()});
  EXPECT_THAT(full(bench.refused(MakeOtp{hash128("one more"), WorkerId()})), HasSubstr("3 unused tokens"));
  bench.advance(std::chrono::minutes(6));
  bench.ask<OtpMade>(MakeOtp{hash128("one more"), WorkerId()});
}

TEST(Memory, SecretsOfAllNamespacesTogetherHaveALimit) {
  EngineConfig config;
  config.max_all_secrets = 2;
  Bench bench(config);
  const auto put = [](std::string ns) {
    return PutStoredSecret{{.ns = std::move(ns), .name = "s", .sealed = "x"}, ""};
  };
  bench.ask<SecretPut>(put("a"));
  bench.ask<SecretPut>(put("b"));
  EXPECT_THAT(full(bench.refused(put("c"))), HasSubstr("in all namespaces"));
  bench.ask<SecretPut>(put("b"));
}

TEST(Memory, TemplatesStayInTheStoreAndOnlyTheirFactsHere) {
  Bench bench;
  const TemplateRow row{.ns = "default", .name = "t", .bytes = std::string(100'000, 'x')};
  EXPECT_EQ(bench.ask<TemplatePut>(PutJobTemplate{row}).row.revision, 1);
  EXPECT_EQ(bench.ask<TemplatePut>(PutJobTemplate{row}).row.revision, 2);
  EXPECT_EQ(bench.engine().modules().jobs.templates.find("default", "t")->hash, hash64(row.bytes));
  bench.restart();
  EXPECT_EQ(bench.ask<TemplatePut>(PutJobTemplate{row}).row.revision, 3);
}

TEST(Memory, WorkersAreRefusedWhenTheirBytesAreUsedUp) {
  EngineConfig config;
  config.max_worker_bytes = 40'000;
  Bench bench(config);
  WorkerOrder large = a_worker();
  for (int i = 0; i < 40; ++i) large.label(cat("label-", i), std::string(400, 'v'));
  bench.worker("w1").joins(large);
  bench.worker("w2").joins(large);
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w3")});
  RegisterWorker third;
  third.otp = hash128("t");
  third.info = large.info;
  third.info.id = WorkerId("w3");
  EXPECT_THAT(full(bench.refused(third)), HasSubstr("fewer labels, taints and capabilities"));
  bench.worker("w1").closes();
  bench.ask<Done>(UnregisterWorker{WorkerId("w1")});
  bench.advance(std::chrono::hours(2));
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w3")});
  bench.ask<Registered>(third);
}

TEST(Memory, WorkersThatLeftDoNotKeepOthersOut) {
  EngineConfig config;
  config.max_workers = 2;
  Bench bench(config);
  bench.worker("w1").joins();
  bench.worker("w2").joins().closes();
  bench.ask<Done>(UnregisterWorker{WorkerId("w2")});
  bench.worker("w3").joins();
  EXPECT_EQ(bench.engine().modules().fleet.workers.all().size(), 2u);
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w4")});
  RegisterWorker fourth;
  fourth.otp = hash128("t");
  fourth.info = a_worker().info;
  fourth.info.id = WorkerId("w4");
  EXPECT_THAT(full(bench.refused(fourth)), HasSubstr("2 workers"));
}

TEST(Memory, KindsOfWorkersTimesShapesOfJobsHaveALimit) {
  EngineConfig config;
  config.max_judgement_bytes = 20 * sizeof(WaitingShape::Eligible);
  Bench bench(config);
  for (const char* id : {"w1", "w2"}) bench.worker(id).joins(a_worker().label("host", id));
  for (int64_t i = 0; i < 10; ++i) bench.submit(a_job().memory(1'000'000 + i));
  EXPECT_THAT(full(bench.refused(Submit{{a_job().memory(2'000'000).made()}})), HasSubstr("for 2 kinds of workers"));
  bench.submit(a_job().memory(1'000'003));
  // A queue that is full does not keep out the workers that empty it.
  bench.worker("w3").joins(a_worker().label("host", "w3"));
  bench.worker("w4").joins(a_worker().label("host", "w4"));
  bench.ask<OtpMade>(MakeOtp{hash128("t"), WorkerId("w5")});
  RegisterWorker fifth;
  fifth.otp = hash128("t");
  fifth.info = a_worker().label("host", "w5").info;
  fifth.info.id = WorkerId("w5");
  EXPECT_THAT(full(bench.refused(fifth)), HasSubstr("info.labels: there are 4 kinds"));
  fifth.info.labels["host"] = "w4";
  bench.ask<Registered>(fifth);
}

TEST(Memory, WhatAWorkerSaysOfItselfHasBounds) {
  const auto why = [](const WorkerOrder& order) {
    WorkerInfo info = order.info;
    info.id = WorkerId("w1");
    return std::string(validate(info).message());
  };
  WorkerOrder tainted = a_worker();
  for (size_t i = 0; i <= kMaxTaints; ++i) tainted.taint({cat("k", i), "", TaintEffect::NoSchedule});
  EXPECT_THAT(why(tainted), HasSubstr("info.taints: must have at most 64"));
  WorkerOrder wordy = a_worker();
  wordy.info.hostname = std::string(70'000, 'h');
  EXPECT_THAT(why(wordy), HasSubstr("at most 65536 are allowed"));
  EXPECT_THAT(why(a_worker().memory(INT64_MAX)), HasSubstr("info.capacity: must have at most"));
  EXPECT_EQ(why(a_worker()), "");
  EXPECT_THAT(std::string(check_incarnation("incarnation", std::string(201, 'i')).message()),
              HasSubstr("incarnation: must have at most 200"));
}

}  // namespace
}  // namespace hodei::core::memory_test
