#include "src/api/grpc/server_fixture.h"

namespace hodei::api {
namespace {

using Jobs = v1::JobExecutionService::Stub;

class JobDelete : public ServerTest {
 protected:
  std::string finished_job() {
    const std::string id = submit(a_spec());
    worker_->result(worker_->order().execution_id(), v1::JobResult::Succeeded, 0);
    return id;
  }
  void SetUp() override {
    ServerTest::SetUp();
    worker_ = std::make_unique<WorkerByHand>(*workers_, "w1");
  }
  void TearDown() override {
    worker_ = nullptr;
    ServerTest::TearDown();
  }
  grpc::Status remove(const std::vector<std::string>& ids) {
    v1::DeleteJobsRequest request;
    for (const std::string& id : ids) request.add_job_ids(id);
    return call(*jobs_, &Jobs::DeleteJobs, request, &answer_);
  }
  bool is_there(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    v1::Job job;
    return call(*jobs_, &Jobs::GetJob, request, &job).ok();
  }

  std::unique_ptr<WorkerByHand> worker_;
  v1::DeleteJobsResponse answer_;
};

TEST_F(JobDelete, CountsAJobOnceHoweverOftenItIsNamed) {
  const std::string first = finished_job();
  const std::string second = finished_job();
  ASSERT_TRUE(remove({first, second, first}).ok());
  EXPECT_EQ(answer_.deleted(), 2);
  EXPECT_FALSE(is_there(first));
  EXPECT_FALSE(is_there(second));
}

TEST_F(JobDelete, TakesNothingWhenOneOfThemHasNotFinished) {
  const std::string done = finished_job();
  const std::string live = submit(a_spec());
  EXPECT_EQ(remove({done, live}).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_TRUE(is_there(done));
  EXPECT_TRUE(is_there(live));
}

}  // namespace
}  // namespace hodei::api
