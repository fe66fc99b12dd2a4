// Calls about jobs, made without any transport.
#include "src/api/calls/jobs/job_calls.h"

#include <future>

#include "gmock/gmock.h"
#include "src/api/calls/calls_fixture.h"
#include "src/store/conformance/samples.h"
#include "src/store/memory/memory_log_store.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::job_calls_test {
namespace {

using core::JobState;
using testing::HasSubstr;

class JobCalls : public testing::Test {
 protected:
  void SetUp() override {
    pool_.start();
    replies_.start();
  }
  void TearDown() override {
    replies_.stop();
    pool_.stop();
  }

  static v1::QueueJobRequest a_request() {
    v1::QueueJobRequest request;
    request.mutable_spec()->mutable_command()->mutable_shell()->set_cmd("true");
    return request;
  }
  void accepts_as(JobId id) {
    commands_.decide = [id](const core::Command&) { return core::Submitted{{{.job = id}}}; };
  }
  // A job of the store, which has ended or not.
  void stores(JobState state) {
    core::JobHead job = store::a_job(1);
    core::Writes writes = store::entering(job);
    if (core::is_terminal(state)) {
      writes.push_back(store::finished(store::moved(job, state, "for a test")));
    }
    ASSERT_EQ(store_.commit(writes, epoch_, store::BatchNo{1}), absl::OkStatus());
  }
  void ends(JobState state) {
    core::JobHead job = store::a_job(1);
    job.state = state;
    events_.publish({.job = std::make_shared<core::JobHead>(job)});
  }
  v1::CancelJobRequest cancel_and_wait() {
    v1::CancelJobRequest request;
    request.set_job_id(short_id(JobId{1}));
    request.set_wait(true);
    return request;
  }

