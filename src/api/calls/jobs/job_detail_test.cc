#include "src/api/calls/jobs/job_detail.h"

#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/ids.h"
#include "src/store/conformance/samples.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::job_detail_test {
namespace {

using core::JobState;

// One job that was dispatched `executions` times; each printed its number and, if asked for, has large outputs.
class JobDetailTest : public testing::Test {
 protected:
  void run(uint32_t executions, size_t output_bytes = 0) {
    const store::Epoch epoch = store_.new_epoch().value();
    core::JobHead job = store::a_job(1);
    core::Writes writes = store::entering(job);
    for (uint32_t n = 1; n <= executions; ++n) {
      store::archive(job, writes);
      job = store::dispatched(job, "w1");
      auto past = std::make_shared<core::Past>(*job.past);
      past->executions.back().facts.outputs["out"] = std::string(output_bytes, 'x');
      job.past = past;
      if (n < executions) job = store::moved(job, JobState::Pending, "again");
    }
    writes.push_back(store::live(job));
    ASSERT_EQ(store_.commit(writes, epoch, store::BatchNo{1}), absl::OkStatus());
  }

  v1::Job get(int page_size = 0, const std::string& token = "") {
    v1::GetJobRequest request;
    request.set_job_id(short_id(JobId{1}));
    request.set_execution_page_size(page_size);
    request.set_execution_page_token(token);
    v1::Job out;
    EXPECT_EQ(read_job(store_, request, &out), absl::OkStatus());
    return out;
  }

  store::MemoryStore store_;
};

TEST_F(JobDetailTest, ShowsAllOfAShortHistory) {
  run(3);
  const v1::Job job = get();
  EXPECT_EQ(job.executions_total(), 3);
  EXPECT_EQ(job.older_executions_token(), "");
  ASSERT_EQ(job.executions_size(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(job.executions(i).number(), i + 1);
  ASSERT_EQ(job.history_size(), 6);
  EXPECT_EQ(job.history(0).reason(), "submitted");
  EXPECT_EQ(job.history(2).reason(), "again");
  EXPECT_EQ(job.history(5).execution_id(), to_string(ExecutionId{JobId{1}, 3}));
}

TEST_F(JobDetailTest, GivesTheNewestFirstAndOlderOnesPageByPage) {
  run(10);
  v1::Job page = get(4);
  std::vector<int> numbers;
  for (int pages = 0; pages < 5; ++pages) {
    EXPECT_EQ(page.executions_total(), 10);
    EXPECT_EQ(page.history(0).reason() == "submitted", page.older_executions_token().empty());
    for (int i = page.executions_size() - 1; i >= 0; --i) numbers.push_back(page.executions(i).number());
    if (page.older_executions_token().empty()) break;
    page = get(4, page.older_executions_token());
  }
  EXPECT_EQ(numbers, (std::vector{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST_F(JobDetailTest, AnAnswerFitsIntoAMessageHoweverLargeTheOutputs) {
  run(100, 64 << 10);
  v1::Job page = get(1000);
  EXPECT_LT(page.ByteSizeLong(), size_t{3} << 20);
  EXPECT_GT(page.executions_size(), 1);
  EXPECT_NE(page.older_executions_token(), "");
  int seen = 0;
  for (int pages = 0; pages < 200; ++pages) {
    seen += page.executions_size();
    if (page.older_executions_token().empty()) break;
    page = get(1000, page.older_executions_token());
  }
  EXPECT_EQ(seen, 100);
}

TEST_F(JobDetailTest, AJobThatNeverRanHasItsHistory) {
  const store::Epoch epoch = store_.new_epoch().value();
  core::Writes writes = store::entering(store::a_job(1));
  writes.push_back(store::finished(store::moved(store::a_job(1), JobState::Cancelled, "not wanted")));
  ASSERT_EQ(store_.commit(writes, epoch, store::BatchNo{1}), absl::OkStatus());
  const v1::Job job = get();
  EXPECT_EQ(job.executions_size(), 0);
  ASSERT_EQ(job.history_size(), 2);
  EXPECT_EQ(job.history(1).reason(), "not wanted");
}

TEST_F(JobDetailTest, RefusesWhatItCannotRead) {
  v1::GetJobRequest request;
  v1::Job out;
  request.set_job_id(short_id(JobId{1}));
  request.set_execution_page_size(1001);
  EXPECT_EQ(read_job(store_, request, &out).code(), absl::StatusCode::kInvalidArgument);
  request.set_execution_page_size(0);
  request.set_execution_page_token("x1");
  EXPECT_EQ(read_job(store_, request, &out).code(), absl::StatusCode::kInvalidArgument);
  request.clear_execution_page_token();
  EXPECT_EQ(read_job(store_, request, &out).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace hodei::api::job_detail_test
