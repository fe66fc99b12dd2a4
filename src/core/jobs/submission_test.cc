// Submission, idempotency keys, limits, templates in the engine, and what people ask about the queue.
#include "src/core/engine_harness.h"

namespace hodei::core::submission_test {
namespace {

TEST(Submission, PlacesAJobInTheSameDecisionWhenThereIsRoom) {
  Bench bench;
  bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  EXPECT_EQ(bench.state(job), JobState::Scheduled);
  size_t specs = 0;
  for (const Write& write : bench.last.writes) specs += std::holds_alternative<PutSpec>(write);
  EXPECT_EQ(specs, 1u) << "submission and assignment are one batch";
}

TEST(Submission, NumbersJobsInOrderAlsoAcrossARestart) {
  Bench bench;
  const JobId first = bench.submit(a_job());
  bench.cancel(first);
  bench.restart();
  EXPECT_EQ(number(bench.submit(a_job())), number(first) + 1) << "a number is never used twice";
}

TEST(Submission, IsRefusedAsAWholeWhenTheQueueIsFull) {
  EngineConfig config;
  config.max_live_jobs = 3;
  Bench bench(config);
  bench.submit(a_job());
  bench.submit(a_job());
  const absl::Status status = bench.refused(Submit{{a_job().made(), a_job().made()}});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(bench.last.writes.empty());
  bench.submit(a_job());
}

TEST(IdempotencyKey, GivesTheSameJobForTheSameKey) {
  Bench bench;
  const JobId job = bench.submit(a_job().idempotent("order-1"));
  const Submitted again = bench.ask<Submitted>(Submit{{a_job().idempotent("order-1").made()}});
  EXPECT_EQ(again.jobs[0].job, job);
  EXPECT_TRUE(again.jobs[0].existing);
  EXPECT_TRUE(bench.last.writes.empty());
}

TEST(IdempotencyKey, CountsInsideOneBatchToo) {
  Bench bench;
  const NewJob twice = a_job().idempotent("order-1").made();
  const Submitted both = bench.ask<Submitted>(Submit{{twice, a_job().idempotent("order-1").made()}});
  EXPECT_EQ(both.jobs[0].job, both.jobs[1].job);
  EXPECT_FALSE(both.jobs[0].existing);
  EXPECT_TRUE(both.jobs[1].existing);
}

TEST(IdempotencyKey, IsAnotherOneInAnotherNamespace) {
  Bench bench;
  EXPECT_NE(bench.submit(a_job().idempotent("k")), bench.submit(a_job().in("other").idempotent("k")));
}

TEST(IdempotencyKey, OutlivesTheJobAndARestart) {
  Bench bench;
  const JobId job = bench.submit(a_job().idempotent("k"));
  bench.worker("w1").joins().takes(job).finishes(job);
  bench.restart();
  EXPECT_EQ(bench.submit(a_job().idempotent("k")), job);
}

TEST(IdempotencyKey, IsForgottenAfterADay) {
  Bench bench;
  bench.checks = false;
  const JobId job = bench.submit(a_job().idempotent("k"));
  bench.advance(std::chrono::hours(23));
  EXPECT_EQ(bench.submit(a_job().idempotent("k")), job);
  bench.advance(std::chrono::hours(1) + 2s);
  EXPECT_TRUE(bench.rows.idempotency.empty());
  EXPECT_NE(bench.submit(a_job().idempotent("k")), job);
  bench.check();
}

TEST(IdempotencyKey, IsNotForgottenByAClockThatIsSet) {
  Bench bench;
  bench.checks = false;
  const JobId job = bench.submit(a_job().idempotent("k"));
  for (const Duration jump : {Duration(std::chrono::hours(24 * 730)), Duration(-std::chrono::hours(24 * 730))}) {
    bench.now.wall = bench.now.wall + jump;
    bench.advance(std::chrono::minutes(11));
    EXPECT_EQ(bench.submit(a_job().idempotent("k")), job);
  }
}

TEST(Template, GetsARevisionWithEveryChange) {
  Bench bench;
  EXPECT_EQ(bench.ask<TemplatePut>(PutJobTemplate{{"default", "build", 0, {}, "a"}}).row.revision, 1);
  const TemplateRow second = bench.ask<TemplatePut>(PutJobTemplate{{"default", "build", 99, {}, "b"}}).row;
  EXPECT_EQ(second.revision, 2);
  EXPECT_EQ(second.updated, bench.now.wall);
  EXPECT_EQ(bench.ask<TemplatePut>(PutJobTemplate{{"other", "build", 0, {}, "a"}}).row.revision, 1);
}

TEST(Template, IsGoneWhenItIsDroppedAndCannotBeDroppedTwice) {
  Bench bench;
  bench.ask<TemplatePut>(PutJobTemplate{{"default", "build", 0, {}, "a"}});
  bench.ask<Done>(DropJobTemplate{"default", "build"});
  EXPECT_TRUE(bench.rows.templates.empty());
  EXPECT_TRUE(absl::IsNotFound(bench.refused(DropJobTemplate{"default", "build"})));
}

TEST(Template, HasALimitThatChangesOfKnownOnesDoNotMeet) {
  EngineConfig config;
  config.max_templates = 1;
  Bench bench(config);
  bench.ask<TemplatePut>(PutJobTemplate{{"default", "one", 0, {}, ""}});
  EXPECT_TRUE(absl::IsResourceExhausted(bench.refused(PutJobTemplate{{"default", "two", 0, {}, ""}})));
  bench.ask<TemplatePut>(PutJobTemplate{{"default", "one", 0, {}, "new"}});
}

TEST(QueueReport, CountsJobsByStateClassAndNamespaceAndWorkersBySlots) {
  Bench bench;
  bench.worker("w1").joins(2);
  bench.worker("w2").joins(4).closes();
  const JobId running = bench.submit(a_job().attempts(2));
  bench.worker("w1").takes(running);
  bench.submit(a_job());
  bench.submit(a_job().priority(Priority::High));
  bench.submit(a_job().in("other"));
  bench.submit(a_job().in("other").pool("nowhere"));
  const QueueReport report = bench.queue();
  EXPECT_EQ(report.pending, 3);
  EXPECT_EQ(report.scheduled, 1);
  EXPECT_EQ(report.running, 1);
  EXPECT_EQ(report.by_priority[static_cast<size_t>(Priority::High) - 1], 1);
  EXPECT_EQ(report.by_priority[static_cast<size_t>(Priority::Normal) - 1], 2);
  EXPECT_EQ(report.by_namespace, (std::map<std::string, int64_t>{{"default", 1}, {"other", 2}}));
  EXPECT_EQ(report.shapes, 2);
  EXPECT_EQ(report.workers, 2);
  EXPECT_EQ(report.workers_available, 1);
  EXPECT_EQ(report.slots, 2);
  EXPECT_EQ(report.slots_free, 0);
}

TEST(QueueReport, ForgetsShapesThatNobodyWaitsWith) {
  Bench bench;
  const JobId job = bench.submit(a_job().cores(3));
  EXPECT_EQ(bench.queue().shapes, 1);
  bench.cancel(job);
  EXPECT_EQ(bench.queue().shapes, 0);
  EXPECT_TRUE(bench.queue().by_namespace.empty());
}

TEST(Explanation, SaysThatThereAreNoWorkers) {
  Bench bench;
  EXPECT_NE(bench.explain(bench.submit(a_job())).waiting_for.find("there are no workers"), std::string::npos);
}

TEST(Explanation, ListsEveryCandidateWithTheReasonAgainstIt) {
  Bench bench;
  bench.worker("away").joins().closes();
  bench.worker("busy").joins(1);
  bench.submit(a_job());
  bench.worker("silent").joins().goes_silent();
  bench.worker("small").joins(a_worker().cores(1));
  bench.worker("tainted").joins(a_worker().taint({"own", "use", TaintEffect::NoSchedule}));
  bench.worker("draining").joins();
  bench.submit(a_job().cores(2));
  bench.ask<Drained>(DrainWorker{WorkerId("draining"), ""});
  bench.submit(a_job().cores(2));
  bench.advance(31s);
  const JobId job = bench.submit(a_job().cores(2));
  std::map<std::string, std::string> rules;
  for (const Candidate& c : bench.explain(job).candidates) rules[c.worker.str()] = c.rule;
  EXPECT_EQ(rules, (std::map<std::string, std::string>{{"away", "connected"},
                                                       {"busy", "slots"},
                                                       {"silent", "healthy"},
                                                       {"small", "size"},
                                                       {"tainted", "taints"},
                                                       {"draining", "state"}}));
}

TEST(Explanation, NamesTheRuleThatTurnsMostAwayAndWhatWouldHelp) {
  Bench bench;
  bench.worker("w1").joins();
  bench.worker("w2").joins();
  const Explanation why = bench.explain(bench.submit(a_job().pool("gpu")));
  EXPECT_NE(why.waiting_for.find("pool 'gpu' does not exist, and no worker belongs to it"), std::string::npos)
      << why.waiting_for;
  EXPECT_EQ(why.unblock, "a worker in that pool (2 workers)");
  EXPECT_EQ(why.rejected, (std::vector<RuleCount>{{"pool", 2}}));
}

TEST(Explanation, SpeaksOfTheThresholdTheKeyAndTheBackOff) {
  Bench bench;
  bench.worker("w1").joins(3);
  const JobId holder = bench.submit(a_job().key("db", 1));
  const JobId parked = bench.submit(a_job().key("db"));
  EXPECT_NE(bench.explain(parked).waiting_for.find("concurrency key 'db' is at its limit of 1"), std::string::npos);
  const JobId delayed = bench.submit(a_job().attempts(2));
  bench.worker("w1").takes(delayed).fails(delayed);
  EXPECT_NE(bench.explain(delayed).waiting_for.find("is in backoff until"), std::string::npos);
  bench.ask<SchedulerConfig>(ConfigureScheduler{.threshold = 1000});
  const JobId low = bench.submit(a_job());
  EXPECT_EQ(bench.explain(low).candidates.at(0).rule, "threshold");
  EXPECT_EQ(bench.explain(holder).state, JobState::Scheduled);
}

TEST(Explanation, CountsTheJobsAheadInItsClass) {
  Bench bench;
  bench.submit(a_job());
  bench.submit(a_job().priority(Priority::Low));
  bench.submit(a_job());
  EXPECT_EQ(bench.explain(bench.submit(a_job())).jobs_ahead, 2);
}

TEST(Explanation, CountsNoJobAsAheadThatFitsNoWorker) {
  Bench bench;
  const JobId running = bench.submit(a_job());
  bench.worker("w1").joins(a_worker().cores(4)).takes(running);
  bench.submit(a_job().cores(900));
  JobOrder elsewhere = a_job();
  elsewhere.spec.shape.pool = "nowhere";
  bench.submit(elsewhere);
  const JobId first = bench.submit(a_job());
  EXPECT_EQ(bench.explain(first).jobs_ahead, 0);
  EXPECT_EQ(bench.explain(bench.submit(a_job().cores(2))).jobs_ahead, 1) << "of another size, for the same worker";
  EXPECT_EQ(bench.explain(bench.submit(a_job().cores(900))).jobs_ahead, 1) << "its like";
}

TEST(Explanation, OfAPlacedJobIsTheDecisionOfItsNewestExecution) {
  Bench bench;
  bench.worker("w1").joins();
  const JobId job = bench.submit(a_job());
  const Explanation why = bench.explain(job);
  ASSERT_TRUE(why.decision);
  EXPECT_EQ(why.decision->winner, WorkerId("w1"));
  EXPECT_EQ(why.execution, 1u);
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Question{ExplainJob{JobId{99}}})));
}

