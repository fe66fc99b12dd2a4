// What a restart finds.
#include <set>

#include "src/store/conformance/store_suite.h"

namespace hodei::store::load_suite_test {
namespace {

using namespace core;
using testing::ElementsAre;
using testing::IsEmpty;

std::string text_of(const Write& write) { return to_text(write); }

TEST_P(StoreSuite, LoadsWhatWasPutInTheStatedOrder) {
  const Write scheduler = PutScheduler{{.strategy = Strategy::Affinity, .capacity = 0.1, .threshold = 3}};
  const Write limit = PutKeyLimit{{"default", "key", 3}};
  const Write otp = PutOtp{{hash128("token"), WorkerId("w1"), WallTime{77}}};
  const Write key = PutIdempotency{{hash128("idem"), JobId{1}, WallTime{99}}};
  const Write job_template = PutTemplate{{.ns = "default", .name = "t", .revision = 4, .updated = {5}, .bytes = "b"}};
  const Write secret =
      PutSecret{{.ns = "default", .name = "s", .revision = 3, .updated = {6}, .sealed = std::string(kNastyText)}};
  const Write audited = PutAudit{{.number = 7,
                                  .at = {8},
                                  .ns = "default",
                                  .principal = "local",
                                  .action = "secret.set",
                                  .subject = "s",
                                  .detail = std::string(kNastyText)}};
  const Write worker = PutWorker{a_worker("w1")};
  const Write setting = PutSetting{{SettingKind::Provider, "docker", std::string(kNastyText)}};
  Writes batch = {secret,
                  setting,
                  PutSetting{{SettingKind::Pool, "gone", ""}},
                  DeleteSetting{SettingKind::Pool, "gone"},
                  PutAudit{{.number = 6, .at = {9}}},
                  audited,
                  worker,
                  key,
                  otp,
                  limit,
                  job_template,
                  PutNextJob{12},
                  scheduler};
  for (const uint64_t n : {9, 2, 10}) {
    for (const Write& write : entering(a_job(n))) batch.push_back(write);
  }
  ASSERT_EQ(commit(batch), absl::OkStatus());
  const auto expected =
      ElementsAre(text_of(scheduler), "next job 12", text_of(audited), text_of(setting), text_of(secret),
                  text_of(job_template), text_of(limit), text_of(otp), text_of(key), text_of(worker),
                  text_of(live(a_job(2))), text_of(live(a_job(9))), text_of(live(a_job(10))));
  EXPECT_THAT(loaded(), expected);
  reopen();
  EXPECT_THAT(loaded(), expected);
}

TEST_P(StoreSuite, EveryFieldOfAJobSurvives) {
  JobHead job = a_job((uint64_t{1} << 60) - 1);
  job.ns = Namespace("team-a");
  job.priority = Priority::Critical;
  job.allow_retry = false;
  job.cancel_requested = true;
  job.timeout_requested = true;
  job.attempts = 3;
  job.max_attempts = 1000;
  job.lost_dispatches = 4;
  job.timeout = Duration(123'456'789'012);
  job.grace = Duration(7);
  job.backoff = {.initial = Duration(11), .max = Duration(13), .factor = 1.7};
  job.not_before = WallTime{1'800'000'000'000'001};
  job.concurrency_key = std::string(kNastyText);
  job.secrets = std::make_shared<const std::string>("api_token, db_password");
  job.shape = a_shape(kNastyText);
  ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  job = moved(dispatched(job, "w-1"), JobState::Running, kNastyText);
  ASSERT_EQ(commit({live(job)}), absl::OkStatus());
  reopen();
  EXPECT_THAT(loaded(), ElementsAre(text_of(live(job))));
}

TEST_P(StoreSuite, AJobWithoutShapeOrPastComesBackWithoutThem) {
  JobHead job = a_job(1);
  job.shape = nullptr;
  ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  EXPECT_THAT(loaded(), ElementsAre(text_of(live(job))));
}

TEST_P(StoreSuite, JobsOfOneShapeShareItWhenLoaded) {
  Writes batch;
  for (uint64_t n = 1; n <= 20; ++n) {
    JobHead job = a_job(n);
    job.shape = a_shape(n % 2 == 0 ? "even" : "odd");
    for (const Write& write : entering(job)) batch.push_back(write);
  }
  ASSERT_EQ(commit(batch), absl::OkStatus());
  reopen();
  std::set<const Shape*> shapes;
  std::vector<JobPtr> keep;
  ASSERT_EQ(store().load([&](const Write& write) {
    if (const auto* put = std::get_if<PutJob>(&write)) {
      keep.push_back(put->job);
      shapes.insert(put->job->shape.get());
      EXPECT_EQ(put->job->shape->encoded, encode(*put->job->shape));
    }
  }),
            absl::OkStatus());
  if (GetParam().name != "Memory") {  // memory gives back the very pointers it was given
    EXPECT_EQ(shapes.size(), 2u);
  }
}

TEST_P(StoreSuite, AFinishedJobIsNotLoaded) {
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  ASSERT_EQ(commit({finished(moved(a_job(1), JobState::Cancelled))}), absl::OkStatus());
  EXPECT_THAT(loaded(), IsEmpty());
  reopen();
  EXPECT_THAT(loaded(), IsEmpty());
}

TEST_P(StoreSuite, WorkersComeAndGo) {
  ASSERT_EQ(commit({PutWorker{a_worker("w1")}, PutWorker{a_worker("w2")}}), absl::OkStatus());
  WorkerRecord draining = *a_worker("w1");
  draining.state = WorkerState::Draining;
  draining.stopped = true;
  draining.incarnation = kNastyText;
  const Write changed = PutWorker{std::make_shared<const WorkerRecord>(draining)};
  ASSERT_EQ(commit({changed, DeleteWorker{WorkerId("w2")}, DeleteWorker{WorkerId("never was")}}), absl::OkStatus());
  reopen();
  EXPECT_THAT(loaded(), ElementsAre(text_of(changed)));
}

TEST_P(StoreSuite, AOneTimeTokenIsGoneOnceDeleted) {
  const OtpRow otp{hash128("token"), WorkerId("w1"), WallTime{77}};
  ASSERT_EQ(commit({PutOtp{otp}}), absl::OkStatus());
  EXPECT_THAT(loaded(), ElementsAre(text_of(PutOtp{otp})));
  ASSERT_EQ(commit({DeleteOtp{otp.token}, DeleteOtp{hash128("never was")}}), absl::OkStatus());
  EXPECT_THAT(loaded(), IsEmpty());
}

TEST_P(StoreSuite, IdempotencyKeysExpireByTheirTime) {
  const auto key = [](const char* name, int64_t expires) {
    return PutIdempotency{{hash128(name), JobId{1}, WallTime{expires}}};
  };
  ASSERT_EQ(commit({key("old", 10), key("edge", 20), key("new", 30)}), absl::OkStatus());
  ASSERT_EQ(commit({ExpireIdempotency{WallTime{20}}}), absl::OkStatus());
  EXPECT_THAT(loaded(), testing::UnorderedElementsAre(text_of(key("edge", 20)), text_of(key("new", 30))));
  ASSERT_EQ(commit({key("edge", 50), ExpireIdempotency{WallTime{40}}}), absl::OkStatus()) << "a key may be used again";
  EXPECT_THAT(loaded(), ElementsAre(text_of(key("edge", 50))));
}

TEST_P(StoreSuite, KeyLimitsBelongToANamespace) {
  ASSERT_EQ(commit({PutKeyLimit{{"b", "k", 1}}, PutKeyLimit{{"a", "k", 2}}, PutKeyLimit{{"a", "j", 3}}}),
            absl::OkStatus());
  ASSERT_EQ(commit({PutKeyLimit{{"a", "k", 5}}, DeleteKeyLimit{"a", "j"}}), absl::OkStatus());
  EXPECT_THAT(loaded(), ElementsAre("key 'a'/'k' limit=5", "key 'b'/'k' limit=1"));
}

TEST_P(StoreSuite, TheSchedulersSettingsAreTheLastOnesPut) {
  ASSERT_EQ(commit({PutScheduler{{.capacity = 1}}}), absl::OkStatus());
  const Write last = PutScheduler{{.strategy = Strategy::LeastConnections, .capacity = 1.0 / 3, .history = 1e-300}};
  ASSERT_EQ(commit({last}), absl::OkStatus());
  reopen();
  EXPECT_THAT(loaded(), ElementsAre(text_of(last)));
}

}  // namespace
}  // namespace hodei::store::load_suite_test
