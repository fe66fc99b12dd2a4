// Idempotency keys that come again, over the wire.
#include <future>

#include "gmock/gmock.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api::key_conflict_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

v1::JobSpec echo(const std::string& word, const std::string& key = "k") {
  v1::JobSpec spec = a_spec();
  spec.mutable_command()->mutable_shell()->add_args(word);
  spec.set_idempotency_key(key);
  return spec;
}

class KeyConflict : public ServerTest {
 protected:
  grpc::Status queue(const v1::JobSpec& spec, v1::QueueJobResponse* out, bool allow = false) {
    v1::QueueJobRequest request;
    *request.mutable_spec() = spec;
    request.set_allow_other_spec(allow);
    return call(*jobs_, &v1::JobExecutionService::Stub::QueueJob, request, out);
  }
};

TEST_F(KeyConflict, AnotherSpecIsRefusedWithBoth) {
  v1::QueueJobResponse first, again, other;
  ASSERT_TRUE(queue(echo("then"), &first).ok());
  ASSERT_TRUE(queue(echo("then"), &again).ok());
  EXPECT_TRUE(again.existing());
  EXPECT_EQ(again.short_id(), first.short_id());
  const grpc::Status refused = queue(echo("now"), &other);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS) << refused.error_message();
  EXPECT_THAT(refused.error_message(), AllOf(HasSubstr("idempotency_key"), HasSubstr(first.short_id()),
                                             HasSubstr("then"), HasSubstr("now"), HasSubstr("allow_other_spec")));
  ASSERT_TRUE(queue(echo("now"), &other, true).ok());
  EXPECT_EQ(other.short_id(), first.short_id());
}

TEST_F(KeyConflict, OfABatchNamesTheSpec) {
  v1::QueueJobResponse first;
  ASSERT_TRUE(queue(echo("then"), &first).ok());
  v1::QueueJobBatchRequest request;
  *request.add_specs() = echo("fine", "another");
  *request.add_specs() = echo("now");
  v1::QueueJobBatchResponse answer;
  const grpc::Status refused = call(*jobs_, &v1::JobExecutionService::Stub::QueueJobBatch, request, &answer);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(refused.error_message(), AllOf(HasSubstr("specs[1].idempotency_key"), HasSubstr("then")));
}

TEST_F(KeyConflict, IsToldInAStreamToo) {
  v1::QueueJobResponse first;
  ASSERT_TRUE(queue(echo("then"), &first).ok());
  grpc::ClientContext context;
  context.set_deadline(deadline_in(kCallPatience));
  const auto stream = jobs_->QueueJobs(&context);
  v1::QueueJobRequest request;
  *request.mutable_spec() = echo("now");
  request.set_sequence(5);
  ASSERT_TRUE(stream->Write(request));
  v1::QueueJobResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.sequence(), 5u);
  EXPECT_EQ(answer.error_code(), static_cast<int>(grpc::StatusCode::ALREADY_EXISTS));
  EXPECT_THAT(answer.error_message(), AllOf(HasSubstr("then"), HasSubstr("now")));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(KeyConflict, AKeyWhoseJobAPersonDeletedIsFreeAgain) {
  v1::QueueJobResponse first, again;
  ASSERT_TRUE(queue(echo("a"), &first).ok());
  v1::CancelJobRequest cancel;
  cancel.set_job_id(first.job_id());
  v1::CancelJobResponse cancelled;
  ASSERT_TRUE(call(*jobs_, &v1::JobExecutionService::Stub::CancelJob, cancel, &cancelled).ok());
  v1::DeleteJobsRequest drop;
  drop.add_job_ids(first.job_id());
  v1::DeleteJobsResponse dropped;
  ASSERT_TRUE(call(*jobs_, &v1::JobExecutionService::Stub::DeleteJobs, drop, &dropped).ok());
  ASSERT_TRUE(queue(echo("b"), &again).ok());
  EXPECT_FALSE(again.existing());
  EXPECT_NE(again.short_id(), first.short_id());
}

TEST_F(KeyConflict, AKeyWhoseJobARuleLetGoSaysSo) {
  v1::QueueJobResponse first, again;
  ASSERT_TRUE(queue(echo("a"), &first).ok());
  v1::CancelJobRequest cancel;
  cancel.set_job_id(first.job_id());
  v1::CancelJobResponse cancelled;
  ASSERT_TRUE(call(*jobs_, &v1::JobExecutionService::Stub::CancelJob, cancel, &cancelled).ok());
  std::promise<void> forgotten;
  server_->parts().loop.post(core::ForgetJobs{{{parse_job_id(first.short_id()).value(), "default"}}, ""},
                             [&forgotten](const absl::StatusOr<core::Reply>&) { forgotten.set_value(); });
  forgotten.get_future().wait();
  const grpc::Status refused = queue(echo("a"), &again);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(refused.error_message(), AllOf(HasSubstr(first.short_id()), HasSubstr("has been deleted")));
}

TEST_F(KeyConflict, APoolThatNobodyKnowsIsANote) {
  v1::JobSpec spec = a_spec();
  spec.mutable_constraints()->set_pool("nowhere");
  v1::QueueJobResponse answer;
  ASSERT_TRUE(queue(spec, &answer).ok());
  EXPECT_THAT(answer.note(), HasSubstr("pool 'nowhere' does not exist"));
}

}  // namespace
}  // namespace hodei::api::key_conflict_test
