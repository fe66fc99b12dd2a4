// Lists, histories, specs and templates, as people and programs read them.
#include "src/store/conformance/store_suite.h"

namespace hodei::store::reader_suite_test {
namespace {

using namespace core;
using absl::StatusCode;
using testing::ElementsAre;
using testing::IsEmpty;

Writes labelled(const JobHead& job, std::string_view name, Labels labels) {
  SpecRow spec = *a_spec(job, name);
  spec.labels = std::move(labels);
  return {PutSpec{std::make_shared<const SpecRow>(std::move(spec))}, live(job)};
}

// Ten jobs, 1 to 10: the even ones have ended.
Writes ten_jobs() {
  Writes out;
  for (uint64_t n = 1; n <= 10; ++n) {
    for (const Write& write : entering(a_job(n))) out.push_back(write);
    if (n % 2 == 0) out.push_back(finished(moved(a_job(n), JobState::Cancelled)));
  }
  return out;
}

TEST_P(StoreSuite, ShowsAJobLiveAndFinished) {
  const JobHead job = a_job(7);
  ASSERT_EQ(commit(labelled(job, "build", {{"team", "a"}})), absl::OkStatus());
  JobView view = reader().job(JobId{7}).value();
  EXPECT_EQ(to_text(view.head), to_text(job));
  EXPECT_EQ(view.spec.name, "build");
  EXPECT_EQ(view.spec.labels.at("team"), "a");
  EXPECT_EQ(view.spec.bytes, "spec of 7");
  EXPECT_FALSE(view.ended.is_set());

  const JobHead running = moved(dispatched(job, "w1"), JobState::Running);
  const JobHead ended = moved(running, JobState::Succeeded, "exit 0");
  ASSERT_EQ(commit({live(dispatched(job, "w1")), live(running)}), absl::OkStatus());
  EXPECT_EQ(to_text(reader().job(JobId{7})->head), to_text(running));
  ASSERT_EQ(commit({finished(ended)}), absl::OkStatus());
  view = reader().job(JobId{7}).value();
  EXPECT_EQ(to_text(view.head), to_text(ended));
  EXPECT_EQ(view.spec.name, "build");
  EXPECT_EQ(view.ended, ended.past->transitions.back().at);
  reopen();
  EXPECT_EQ(to_text(reader().job(JobId{7}).value()), to_text(view));
}

TEST_P(StoreSuite, AnUnknownJobIsNotFound) {
  EXPECT_EQ(reader().job(JobId{1}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(reader().job(JobId{0}).status().code(), StatusCode::kNotFound);
}

TEST_P(StoreSuite, ListsTheNewestFirstLiveAndFinishedTogether) {
  ASSERT_EQ(commit(ten_jobs()), absl::OkStatus());
  EXPECT_THAT(listed({}), ElementsAre(10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
}

TEST_P(StoreSuite, PagesByNumber) {
  ASSERT_EQ(commit(ten_jobs()), absl::OkStatus());
  EXPECT_THAT(listed({.limit = 4}), ElementsAre(10, 9, 8, 7));
  EXPECT_THAT(listed({.before = JobId{7}, .limit = 4}), ElementsAre(6, 5, 4, 3));
  EXPECT_THAT(listed({.before = JobId{3}, .limit = 4}), ElementsAre(2, 1));
  EXPECT_THAT(listed({.before = JobId{1}, .limit = 4}), IsEmpty());
  EXPECT_THAT(listed({.limit = 0}), IsEmpty());
}

TEST_P(StoreSuite, FiltersByState) {
  ASSERT_EQ(commit(ten_jobs()), absl::OkStatus());
  ASSERT_EQ(commit({live(dispatched(a_job(3), "w1"))}), absl::OkStatus());
  EXPECT_THAT(listed({.states = {JobState::Cancelled}}), ElementsAre(10, 8, 6, 4, 2));
  EXPECT_THAT(listed({.states = {JobState::Pending}}), ElementsAre(9, 7, 5, 1));
  EXPECT_THAT(listed({.states = {JobState::Scheduled, JobState::Cancelled}, .limit = 5}), ElementsAre(10, 8, 6, 4, 3));
  EXPECT_THAT(listed({.states = {JobState::Failed}}), IsEmpty());
}

TEST_P(StoreSuite, FiltersByNamespace) {
  JobHead other = a_job(2);
  other.ns = Namespace("other");
  ASSERT_EQ(commit(entering(a_job(1))), absl::OkStatus());
  ASSERT_EQ(commit(entering(other)), absl::OkStatus());
  ASSERT_EQ(commit(entering(a_job(3))), absl::OkStatus());
  EXPECT_THAT(listed({.ns = "default"}), ElementsAre(3, 1));
  EXPECT_THAT(listed({.ns = "other"}), ElementsAre(2));
  EXPECT_THAT(listed({.ns = "oth"}), IsEmpty());
}

TEST_P(StoreSuite, FiltersByPartOfTheName) {
  ASSERT_EQ(commit(entering(a_job(1), "nightly build")), absl::OkStatus());
  ASSERT_EQ(commit(entering(a_job(2), "100% of_it")), absl::OkStatus());
  ASSERT_EQ(commit(entering(a_job(3), kNastyText)), absl::OkStatus());
  EXPECT_THAT(listed({.name_contains = "build"}), ElementsAre(1));
  EXPECT_THAT(listed({.name_contains = "%"}), ElementsAre(3, 2));
  EXPECT_THAT(listed({.name_contains = "100%_"}), IsEmpty());
  EXPECT_THAT(listed({.name_contains = "日本"}), ElementsAre(3));
  EXPECT_THAT(listed({.name_contains = std::string("\0 \n", 3)}), ElementsAre(3));
}

TEST_P(StoreSuite, FiltersByLabelsThatMustAllMatch) {
  ASSERT_EQ(commit(labelled(a_job(1), "a", {{"team", "x"}, {"zone", "1"}})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(2), "a", {{"team", "x"}, {"zone", "2"}})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(3), "a", {{"team", ""}})), absl::OkStatus());
  EXPECT_THAT(listed({.labels = {{"team", "x"}}}), ElementsAre(2, 1));
  EXPECT_THAT(listed({.labels = {{"team", "x"}, {"zone", "1"}}}), ElementsAre(1));
  EXPECT_THAT(listed({.labels = {{"team", ""}}}), ElementsAre(3));
  EXPECT_THAT(listed({.labels = {{"x", "team"}}}), IsEmpty());
}

TEST_P(StoreSuite, FiltersByRulesAboutLabels) {
  ASSERT_EQ(commit(labelled(a_job(1), "a", {{"team", "x"}, {"zone", "1"}})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(2), "a", {{"team", "y"}, {"zone", "2"}})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(3), "a", {{"zone", "1"}})), absl::OkStatus());
  const auto by = [&](std::vector<core::LabelRule> rules) { return listed({.rules = std::move(rules)}); };
  using Operator = core::LabelOperator;
  EXPECT_THAT(by({{"team", Operator::In, {"x", "y"}}}), ElementsAre(2, 1));
  EXPECT_THAT(by({{"team", Operator::In, {"x", "x"}}}), ElementsAre(1)) << "once, however often it is named";
  EXPECT_THAT(by({{"team", Operator::NotIn, {"x"}}}), ElementsAre(3, 2)) << "also where there is no such label";
  EXPECT_THAT(by({{"team", Operator::Exists, {}}}), ElementsAre(2, 1));
  EXPECT_THAT(by({{"team", Operator::DoesNotExist, {}}}), ElementsAre(3));
  EXPECT_THAT(by({{"zone", Operator::In, {"1"}}, {"team", Operator::NotIn, {"x"}}}), ElementsAre(3));
  EXPECT_THAT(listed({.labels = {{"zone", "1"}}, .rules = {{"team", Operator::Exists, {}}}}), ElementsAre(1));
  EXPECT_THAT(listed({.rules = {{"team", Operator::Exists, {}}}, .limit = 1}), ElementsAre(2))
      << "a page is filled from what matches";
}

TEST_P(StoreSuite, FindsJobsByTheirExactName) {
  ASSERT_EQ(commit(labelled(a_job(1), "build", {})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(2), "build-2", {})), absl::OkStatus());
  ASSERT_EQ(commit(labelled(a_job(3), "build", {{"a", "b"}})), absl::OkStatus());
  EXPECT_THAT(listed({.name = "build"}), ElementsAre(3, 1));
  EXPECT_THAT(listed({.name = "build", .labels = {{"a", "b"}}}), ElementsAre(3));
  EXPECT_THAT(listed({.name = "buil"}), IsEmpty());
}

TEST_P(StoreSuite, ListsTheOldestFirstPageByPage) {
  ASSERT_EQ(commit(ten_jobs()), absl::OkStatus());
  const std::vector<uint64_t> newest = listed({});
  std::vector<uint64_t> oldest(newest.rbegin(), newest.rend());
  EXPECT_EQ(listed({.oldest_first = true}), oldest);
  JobQuery query{.oldest_first = true, .limit = 3};
  std::vector<uint64_t> paged;
  while (true) {
    const JobPage page = reader().jobs(query).value();
    for (const JobView& view : page.jobs) paged.push_back(number(view.head.id));
    if (page.next == JobId{}) break;
    query.before = page.next;
  }
  EXPECT_EQ(paged, oldest);
}

TEST_P(StoreSuite, FiltersByTheTimeOfSubmission) {
  for (uint64_t n = 1; n <= 9; n += 2) {  // with gaps between the numbers
    JobHead job = a_job(n);
    job.created = WallTime{static_cast<int64_t>(n) * 1'000'000};
    ASSERT_EQ(commit(entering(job)), absl::OkStatus());
  }
  const auto at = [](int64_t seconds) { return WallTime{seconds * 1'000'000}; };
  EXPECT_THAT(listed({.since = at(5)}), ElementsAre(9, 7, 5));
  EXPECT_THAT(listed({.since = at(6)}), ElementsAre(9, 7));
  EXPECT_THAT(listed({.until = at(5)}), ElementsAre(3, 1));
  EXPECT_THAT(listed({.since = at(2), .until = at(8)}), ElementsAre(7, 5, 3));
  EXPECT_THAT(listed({.since = at(2), .until = at(8), .oldest_first = true}), ElementsAre(3, 5, 7));
  EXPECT_THAT(listed({.since = at(10)}), IsEmpty());
  EXPECT_THAT(listed({.until = at(1)}), IsEmpty());
}

TEST_P(StoreSuite, FiltersByTheWorkerOfTheNewestExecution) {
  for (uint64_t n = 1; n <= 4; ++n) ASSERT_EQ(commit(entering(a_job(n))), absl::OkStatus());
  const JobHead on_w1 = dispatched(a_job(1), "w1");
  const JobHead then_w2 = dispatched(moved(dispatched(a_job(2), "w1"), JobState::Pending), "w2");
  const JobHead waits_again = moved(dispatched(a_job(3), "w1"), JobState::Pending);
  const JobHead running = moved(dispatched(a_job(4), "w1"), JobState::Running);
  ASSERT_EQ(commit({live(on_w1), live(then_w2), live(waits_again), live(running)}), absl::OkStatus());
  ASSERT_EQ(commit({finished(moved(running, JobState::Succeeded))}), absl::OkStatus());
  EXPECT_THAT(listed({.worker = "w1"}), ElementsAre(4, 3, 1));
  EXPECT_THAT(listed({.worker = "w2"}), ElementsAre(2));
}

TEST_P(StoreSuite, ListsCarryTextsButNotTheBytesOfSpecs) {
  ASSERT_EQ(commit(labelled(a_job(1), "build", {{"team", "a"}})), absl::OkStatus());
  const std::vector<JobView> views = reader().jobs({}).value().jobs;
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].spec.name, "build");
  EXPECT_EQ(views[0].spec.labels.at("team"), "a");
  EXPECT_EQ(views[0].spec.correlation_id, "c-1");
  EXPECT_EQ(views[0].spec.bytes, "");
}

