// What a restart finds.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <type_traits>

#include "src/store/conformance/store_suite.h"

namespace hodei::store::load_suite_test {
namespace {

using namespace core;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string text_of(const Write& write) { return to_text(write); }

TEST_P(StoreSuite, LoadsWhatWasPutInTheStatedOrder) {
  const Write scheduler = PutScheduler{{.strategy = Strategy::Affinity, .capacity = 0.1, .threshold = 3}};
  const Write limit = Put<KeyLimitRow>{{"default", "key", 3}};
  const Write otp = Put<OtpRow>{{hash128("token"), WorkerId("w1"), WallTime{77}}};
  const Write key = Put<IdempotencyRow>{{hash128("idem"), JobId{1}, WallTime{99}}};
  const Write job_template =
      Put<TemplateRow>{{.ns = "default", .name = "t", .revision = 4, .updated = {5}, .bytes = "b"}};
  const Write secret =
      Put<SecretRow>{{.ns = "default", .name = "s", .revision = 3, .updated = {6}, .sealed = std::string(kNastyText)}};
  const Write audited = Put<AuditRow>{{.number = 7,
                                       .at = {8},
                                       .ns = "default",
                                       .principal = "local",
                                       .action = "secret.set",
                                       .subject = "s",
                                       .detail = std::string(kNastyText)}};
  const Write worker = Put<WorkerRecord>{a_worker("w1")};
  const Write provider = Put<ProviderRow>{{.name = "docker", .type = std::string(kNastyText)}};
  const Write pool = Put<PoolRow>{{.name = "builders", .image = std::string(kNastyText)}};
  const Write tenant = Put<TenantRow>{{.ns = "red", .weight = 2.5, .max_running = 7}};
  const Write rule = Put<KeyRule>{{.ns = "default", .key = "a/b", .limit = 3, .rate = 0.25, .burst = 9}};
  Writes batch = {secret,
                  rule,
                  tenant,
                  pool,
                  provider,
                  Put<PoolRow>{{.name = "gone"}},
                  Erase<PoolRow>{"gone"},
                  Put<AuditRow>{{.number = 6, .at = {9}}},
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
  const auto expected = ElementsAre(text_of(scheduler), "next job 12", text_of(audited), text_of(provider),
                                    text_of(pool), text_of(tenant), text_of(rule), text_of(limit), text_of(secret),
                                    text_of(job_template), text_of(key), text_of(otp), text_of(worker),
                                    text_of(live(a_job(2))), text_of(live(a_job(9))), text_of(live(a_job(10))));
  EXPECT_THAT(loaded(), expected);
  reopen();
  EXPECT_THAT(loaded(), expected);
}

// Rows of one type as they are loaded: one per key, or the last only.
template <class Row>
std::vector<std::string> expected_load(const std::map<KeyOf<Row>, Row>& rows) {
  std::vector<Row> in_order;
  for (const auto& [key, row] : rows) in_order.push_back(row);
  if constexpr (!std::is_null_pointer_v<std::remove_const_t<decltype(RowType<Row>::load_by)>>) {
    std::ranges::stable_sort(in_order, std::greater(), RowType<Row>::load_by);
  }
  std::vector<std::string> out;
  for (const Row& row : in_order) out.push_back(to_text(Put<Row>(row)));
  if (RowType<Row>::loading == Loading::LastKeyOnly) out.erase(out.begin(), out.end() - 1);
  return out;
}

TEST_P(StoreSuite, RowsOfEveryTypeAreFoundListedAndLoaded) {
  std::vector<std::string> all;
  each_type(AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    SCOPED_TRACE(RowType<Row>::table);
    SampleValues values(7);
    std::map<KeyOf<Row>, Row> rows;
    while (rows.size() < 5) {
      const Row row = a_row<Row>(values);
      rows.emplace(key_of(row), row);
    }
    Writes batch;
    for (const auto& [key, row] : rows) batch.push_back(Put<Row>(row));
    ASSERT_EQ(commit(batch), absl::OkStatus());
    std::vector<std::string> put, listed;
    for (const auto& [key, row] : rows) {
      const absl::StatusOr<std::optional<Row>> found = reader().template find<Row>(key);
      ASSERT_TRUE(found.ok() && found->has_value()) << found.status();
      EXPECT_EQ(to_text(Put<Row>(**found)), to_text(Put<Row>(row)));
      put.push_back(to_text(Put<Row>(row)));
    }
    const absl::StatusOr<std::vector<Row>> found = reader().template list<Row>();
    ASSERT_TRUE(found.ok()) << found.status();
    for (const Row& row : *found) listed.push_back(to_text(Put<Row>(row)));
    EXPECT_EQ(listed, put) << "by growing key";
    for (const std::string& line : expected_load<Row>(rows)) all.push_back(line);
  });
  EXPECT_EQ(loaded(), all);
  reopen();
  EXPECT_EQ(loaded(), all);
}

TEST_P(StoreSuite, RowsOfEveryTypeAreReplacedAndErasedByTheirKey) {
  each_type(AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    SCOPED_TRACE(RowType<Row>::table);
    if constexpr (RowType<Row>::writing == Writing::PutAndErase) {
      SampleValues values(3);
      const Row first = a_row<Row>(values);
      Row kept = a_row<Row>(values);
      while (key_of(kept) == key_of(first)) kept = a_row<Row>(values);
      Row second = a_row<Row>(values);
      each_column<Row>([&](const auto& column) {
        if constexpr (std::remove_cvref_t<decltype(column)>::is_key) {
          std::invoke(column.access, second) = std::invoke(column.access, first);
        }
      });
      ASSERT_EQ(commit({Put<Row>(first), Put<Row>(kept)}), absl::OkStatus());
      ASSERT_EQ(commit({Put<Row>(second)}), absl::OkStatus());
      EXPECT_THAT(loaded(), UnorderedElementsAre(to_text(Put<Row>(second)), to_text(Put<Row>(kept))));
      ASSERT_EQ(commit({Erase<Row>{key_of(first)}, Erase<Row>{key_of(first)}}), absl::OkStatus());
      EXPECT_THAT(loaded(), ElementsAre(to_text(Put<Row>(kept))));
      ASSERT_EQ(commit({Erase<Row>{key_of(kept)}}), absl::OkStatus());
    }
  });
}

TEST_P(StoreSuite, AListOfRowsMayBeNarrowedByTheBeginningOfTheirKey) {
  ASSERT_EQ(commit({Put<KeyLimitRow>{{"b", "k", 1}}, Put<KeyLimitRow>{{"a", "k", 2}}, Put<KeyLimitRow>{{"a", "j", 3}},
                    Put<KeyLimitRow>{{"ab", "j", 4}}}),
            absl::OkStatus());
  const std::vector<KeyLimitRow> of_a = reader().list<KeyLimitRow>(std::string("a")).value();
  EXPECT_THAT(of_a, ElementsAre(KeyLimitRow{"a", "j", 3}, KeyLimitRow{"a", "k", 2}));
  EXPECT_EQ(reader().find<KeyLimitRow>({"a", "nothing"}).value(), std::nullopt);
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
  ASSERT_EQ(commit({Put<WorkerRecord>{a_worker("w1")}, Put<WorkerRecord>{a_worker("w2")}}), absl::OkStatus());
  WorkerRecord draining = *a_worker("w1");
  draining.state = WorkerState::Draining;
  draining.stopped = true;
  draining.incarnation = kNastyText;
  const Write changed = Put<WorkerRecord>{std::make_shared<const WorkerRecord>(draining)};
  ASSERT_EQ(commit({changed, Erase<WorkerRecord>{WorkerId("w2")}, Erase<WorkerRecord>{WorkerId("never was")}}),
            absl::OkStatus());
  reopen();
  EXPECT_THAT(loaded(), ElementsAre(text_of(changed)));
}

TEST_P(StoreSuite, AOneTimeTokenIsGoneOnceDeleted) {
  const OtpRow otp{hash128("token"), WorkerId("w1"), WallTime{77}};
  ASSERT_EQ(commit({Put<OtpRow>{otp}}), absl::OkStatus());
  EXPECT_THAT(loaded(), ElementsAre(text_of(Put<OtpRow>{otp})));
  ASSERT_EQ(commit({Erase<OtpRow>{otp.token}, Erase<OtpRow>{hash128("never was")}}), absl::OkStatus());
  EXPECT_THAT(loaded(), IsEmpty());
}

TEST_P(StoreSuite, IdempotencyKeysExpireByTheirTime) {
  const auto key = [](const char* name, int64_t expires) {
    return Put<IdempotencyRow>{{hash128(name), JobId{1}, WallTime{expires}}};
  };
  ASSERT_EQ(commit({key("old", 10), key("edge", 20), key("new", 30)}), absl::OkStatus());
  ASSERT_EQ(commit({ExpireIdempotency{WallTime{20}}}), absl::OkStatus());
  EXPECT_THAT(loaded(), UnorderedElementsAre(text_of(key("edge", 20)), text_of(key("new", 30))));
  ASSERT_EQ(commit({key("edge", 50), ExpireIdempotency{WallTime{40}}}), absl::OkStatus()) << "a key may be used again";
  EXPECT_THAT(loaded(), ElementsAre(text_of(key("edge", 50))));
}

TEST_P(StoreSuite, KeyLimitsBelongToANamespace) {
  ASSERT_EQ(commit({Put<KeyLimitRow>{{"b", "k", 1}}, Put<KeyLimitRow>{{"a", "k", 2}}, Put<KeyLimitRow>{{"a", "j", 3}}}),
            absl::OkStatus());
  ASSERT_EQ(commit({Put<KeyLimitRow>{{"a", "k", 5}}, Erase<KeyLimitRow>{{"a", "j"}}}), absl::OkStatus());
  EXPECT_THAT(loaded(),
              ElementsAre("put key_limit ns='a' key='k' max_active=5", "put key_limit ns='b' key='k' max_active=1"));
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
