// Executions that others have followed, and finished jobs that go for good.
#include "src/store/conformance/store_suite.h"

namespace hodei::store::archive_suite_test {
namespace {

using namespace core;
using absl::StatusCode;
using testing::ElementsAre;
using testing::IsEmpty;

Write archived(uint64_t job, uint32_t number, std::optional<int64_t> log_bytes = {}, size_t output = 0) {
  ArchivedExecution one;
  one.execution.number = number;
  one.execution.worker = WorkerId("w1");
  one.execution.decision.winner = one.execution.worker;
  one.execution.log_bytes = log_bytes;
  one.execution.facts.outputs["out"] = std::string(output, 'x');
  one.transitions = {{JobState::Scheduled, JobState::Pending, WallTime{number}, number, std::string(kNastyText)}};
  return PutExecution{JobId{job}, std::make_shared<const ArchivedExecution>(std::move(one))};
}

std::vector<uint32_t> numbers(Reader& reader, const ArchiveQuery& query) {
  std::vector<uint32_t> out;
  const auto found = reader.archived_executions(query);
  EXPECT_TRUE(found.ok()) << found.status();
  for (const ArchivedExecution& one : *found) out.push_back(one.execution.number);
  return out;
}

TEST_P(StoreSuite, AArchivedExecutionComesBackAsItWas) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  const Write one = archived(1, 1, 77, 10);
  ASSERT_EQ(commit({one}), absl::OkStatus());
  reopen();
  const auto found = reader().archived_executions({.job = JobId{1}}).value();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], *std::get<PutExecution>(one).archived);
}

TEST_P(StoreSuite, ArchivedExecutionsAreReadPageByPageTheNewestFirst) {
  for (const uint64_t job : {1, 2, 3}) {
    Writes batch = entering(a_job(job));
    for (uint32_t n = 1; n <= 5; ++n) batch.push_back(archived(job, n, {}, 1000));
    ASSERT_EQ(commit(batch), absl::OkStatus());
  }
  EXPECT_THAT(numbers(reader(), {.job = JobId{2}}), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(numbers(reader(), {.job = JobId{2}, .below = 4, .limit = 2}), ElementsAre(3, 2));
  EXPECT_THAT(numbers(reader(), {.job = JobId{2}, .max_bytes = 2500}), ElementsAre(5, 4));
  EXPECT_THAT(numbers(reader(), {.job = JobId{2}, .max_bytes = 1}), ElementsAre(5)) << "one comes whatever its size";
  EXPECT_THAT(numbers(reader(), {.job = JobId{4}}), IsEmpty());
}

TEST_P(StoreSuite, AnExecutionIsArchivedOnceOnly) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  ASSERT_EQ(commit({archived(1, 1)}), absl::OkStatus());
  EXPECT_EQ(commit({archived(1, 1)}).code(), StatusCode::kInternal);
}

TEST_P(StoreSuite, TheOldestExecutionsAreDropped) {
  Writes batch = entering(a_job(1));
  for (uint32_t n = 1; n <= 4; ++n) batch.push_back(archived(1, n));
  batch.push_back(DropExecutions{JobId{1}, 3});
  ASSERT_EQ(commit(batch), absl::OkStatus());
  EXPECT_THAT(numbers(reader(), {.job = JobId{1}}), ElementsAre(4, 3));
}

TEST_P(StoreSuite, TellsWhatArchivedExecutionsPrinted) {
  Writes batch = entering(a_job(1));
  batch.push_back(archived(1, 1, 5));
  batch.push_back(archived(1, 2));
  batch.push_back(archived(1, 3, 0));
  ASSERT_EQ(commit(batch), absl::OkStatus());
  const auto printed = reader().printed(JobId{1}).value();
  ASSERT_EQ(printed.size(), 2u);
  EXPECT_EQ(printed[0].execution, 1u);
  EXPECT_EQ(printed[0].bytes, 5);
  EXPECT_EQ(printed[1].execution, 3u);
  EXPECT_EQ(printed[1].bytes, 0);
}

Writes labelled_job(uint64_t n) {
  SpecRow spec = *a_spec(a_job(n), "build");
  spec.labels = {{"team", "a"}};
  return {PutSpec{std::make_shared<const SpecRow>(std::move(spec))}, live(a_job(n))};
}

TEST_P(StoreSuite, AnErasedJobIsGoneFromEveryList) {
  for (const uint64_t n : {1, 2}) {
    ASSERT_EQ(commit(labelled_job(n)), absl::OkStatus());
    ASSERT_EQ(commit({archived(n, 1), finished(moved(a_job(n), JobState::Cancelled))}), absl::OkStatus());
  }
  ASSERT_EQ(commit({EraseJob{JobId{1}}, EraseJob{JobId{99}}}), absl::OkStatus()) << "one that is not there is no error";
  reopen();
  EXPECT_EQ(reader().job(JobId{1}).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(reader().specs({JobId{1}}).value(), IsEmpty());
  EXPECT_THAT(numbers(reader(), {.job = JobId{1}}), IsEmpty());
  EXPECT_THAT(listed({}), ElementsAre(2));
  EXPECT_THAT(listed({.labels = {{"team", "a"}}}), ElementsAre(2));
  EXPECT_THAT(listed({.name_contains = "bui"}), ElementsAre(2));
  EXPECT_THAT(listed({.ns = "default", .states = {JobState::Cancelled}}), ElementsAre(2));
  EXPECT_THAT(numbers(reader(), {.job = JobId{2}}), ElementsAre(1));
}

TEST_P(StoreSuite, ALiveJobIsNotErased) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  EXPECT_EQ(commit({EraseJob{JobId{1}}}).code(), StatusCode::kInternal);
  EXPECT_TRUE(reader().job(JobId{1}).ok());
  ASSERT_EQ(commit({finished(moved(a_job(1), JobState::Cancelled)), EraseJob{JobId{1}}}), absl::OkStatus());
  EXPECT_FALSE(reader().job(JobId{1}).ok());
}

