// Reads that take long, through gRPC: they stop when their client goes away or their time is up.
#include "src/api/calls/read_call.h"

#include <atomic>
#include <functional>
#include <future>

#include "src/api/grpc/binding.h"
#include "src/api/grpc/server_fixture.h"

namespace hodei::api {
namespace {

// Answers ListJobs with whatever a test makes of it.
class TestedCall final : public v1::JobExecutionService::CallbackService {
 public:
  explicit TestedCall(const Clock& clock) : clock_(clock) {}

  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* c, const v1::ListJobsRequest*,
                                     v1::ListJobsResponse* out) override {
    auto* call = new CancellableCall;
    Call facts = make_call(facts_of(*c, Callers::All, clock_), "", "");
    facts.cancellation = call->cancellation();
    read(
        Files{pool, clock_}, facts, kLong, [this, out](const store::ReadLimit& limit) { return scan(limit, out); },
        [call](const absl::Status& done) { call->Finish(to_grpc(done)); });
    return call;
  }

  std::function<absl::Status(const store::ReadLimit&, v1::ListJobsResponse*)> scan;
  server::ReadPool pool{"reads", {.threads = 1, .waiting = 2}};

 private:
  const Clock& clock_;
};

class ReadCallTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    tested_ = std::make_unique<TestedCall>(clock_);
    tested_->pool.start();
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(tested_.get());
    running_ = builder.BuildAndStart();
    stub_ = v1::JobExecutionService::NewStub(
        grpc::CreateChannel(cat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
    context_.set_deadline(deadline_in(kCallPatience));
  }
  void TearDown() override {
    running_->Shutdown(deadline_in(0s));
    tested_->pool.stop();
    running_ = nullptr;
    ServerTest::TearDown();
  }

  std::future<grpc::Status> ask() {
    return std::async(std::launch::async, [this] { return stub_->ListJobs(&context_, {}, &answer_); });
  }
  // As a scan does it: every now and then. False: it had to be ended after all.
  bool goes_on_until(const std::function<bool()>& is_enough) {
    const MonoTime patience = clock_.now().mono + kCallPatience;
    while (!is_enough()) {
      if (clock_.now().mono >= patience) return false;
      pause_for(1ms);
    }
    return true;
  }

  SystemClock clock_;
  std::unique_ptr<TestedCall> tested_;
  std::unique_ptr<grpc::Server> running_;
  std::unique_ptr<v1::JobExecutionService::Stub> stub_;
  grpc::ClientContext context_;
  v1::ListJobsResponse answer_;
};

TEST_F(ReadCallTest, AScanStopsWhenItsClientHasGoneAway) {
  std::promise<void> begun;
  std::promise<bool> stopped;
  tested_->scan = [&](const store::ReadLimit& limit, v1::ListJobsResponse*) {
    EXPECT_FALSE(limit.is_cancelled());
    begun.set_value();
    stopped.set_value(goes_on_until(limit.is_cancelled));
    return absl::CancelledError();
  };
  auto call = ask();
  begun.get_future().wait();
  context_.TryCancel();
  EXPECT_TRUE(stopped.get_future().get());
  EXPECT_EQ(call.get().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ReadCallTest, AListWhoseTimeIsUpAnswersWithWhatItHasFound) {
  std::atomic<int64_t> took_us = 0;
  tested_->scan = [&](const store::ReadLimit& limit, v1::ListJobsResponse* out) {
    const MonoTime began = clock_.now().mono;
    EXPECT_FALSE(limit.is_out_of_time()) << "its time begins with its turn";
    EXPECT_TRUE(goes_on_until(limit.is_out_of_time));
    took_us = (clock_.now().mono - began).count();
    EXPECT_FALSE(limit.is_cancelled());
    out->set_next_page_token("so far");
    return absl::OkStatus();
  };
  EXPECT_TRUE(ask().get().ok());
  EXPECT_EQ(answer_.next_page_token(), "so far");
  EXPECT_GE(took_us, Duration(kReadTime).count() - 10'000);
  EXPECT_LT(took_us, Duration(10 * kReadTime).count());
}

TEST_F(ReadCallTest, ACallThatFindsNoPlaceIsRefusedAtOnce) {
  tested_->scan = [&](const store::ReadLimit&, v1::ListJobsResponse*) { return absl::OkStatus(); };
  std::promise<void> begun, go_on;
  ASSERT_TRUE(
      tested_->pool.post([&, allowed = go_on.get_future().share()] { begun.set_value(), allowed.wait(); }).ok());
  begun.get_future().wait();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(tested_->pool.post([] {}).ok());
  const grpc::Status status = ask().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("2 reads are already waiting; try again"), std::string::npos);
  go_on.set_value();
}

}  // namespace
}  // namespace hodei::api
