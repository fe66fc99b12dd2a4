// Commits: fenced, numbered, all or nothing, and never against the life of a job.
#include "src/store/conformance/store_suite.h"
#include "src/store/memory/memory_store.h"

namespace hodei::store::commit_suite_test {
namespace {

using namespace core;
using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message_of(const absl::Status& status) { return std::string(status.message()); }

TEST_P(StoreSuite, EpochsGrow) {
  const Epoch next = store().new_epoch().value();
  EXPECT_GT(next, epoch_);
  reopen();
  EXPECT_GT(epoch_, next);
}

TEST_P(StoreSuite, RefusesACommitOfAnOldEpochAndWritesNothingOfIt) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  ASSERT_TRUE(store().new_epoch().ok());
  EXPECT_EQ(commit(entering(a_job(2))).code(), StatusCode::kAborted);
  EXPECT_EQ(last_batch(), 1u);
  EXPECT_THAT(listed({}), ElementsAre(1));
}

TEST_P(StoreSuite, RefusesACommitOfAnEpochThatWasNeverGiven) {
  const Epoch future{static_cast<uint64_t>(epoch_) + 1};
  EXPECT_EQ(store().commit(entering(a_job(1)), future, BatchNo{1}).code(), StatusCode::kAborted);
}

TEST_P(StoreSuite, ANewStoreIsEmptyAndItsFirstBatchIsOne) {
  EXPECT_EQ(last_batch(), 0u);
  EXPECT_THAT(loaded(), IsEmpty());
  EXPECT_EQ(store().commit({}, epoch_, BatchNo{1}), absl::OkStatus());
  EXPECT_EQ(last_batch(), 1u);
}

TEST_P(StoreSuite, BatchesComeOneByOne) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  for (const uint64_t wrong : {0u, 1u, 3u}) {
    EXPECT_EQ(store().commit(entering(a_job(2)), epoch_, BatchNo{wrong}).code(), StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(last_batch(), 1u);
  EXPECT_THAT(listed({}), ElementsAre(1));
}

TEST_P(StoreSuite, BatchNumbersGoOnAfterARestart) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  reopen();
  EXPECT_EQ(last_batch(), 1u);
  EXPECT_EQ(commit(entering(a_job(2))), absl::OkStatus());
  EXPECT_EQ(last_batch(), 2u);
}

TEST_P(StoreSuite, ARefusedWriteTakesItsWholeBatchWithIt) {
  const JobHead first = a_job(1);
  ASSERT_EQ(commit(entering(first)), absl::OkStatus());
  const std::vector<std::string> before = loaded();
  Writes batch = {Put<WorkerRecord>{a_worker("w1")}, PutNextJob{9}, live(dispatched(first, "w1"))};
  for (const Write& write : entering(a_job(1))) batch.push_back(write);  // its number is taken
  batch.push_back(Put<OtpRow>{{hash128("x"), WorkerId("w1"), WallTime{1}}});
  EXPECT_EQ(commit(batch).code(), StatusCode::kInternal);
  EXPECT_EQ(loaded(), before);
  EXPECT_EQ(last_batch(), 1u);
  EXPECT_EQ(commit({PutNextJob{2}}), absl::OkStatus()) << "the store goes on after a refusal";
}

TEST_P(StoreSuite, ASpecIsWrittenOnce) {
  const JobHead job = a_job(1);
  ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  const absl::Status again = commit(entering(job, "another name"));
  EXPECT_EQ(again.code(), StatusCode::kInternal);
  EXPECT_THAT(message_of(again), HasSubstr("j1"));
  EXPECT_EQ(reader().job(JobId{1})->spec.name, "a job");
}

TEST_P(StoreSuite, AJobEntersOnlyTogetherWithItsSpec) {
  EXPECT_EQ(commit({live(a_job(1))}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit({PutSpec{a_spec(a_job(1))}}).code(), StatusCode::kInternal);
  EXPECT_THAT(listed({}), IsEmpty());
  EXPECT_EQ(reader().specs({JobId{1}})->size(), 0u);
}

TEST_P(StoreSuite, AFinishedJobIsFinal) {
  const JobHead job = a_job(1);
  const JobHead ended = moved(job, JobState::Cancelled);
  ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  ASSERT_EQ(commit({finished(ended)}), absl::OkStatus());
  EXPECT_EQ(commit({live(job)}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit({finished(moved(job, JobState::Failed))}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit(entering(job)).code(), StatusCode::kInternal);
  EXPECT_EQ(reader().job(JobId{1})->head.state, JobState::Cancelled);
}

TEST_P(StoreSuite, AFinishedJobIsFinalInsideOneBatchToo) {
  const JobHead job = a_job(1);
  Writes batch = entering(job);
  batch.push_back(finished(moved(job, JobState::Cancelled)));
  batch.push_back(live(job));
  EXPECT_EQ(commit(batch).code(), StatusCode::kInternal);
  EXPECT_THAT(listed({}), IsEmpty());
}

TEST_P(StoreSuite, StatesStayInTheirTables) {
  const JobHead job = a_job(1);
  ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  EXPECT_EQ(commit({live(moved(job, JobState::Succeeded))}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit({finished(job)}).code(), StatusCode::kInternal);
  EXPECT_EQ(reader().job(JobId{1})->head.state, JobState::Pending);
}

TEST_P(StoreSuite, AJobNeverGoesBack) {
  const JobHead pending = a_job(1);
  const JobHead scheduled = dispatched(pending, "w1");
  const JobHead running = moved(scheduled, JobState::Running);
  ASSERT_EQ(commit(entering(pending)), absl::OkStatus());
  EXPECT_EQ(commit({live(moved(pending, JobState::Running))}).code(), StatusCode::kInternal) << "never dispatched";
  ASSERT_EQ(commit({live(scheduled)}), absl::OkStatus());
  ASSERT_EQ(commit({live(running)}), absl::OkStatus());
  EXPECT_EQ(commit({live(scheduled)}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit({live(pending)}).code(), StatusCode::kInternal) << "an older execution";
  EXPECT_EQ(commit({live(moved(running, JobState::Pending)), live(running)}).code(), StatusCode::kInternal);
  EXPECT_EQ(commit({finished(moved(pending, JobState::Cancelled))}).code(), StatusCode::kInternal);
  EXPECT_EQ(reader().job(JobId{1})->head.state, JobState::Running);
  EXPECT_EQ(commit({live(moved(running, JobState::Pending))}), absl::OkStatus()) << "lost, so it waits again";
}

TEST_P(StoreSuite, AWholeLifeFitsIntoOneBatch) {
  const JobHead scheduled = dispatched(a_job(1), "w1");
  const JobHead running = moved(scheduled, JobState::Running);
  const JobHead lost = moved(running, JobState::Pending);
  Writes batch = entering(a_job(1));
  for (const JobHead& job : {scheduled, running, lost, dispatched(lost, "w2")}) batch.push_back(live(job));
  batch.push_back(live(moved(dispatched(lost, "w2"), JobState::Running)));
  batch.push_back(finished(moved(moved(dispatched(lost, "w2"), JobState::Running), JobState::Succeeded)));
  ASSERT_EQ(commit(batch), absl::OkStatus());
  EXPECT_THAT(loaded(), IsEmpty());
  const JobView view = reader().job(JobId{1}).value();
  EXPECT_EQ(view.head.state, JobState::Succeeded);
  EXPECT_EQ(view.head.past->transitions.size(), 6u);
  EXPECT_EQ(view.ended, view.head.past->transitions.back().at);
}

TEST_P(StoreSuite, OrderInsideABatchCounts) {
  const TemplateRow row{.ns = "default", .name = "t", .revision = 1, .bytes = "x"};
  ASSERT_EQ(
      commit({Put<TemplateRow>{row}, Erase<TemplateRow>{{"default", "t"}},
              Put<OtpRow>{{hash128("a"), WorkerId("w"), {5}}}, Erase<WorkerRecord>{WorkerId("w")},
              Put<WorkerRecord>{a_worker("w")}, Erase<OtpRow>{hash128("a")}, Put<KeyLimitRow>{{"default", "k", 1}},
              Put<KeyLimitRow>{{"default", "k", 7}}, PutNextJob{5}, PutNextJob{6}}),
      absl::OkStatus());
  EXPECT_THAT(loaded(), ElementsAre("next job 6", "put key_limit ns='default' key='k' max_active=7",
                                    to_text(Put<WorkerRecord>{a_worker("w")})));
}

TEST_P(StoreSuite, FoldsRandomBatchesLikeTheReference) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SetUp();
    MemoryStore reference;
    const Epoch epoch = reference.new_epoch().value();
    RandomHistory history(seed);
    for (uint64_t n = 1; n <= 60; ++n) {
      const Writes batch = history.next_batch();
      ASSERT_EQ(commit(batch), absl::OkStatus());
      ASSERT_EQ(reference.commit(batch, epoch, BatchNo{n}), absl::OkStatus());
      if (n == 30) reopen();
    }
    ASSERT_EQ(loaded(), load_text(reference));
    ASSERT_EQ(history_text(reader()), history_text(reference));
  }
}

}  // namespace
}  // namespace hodei::store::commit_suite_test