// Jobs far apart, so that they are in different blocks.
TEST_P(StoreSuite, ListsAcrossBlocksWithEveryFilter) {
  const std::vector<uint64_t> jobs = {1, 8191, 8192, 20'000, 100'000};
  for (const uint64_t n : jobs) {
    ASSERT_EQ(commit(labelled_job(n)), absl::OkStatus());
    if (n != 20'000) {
      ASSERT_EQ(commit({finished(moved(a_job(n), JobState::Cancelled))}), absl::OkStatus());
    }
  }
  EXPECT_THAT(listed({}), ElementsAre(100'000, 20'000, 8192, 8191, 1));
  EXPECT_THAT(listed({.labels = {{"team", "a"}}}), ElementsAre(100'000, 20'000, 8192, 8191, 1));
  EXPECT_THAT(listed({.name_contains = "uil"}), ElementsAre(100'000, 20'000, 8192, 8191, 1));
  EXPECT_THAT(listed({.ns = "default"}), ElementsAre(100'000, 20'000, 8192, 8191, 1));
  EXPECT_THAT(listed({.states = {JobState::Cancelled}}), ElementsAre(100'000, 8192, 8191, 1));
  EXPECT_THAT(listed({.states = {JobState::Cancelled, JobState::Pending}, .before = JobId{8192}}),
              ElementsAre(8191, 1));
  EXPECT_THAT(listed({.name_contains = "uil", .before = JobId{20'000}, .limit = 2}), ElementsAre(8192, 8191));
}

Writes finished_job(uint64_t n, JobState state, const std::string& ns = "default") {
  JobHead job = a_job(n);
  job.ns = Namespace(ns);
  Writes out = entering(job);
  if (state != JobState::Cancelled) job = moved(dispatched(job, "w1"), JobState::Running);
  out.push_back(finished(moved(job, state)));
  return out;
}

std::vector<uint64_t> job_numbers(const absl::StatusOr<std::vector<FinishedJob>>& jobs) {
  std::vector<uint64_t> out;
  EXPECT_TRUE(jobs.ok()) << jobs.status();
  for (const FinishedJob& one : *jobs) out.push_back(number(one.job));
  return out;
}

TEST_P(StoreSuite, TellsWhichJobsHaveFinishedTheOldestFirstWhateverTheirEnd) {
  for (const uint64_t n : {1, 4, 5}) ASSERT_EQ(commit(finished_job(n, JobState::Timeout)), absl::OkStatus());
  for (const uint64_t n : {2, 7}) ASSERT_EQ(commit(finished_job(n, JobState::Succeeded)), absl::OkStatus());
  ASSERT_EQ(commit(finished_job(3, JobState::Failed, "other")), absl::OkStatus());
  ASSERT_EQ(commit(entering(a_job(6))), absl::OkStatus());
  EXPECT_THAT(job_numbers(reader().finished({}, 4)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(job_numbers(reader().finished(JobId{4}, 4)), ElementsAre(5, 7)) << "none twice, no live one";
  EXPECT_THAT(job_numbers(reader().oldest_finished("default", 3)), ElementsAre(1, 2, 4));
  EXPECT_THAT(job_numbers(reader().oldest_finished("other", 3)), ElementsAre(3));
  EXPECT_THAT(reader().finished_counts().value(),
              testing::UnorderedElementsAre(testing::Pair("default", 5), testing::Pair("other", 1)));
}

TEST_P(StoreSuite, AListThatRunsOutOfTimeSaysWhereToGoOn) {
  for (const uint64_t n : {1, 50'000, 100'000}) ASSERT_EQ(commit(entering(a_job(n))), absl::OkStatus());
  std::vector<uint64_t> found;
  JobQuery query{.name_contains = "a job", .limit = 2};
  int pages = 0;
  for (; pages < 100; ++pages) {
    const JobPage page = reader().jobs(query, {.is_out_of_time = [] { return true; }}).value();
    for (const JobView& view : page.jobs) found.push_back(number(view.head.id));
    if (page.next == JobId{}) break;
    ASSERT_TRUE(query.before == JobId{} || page.next < query.before) << "every page gets on";
    query.before = page.next;
  }
  EXPECT_THAT(found, ElementsAre(100'000, 50'000, 1));
  EXPECT_GT(pages, 1);
}

TEST_P(StoreSuite, AListThatNobodyWaitsForEnds) {
  Writes batch;
  for (uint64_t n = 1; n <= 2000; ++n) {
    for (const Write& write : entering(a_job(n))) batch.push_back(write);
  }
  ASSERT_EQ(commit(batch), absl::OkStatus());
  const ReadLimit gone{.is_cancelled = [] { return true; }};
  EXPECT_EQ(reader().jobs({.name_contains = "nothing like it"}, gone).status().code(), StatusCode::kCancelled);
  EXPECT_THAT(listed({.limit = 1}), ElementsAre(2000)) << "the next read is as ever";
}

}  // namespace
}  // namespace hodei::store::archive_suite_test