TEST_P(StoreSuite, GivesSpecsInTheOrderAsked) {
  ASSERT_EQ(commit(ten_jobs()), absl::OkStatus());
  const auto specs = reader().specs({JobId{5}, JobId{99}, JobId{2}, JobId{5}}).value();
  ASSERT_EQ(specs.size(), 3u);
  EXPECT_EQ(specs[0]->bytes, "spec of 5");
  EXPECT_EQ(specs[1]->bytes, "spec of 2");
  EXPECT_EQ(specs[2]->bytes, "spec of 5");
  EXPECT_THAT(reader().specs({}).value(), IsEmpty());
}

TEST_P(StoreSuite, AnyBytesSurviveInASpec) {
  SpecRow spec = *a_spec(a_job(1), kNastyText);
  spec.labels = {{std::string(kNastyText), std::string(kNastyText)}, {"", ""}};
  spec.correlation_id = kNastyText;
  spec.template_name = kNastyText;
  spec.retry_of = JobId{12};
  for (int repeat = 0; repeat < 300; ++repeat) {
    for (int byte = 0; byte < 256; ++byte) spec.bytes.push_back(static_cast<char>(byte));
  }
  ASSERT_EQ(commit({PutSpec{std::make_shared<const SpecRow>(spec)}, live(a_job(1))}), absl::OkStatus());
  reopen();
  EXPECT_EQ(to_text(*reader().specs({JobId{1}}).value().at(0)), to_text(spec));
  EXPECT_EQ(to_text(reader().job(JobId{1})->spec), to_text(spec));
}