TEST(Preview, SaysWhereAJobWouldGoAndChangesNothing) {
  Bench bench;
  bench.worker("w1").joins(a_worker().label("zone", "a"));
  bench.worker("w2").joins(a_worker().label("zone", "b"));
  const Explanation where = bench.ask<Explanation>(Question{PreviewJob{a_job().zone("b").made().head.shape}});
  ASSERT_TRUE(where.decision);
  EXPECT_EQ(where.decision->winner, WorkerId("w2"));
  EXPECT_TRUE(bench.last.writes.empty());
  EXPECT_TRUE(bench.last.effects.empty());
}

TEST(Submission, ToAPoolOrProviderThatNobodyKnowsIsTakenWithANote) {
  Bench bench;
  const auto note = [&bench](const JobOrder& order) {
    return bench.ask<Submitted>(Submit{{order.made()}}).jobs[0].note;
  };
  EXPECT_NE(note(a_job().pool("nowhere")).find("pool 'nowhere' does not exist"), std::string::npos);
  EXPECT_NE(note(a_job().likes_provider("no-cloud")).find("preferred provider 'no-cloud'"), std::string::npos);
  JobOrder elsewhere = a_job();
  elsewhere.spec.shape.provider = "elsewhere";
  EXPECT_NE(note(elsewhere).find("provider 'elsewhere' does not exist"), std::string::npos);
  EXPECT_EQ(note(a_job()), "") << "no worker is there, but none is asked for by name either";
  bench.worker("w1").joins(a_worker().label("pool", "nowhere").provider("elsewhere"));
  EXPECT_EQ(note(a_job().pool("nowhere")), "");
  EXPECT_EQ(note(elsewhere), "");
  bench.ask<Done>(PutPool{{.name = "planned"}});
  EXPECT_EQ(note(a_job().pool("planned")), "");
}