  SystemClock clock_;
  store::MemoryStore store_;
  store::Epoch epoch_ = store_.new_epoch().value();
  server::ReadPool pool_{"reads", {}};
  server::Vault vault_{server::SecretKey{}};
  store::MemoryLogStore log_store_;
  server::LogHub logs_{log_store_, [](JobId) { return std::optional<server::JobEnd>(); }, clock_};
  server::EventHub events_;
  server::OpenCalls open_calls_;
  server::RefusedClaims refused_;
  Replies replies_;
  FakeCommands commands_;
  absl::Status room_;
  std::string input_trouble_;
  const JobPorts ports_{commands_,
                        {store_, store_, pool_, clock_},
                        vault_,
                        logs_,
                        events_,
                        open_calls_,
                        refused_,
                        replies_,
                        [this] { return room_; },
                        [this](JobId) { return input_trouble_; }};
};

TEST_F(JobCalls, AJobIsQueuedWithWhatTheCallSays) {
  accepts_as(JobId{7});
  v1::QueueJobRequest request = a_request();
  Call call = make_call({.peer = "test", .user = "ann", .correlation_id = "order 12"}, request);
  call.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  request.set_sequence(5);
  Answered<v1::QueueJobResponse> answered;
  queue_job(ports_, call, request, answered.answer());
  ASSERT_EQ(answered.status(), absl::OkStatus());
  EXPECT_EQ(answered.response().short_id(), short_id(JobId{7}));
  EXPECT_EQ(answered.response().sequence(), 5);
  const core::NewJob& job = commands_.last<core::Submit>().jobs.at(0);
  EXPECT_EQ(job.spec->correlation_id, "order 12");
  EXPECT_THAT(job.spec->bytes, HasSubstr(call.traceparent));
  EXPECT_EQ(commands_.envelopes.back()->principal.text(), "ann (test)");
}

TEST_F(JobCalls, ABadSpecNeverReachesTheLoop) {
  Answered<v1::QueueJobResponse> answered;
  queue_job(ports_, a_call(), v1::QueueJobRequest(), answered.answer());
  EXPECT_EQ(answered.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(commands_.taken.empty());
  room_ = absl::ResourceExhaustedError("full");
  Answered<v1::QueueJobResponse> full;
  queue_job(ports_, a_call(), a_request(), full.answer());
  EXPECT_EQ(full.status(), room_);
  EXPECT_TRUE(commands_.taken.empty());
}

TEST_F(JobCalls, OneBadSpecOfABatchIsNamedAndNoneIsQueued) {
  v1::QueueJobBatchRequest request;
  *request.add_specs() = a_request().spec();
  request.add_specs();
  Answered<v1::QueueJobBatchResponse> answered;
  queue_job_batch(ports_, a_call(), request, answered.answer());
  EXPECT_THAT(std::string(answered.status().message()), HasSubstr("specs[1].command"));
  EXPECT_TRUE(commands_.taken.empty());
}

TEST_F(JobCalls, AJobIsReadFromTheStoreAndTheLoopSaysWhyItWaits) {
  stores(JobState::Pending);
  commands_.decide = [](const core::Command&) { return core::WaitReasons{{"a quota holds it back"}}; };
  v1::GetJobRequest request;
  request.set_job_id(short_id(JobId{1}));
  Answered<v1::Job> answered;
  get_job(ports_, a_call(), request, answered.answer());
  ASSERT_EQ(answered.status(), absl::OkStatus());
  EXPECT_EQ(answered.response().reason(), "a quota holds it back");
  // A loop that is not well is not asked.
  commands_.well = false;
  Answered<v1::Job> again;
  get_job(ports_, a_call(), request, again.answer());
  ASSERT_EQ(again.status(), absl::OkStatus());
  EXPECT_NE(again.response().reason(), "a quota holds it back");
}

TEST_F(JobCalls, NobodyReadsForACallerWhoHasGoneAway) {
  stores(JobState::Pending);
  Call call = a_call();
  call.cancellation->cancel();
  Answered<v1::ListJobsResponse> answered;
  list_jobs(ports_, call, v1::ListJobsRequest(), answered.answer());
  EXPECT_EQ(answered.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(answered.response().jobs_size(), 0);
}

TEST_F(JobCalls, CancellingAFinishedJobSaysHowItEnded) {
  stores(JobState::Cancelled);
  commands_.decide = [](const core::Command&) { return absl::NotFoundError("no such job"); };
  for (const bool wait : {false, true}) {
    v1::CancelJobRequest request = cancel_and_wait();
    request.set_wait(wait);
    Answered<v1::CancelJobResponse> answered;
    cancel_job(ports_, a_call(), request, answered.answer());
    EXPECT_EQ(answered.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(answered.status().message()), HasSubstr("has already been cancelled"));
  }
  EXPECT_EQ(open_calls_.size(), 0u);
}

TEST_F(JobCalls, ACancelThatWaitsIsAnsweredByTheEndOfTheJob) {
  commands_.decide = [](const core::Command&) { return core::CancelTaken{JobState::Running}; };
  Answered<v1::CancelJobResponse> answered;
  const v1::CancelJobRequest request = cancel_and_wait();
  cancel_job(ports_, a_call(), request, answered.answer());
  EXPECT_FALSE(answered.is_there());
  ends(JobState::Running);  // it moves, and has not ended
  ends(JobState::Cancelled);
  ASSERT_EQ(answered.status(), absl::OkStatus());
  EXPECT_EQ(answered.response().state(), v1::Job::Cancelled);
  ends(JobState::Cancelled);  // nobody listens any more
}

TEST_F(JobCalls, ACancelThatWaitsEndsWithItsCallerAndWithTheServer) {
  commands_.decide = [](const core::Command&) { return core::CancelTaken{JobState::Running}; };
  const v1::CancelJobRequest request = cancel_and_wait();
  const Call call = a_call();
  Answered<v1::CancelJobResponse> left;
  cancel_job(ports_, call, request, left.answer());
  call.cancellation->cancel();
  EXPECT_EQ(left.status().code(), absl::StatusCode::kCancelled);
  Answered<v1::CancelJobResponse> stopped;
  cancel_job(ports_, a_call(), request, stopped.answer());
  open_calls_.end_all();
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kUnavailable);
  ends(JobState::Cancelled);
  EXPECT_EQ(open_calls_.size(), 0u);
}

TEST_F(JobCalls, ReportsNeedASession) {
  v1::StartJobRequest request;
  request.set_execution_id(to_string(ExecutionId{JobId{1}, 1}));
  Answered<v1::StartJobResponse> answered;
  start_job(ports_, a_call(), request, answered.answer());
  EXPECT_EQ(answered.status().code(), absl::StatusCode::kUnauthenticated);
}

// Pulls what is there now.
std::vector<v1::ExecutionEvent> pull(Source<v1::ExecutionEvent>& source, Next* last = nullptr) {
  std::vector<v1::ExecutionEvent> out;
  v1::ExecutionEvent event;
  Next next = source.next(event);
  for (; next == Next::Message; next = source.next(event)) out.push_back(event);
  if (last != nullptr) *last = next;
  return out;
}

TEST_F(JobCalls, AWatcherIsToldThePastOfAJobAndThenItsEnd) {
  stores(JobState::Pending);
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(short_id(JobId{1}));
  const auto source = watch_executions(ports_, a_call(), request);
  ASSERT_TRUE(source.ok()) << source.status();
  std::promise<void> read;
  std::once_flag once;
  (*source)->start([&] { std::call_once(once, [&] { read.set_value(); }); });
  ASSERT_EQ(read.get_future().wait_for(kTestPatience), std::future_status::ready);
  const auto past = pull(**source);
  ASSERT_EQ(past.size(), 1u);
  EXPECT_EQ(past[0].transition().reason(), "submitted");
  const core::JobHead ended = store::moved(store::a_job(1), JobState::Cancelled, "not wanted");
  events_.publish({.job = std::make_shared<core::JobHead>(ended), .first_transition = 1});
  Next last{};
  const auto rest = pull(**source, &last);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_TRUE(rest[0].final());
  EXPECT_EQ(last, Next::End);
  EXPECT_EQ((*source)->status(), absl::OkStatus());
}

TEST_F(JobCalls, AWatcherOfNoSuchJobHearsIt) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(short_id(JobId{1}));
  const auto source = watch_executions(ports_, a_call(), request);
  std::promise<void> read;
  (*source)->start([&] { read.set_value(); });
  ASSERT_EQ(read.get_future().wait_for(kTestPatience), std::future_status::ready);
  Next last{};
  EXPECT_TRUE(pull(**source, &last).empty());
  EXPECT_EQ(last, Next::End);
  EXPECT_EQ((*source)->status().code(), absl::StatusCode::kNotFound);
}

TEST_F(JobCalls, AWatcherWhoIsTooSlowIsToldHowMuchItHasMissed) {
  const auto source = watch_executions(ports_, a_call(), v1::ExecutionEventStreamRequest());
  int woken = 0;
  (*source)->start([&] { ++woken; });
  const auto submitted = std::make_shared<core::JobHead>(store::a_job(1));
  for (int i = 0; i < 1'005; ++i) events_.publish({.job = submitted});
  EXPECT_EQ(woken, 1) << "who has been told is not told again";
  EXPECT_EQ(pull(**source).size(), 1'000u);
  events_.publish({.job = submitted});
  const auto rest = pull(**source);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].gap().lost(), 5);
  EXPECT_TRUE(rest[1].has_transition());
}

}  // namespace
}  // namespace hodei::api::job_calls_test