TEST_P(StoreSuite, TemplatesAreReadByNameAndNamespace) {
  const TemplateRow a{.ns = "default", .name = "a", .revision = 1, .updated = {5}, .bytes = std::string(kNastyText)};
  const TemplateRow b{.ns = "default", .name = "b", .revision = 1, .updated = {6}, .bytes = "b"};
  const TemplateRow other{.ns = "other", .name = "a", .revision = 9, .updated = {7}, .bytes = "o"};
  ASSERT_EQ(commit({Put<TemplateRow>{b}, Put<TemplateRow>{other}, Put<TemplateRow>{a}}), absl::OkStatus());
  EXPECT_EQ(reader().job_template("default", "a").value(), a);
  EXPECT_EQ(reader().job_template("other", "a").value(), other);
  EXPECT_EQ(reader().job_template("default", "c").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(reader().job_templates("default").value(), ElementsAre(a, b));
  EXPECT_THAT(reader().job_templates("").value(), ElementsAre(a, b, other));

  TemplateRow newer = a;
  newer.revision = 2;
  ASSERT_EQ(commit({Put<TemplateRow>{newer}, Erase<TemplateRow>{{"default", "b"}}}), absl::OkStatus());
  EXPECT_THAT(reader().job_templates("default").value(), ElementsAre(newer));
}

TEST_P(StoreSuite, SecretsAreReadByNameAndNamespace) {
  const SecretRow a{.ns = "default", .name = "a", .revision = 1, .updated = {5}, .sealed = std::string(kNastyText)};
  const SecretRow other{.ns = "other", .name = "a", .revision = 9, .updated = {7}, .sealed = "o"};
  ASSERT_EQ(commit({Put<SecretRow>{other}, Put<SecretRow>{a}}), absl::OkStatus());
  EXPECT_EQ(reader().secret("default", "a").value(), a);
  EXPECT_EQ(reader().secret("default", "b").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(reader().secrets("default").value(), ElementsAre(a));
  EXPECT_THAT(reader().secrets("").value(), ElementsAre(a, other));

  SecretRow newer = a;
  newer.revision = 2;
  newer.sealed = "n";
  ASSERT_EQ(commit({Put<SecretRow>{newer}, Erase<SecretRow>{{"other", "a"}}}), absl::OkStatus());
  reopen();
  EXPECT_THAT(reader().secrets("").value(), ElementsAre(newer));
}

TEST_P(StoreSuite, TellsWhoHasAnIdempotencyKey) {
  ASSERT_EQ(commit({Put<IdempotencyRow>{{hash128("a"), JobId{7}, WallTime{100}}},
                    Put<IdempotencyRow>{{hash128("b"), JobId{8}, WallTime{200}, ~uint64_t{5}}}}),
            absl::OkStatus());
  const std::vector<Hash128> keys = {hash128("b"), hash128("nobody"), hash128("a")};
  using Owners = std::vector<std::optional<KeyOwner>>;
  const KeyOwner first{JobId{7}};
  const KeyOwner second{JobId{8}, ~uint64_t{5}};
  EXPECT_EQ(reader().key_owners(keys).value(), (Owners{second, std::nullopt, first}));
  ASSERT_EQ(commit({ExpireIdempotency{WallTime{150}}}), absl::OkStatus());
  EXPECT_EQ(reader().key_owners(keys).value(), (Owners{second, std::nullopt, std::nullopt}));
  EXPECT_EQ(reader().key_owners({}).value(), Owners{});
}

TEST_P(StoreSuite, AnIdempotencyKeyIsDeletedOnlyForTheJobThatHasIt) {
  const Hash128 key = hash128("a");
  ASSERT_EQ(commit({Put<IdempotencyRow>{{key, JobId{7}, WallTime{100}}}}), absl::OkStatus());
  ASSERT_EQ(commit({EraseIdempotency{key, JobId{6}}, EraseIdempotency{hash128("b"), JobId{7}}}), absl::OkStatus());
  EXPECT_EQ(reader().key_owners({key}).value().at(0), KeyOwner{JobId{7}});
  ASSERT_EQ(commit({EraseIdempotency{key, JobId{7}}}), absl::OkStatus());
  EXPECT_EQ(reader().key_owners({key}).value().at(0), std::nullopt);
  reopen();
  EXPECT_EQ(reader().key_owners({key}).value().at(0), std::nullopt);
}

TEST_P(StoreSuite, TheAuditTrailIsReadByPagesAndFilters) {
  std::vector<AuditRow> rows;
  Writes batch;
  for (uint64_t n = 1; n <= 6; ++n) {
    rows.push_back({.number = n,
                    .at = {static_cast<int64_t>(n * 10)},
                    .ns = n == 6 ? "other" : "default",
                    .principal = "local",
                    .action = n % 2 == 0 ? "secret.set" : "secret.delivered",
                    .subject = n < 4 ? "a" : "b",
                    .detail = "d"});
    batch.push_back(Put<AuditRow>{rows.back()});
  }
  ASSERT_EQ(commit(batch), absl::OkStatus());
  const auto numbers = [&](const AuditQuery& query) {
    std::vector<uint64_t> out;
    const auto found = reader().audit(query);
    EXPECT_TRUE(found.ok()) << found.status();
    for (const AuditRow& row : found->rows) out.push_back(row.number);
    return out;
  };
  EXPECT_EQ(reader().audit({.limit = 1}).value().rows.at(0), rows[5]);
  EXPECT_THAT(numbers({}), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(numbers({.before = 5, .limit = 2}), ElementsAre(4, 3));
  EXPECT_THAT(numbers({.ns = "default", .action = "secret.set"}), ElementsAre(4, 2));
  EXPECT_THAT(numbers({.subject = "a", .since = {20}}), ElementsAre(3, 2));
}

TEST_P(StoreSuite, OldAuditEntriesGoButTheNewestKeepsItsNumber) {
  Writes batch;
  for (uint64_t n = 1; n <= 3; ++n) batch.push_back(Put<AuditRow>{{.number = n, .at = {static_cast<int64_t>(n * 10)}}});
  ASSERT_EQ(commit(batch), absl::OkStatus());
  ASSERT_EQ(commit({ExpireAudit{WallTime{20}}}), absl::OkStatus());
  EXPECT_EQ(reader().audit({}).value().rows.size(), 2u);
  ASSERT_EQ(commit({ExpireAudit{WallTime{1000}}}), absl::OkStatus());
  reopen();
  ASSERT_EQ(reader().audit({}).value().rows.size(), 1u);
  EXPECT_EQ(reader().audit({}).value().rows[0].number, 3u);
  EXPECT_THAT(loaded(), ElementsAre(testing::StartsWith("put audit number=3 ")));
}

}  // namespace
}  // namespace hodei::store::reader_suite_test
