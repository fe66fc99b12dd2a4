// What people read of a job that waits.
#include <map>

#include "gmock/gmock.h"
#include "hodei/v1/scheduler_service.grpc.pb.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api::waiting_reasons_test {
namespace {

using testing::HasSubstr;

class WaitingReasons : public ServerTest {
 protected:
  std::map<std::string, std::string> reasons() {
    v1::ListJobsResponse answer;
    EXPECT_TRUE(call(*jobs_, &v1::JobExecutionService::Stub::ListJobs, v1::ListJobsRequest(), &answer).ok());
    std::map<std::string, std::string> out;
    for (const v1::Job& job : answer.jobs()) out[job.short_id()] = job.reason();
    return out;
  }
  static v1::JobSpec keyed() {
    v1::JobSpec spec = a_spec();
    spec.mutable_concurrency()->set_key("db");
    return spec;
  }
};

TEST_F(WaitingReasons, NameTheKeyThatHoldsAJobBackInListsAndPages) {
  WorkerByHand worker(*workers_, "w1");
  const std::string first = submit(keyed());
  const std::string execution = worker.order().execution_id();
  const std::string second = submit(keyed());
  const std::string third = submit(a_spec());
  std::map<std::string, std::string> words = reasons();
  EXPECT_THAT(words.at(second), HasSubstr("concurrency key 'db' is at its limit of 1"));
  EXPECT_EQ(job(second).reason(), words.at(second));
  EXPECT_EQ(words.at(third), "waiting for a worker");
  EXPECT_EQ(job(third).reason(), "waiting for a worker");
  worker.result(execution, v1::JobResult::Succeeded, 0);
  EXPECT_THAT(job(second).reason(), Not(HasSubstr("limit")));
}

TEST_F(WaitingReasons, NameTheQuota) {
  const auto scheduler = v1::SchedulerService::NewStub(channel_);
  v1::SetTenantRequest quota;
  quota.set_namespace_("default");
  quota.set_max_running(1);
  v1::Tenant tenant;
  ASSERT_TRUE(call(*scheduler, &v1::SchedulerService::Stub::SetTenant, quota, &tenant).ok());
  WorkerByHand worker(*workers_, "w1");
  submit(a_spec());
  worker.order();
  const std::string held = submit(a_spec());
  EXPECT_THAT(reasons().at(held), HasSubstr("tenant 'default' is at its quota max_running: 1 of 1"));
}

// Back in the queue, it neither runs nor has ended.
TEST_F(WaitingReasons, OfAJobThatIsTriedAgainComeWithoutExitCodeAndTimeOfTheLastAttempt) {
  WorkerByHand worker(*workers_, "w1");
  v1::JobSpec spec = a_spec();
  spec.set_max_attempts(2);
  spec.mutable_backoff()->set_initial_ms(600'000);
  spec.mutable_backoff()->set_max_ms(600'000);
  const std::string id = submit(spec);
  const std::string execution = worker.order().execution_id();
  v1::WorkerMessage message;
  v1::JobResult& result = *message.add_results();
  result.set_execution_id(execution);
  result.set_outcome(v1::JobResult::Failed);
  result.set_exit_code(7);
  result.set_signal(9);
  result.set_started_us(1'000'000);
  result.set_ended_us(3'000'000);
  worker.say(message);
  ASSERT_TRUE(worker.is_heard());
  // The loop has decided it, durably, when it answers what it was asked after it.
  v1::ListWorkersResponse workers;
  ASSERT_TRUE(call(*workers_, &v1::WorkerAgentService::Stub::ListWorkers, v1::ListWorkersRequest(), &workers).ok());
  const v1::Job waits = job(id);
  ASSERT_EQ(waits.state(), v1::Job::Pending) << waits.reason();
  EXPECT_THAT(waits.reason(), HasSubstr("attempt 1 of 2 ended"));
  EXPECT_FALSE(waits.has_exit_code());
  EXPECT_EQ(waits.signal(), 0);
  EXPECT_FALSE(waits.has_started_at());
  EXPECT_FALSE(waits.has_run_ms());
  ASSERT_EQ(waits.executions_size(), 1);
  EXPECT_EQ(waits.executions(0).exit_code(), 7) << "it is told with the execution";
}

}  // namespace
}  // namespace hodei::api::waiting_reasons_test