TEST(Submission, TheExplanationNamesThePoolThatNobodyKnows) {
  Bench bench;
  bench.worker("w1").joins();
  const JobId job = bench.submit(a_job().pool("nowhere"));
  EXPECT_NE(bench.explain(job).waiting_for.find("pool 'nowhere' does not exist"), std::string::npos);
}

TEST(WorkerQuestion, FindsByIdOrByItsStartIfThatIsUnique) {
  Bench bench;
  bench.worker("alpha").joins();
  bench.worker("alpine").joins();
  bench.worker("alp").joins();
  EXPECT_EQ(bench.ask<WorkerViews>(Question{DescribeWorkers{"", false}}).workers.size(), 3u);
  EXPECT_EQ(bench.ask<WorkerViews>(Question{DescribeWorkers{"alpi", true}}).workers.at(0).record->info.id,
            WorkerId("alpine"));
  EXPECT_EQ(bench.ask<WorkerViews>(Question{DescribeWorkers{"alp", true}}).workers.size(), 1u) << "an exact id wins";
  EXPECT_TRUE(absl::IsInvalidArgument(bench.refused(Question{DescribeWorkers{"al", true}})));
  EXPECT_TRUE(absl::IsNotFound(bench.refused(Question{DescribeWorkers{"beta", true}})));
}

TEST(SystemQuestion, CountsWhatIsActiveAndWhoIsUnhealthy) {
  Bench bench;
  bench.worker("w1").joins();
  bench.worker("w2").joins(a_worker().label("pool", "x")).goes_silent();
  bench.submit(a_job());
  bench.submit(a_job().pool("nowhere"));
  bench.advance(31s);
  const SystemReport report = bench.ask<SystemReport>(Question{DescribeSystem{}});
  EXPECT_EQ(report.pending, 1);
  EXPECT_EQ(report.active, 1);
  EXPECT_EQ(report.workers, 2);
  EXPECT_EQ(report.unhealthy, 1);
}

}  // namespace
}  // namespace hodei::core::submission_test
