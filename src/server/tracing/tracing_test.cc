#include <condition_variable>
#include <set>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/server/tracing/otlp.h"
#include "src/server/tracing/span_exporter.h"

namespace hodei::server::tracing_test {
namespace {

using core::JobState;
using testing::ElementsAre;

constexpr const char* kGiven = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// Lost once, then prepared, run and failed.
core::JobHead a_life() {
  auto past = std::make_shared<core::Past>();
  past->transitions = {{JobState::Scheduled, JobState::Pending, {2'000'000}, 1, ""},
                       {JobState::Pending, JobState::Scheduled, {3'000'000}, 1, "lost"},
                       {JobState::Scheduled, JobState::Pending, {4'000'000}, 2, ""},
                       {JobState::Running, JobState::Scheduled, {6'000'000}, 2, ""},
                       {JobState::Failed, JobState::Running, {9'000'000}, 2, "exit code 3"}};
  core::Execution first;
  first.number = 1;
  first.worker = WorkerId("w1");
  first.state = JobState::Pending;
  first.scheduled = {2'000'000};
  first.ended = {3'000'000};
  core::Execution second = first;
  second.number = 2;
  second.state = JobState::Failed;
  second.scheduled = {4'000'000};
  second.started = {6'000'000};
  second.ended = {9'000'000};
  second.failure = "non_zero_exit";
  second.facts.prepared = {5'000'000};
  past->executions = {first, second};
  past->failure = "non_zero_exit";
  past->reason = "exit code 3";
  core::JobHead job;
  job.id = JobId{5};
  job.ns = Namespace("default");
  job.created = {1'000'000};
  job.state = JobState::Failed;
  job.past = past;
  return job;
}

core::SpecRow spec_of(std::string_view traceparent = "") {
  core::SpecRow spec;
  spec.job = JobId{5};
  spec.name = "build";
  if (!traceparent.empty()) add_traceparent(traceparent, spec.bytes);
  return spec;
}

std::vector<std::string> names(const std::vector<Span>& spans) {
  std::vector<std::string> out;
  for (const Span& span : spans) out.push_back(span.name);
  return out;
}

TEST(SpansOfAJob, CoverEveryPhaseOfEveryExecution) {
  const std::vector<Span> spans = spans_of(a_life(), spec_of());
  EXPECT_THAT(names(spans), ElementsAre("job build", "queued", "queued", "execution 1", "scheduled", "execution 2",
                                        "scheduled", "prepared", "running"));
  EXPECT_EQ(spans[0].start.us, 1'000'000);
  EXPECT_EQ(spans[0].end.us, 9'000'000);
  EXPECT_EQ(spans[2].start.us, 3'000'000);  // from the loss to the next dispatch
  EXPECT_EQ(spans[2].end.us, 4'000'000);
  EXPECT_EQ(spans[0].error, "exit code 3");
  EXPECT_EQ(spans[3].error, "");
  EXPECT_EQ(spans[8].start.us, 6'000'000);
}

TEST(SpansOfAJob, HangTogether) {
  const std::vector<Span> spans = spans_of(a_life(), spec_of());
  std::set<uint64_t> ids;
  for (const Span& span : spans) EXPECT_TRUE(ids.insert(span.id).second) << span.name;
  EXPECT_EQ(spans[0].parent, 0u);
  for (size_t i = 1; i < spans.size(); ++i) EXPECT_TRUE(ids.contains(spans[i].parent)) << spans[i].name;
  EXPECT_EQ(spans[5].id, parse_traceparent(traceparent_for({JobId{5}, 2}, ""))->span);
}

TEST(SpansOfAJob, ContinueTheTraceOfTheCaller) {
  const std::vector<Span> spans = spans_of(a_life(), spec_of(kGiven));
  EXPECT_EQ(trace_text(spans[0].trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span_text(spans[0].parent), "00f067aa0ba902b7");
}

TEST(SpansOfAJob, AreNotMadeWhenTheCallerDoesNotRecord) {
  EXPECT_TRUE(spans_of(a_life(), spec_of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")).empty());
}

TEST(OtlpJson, HasTheFormThatCollectorsRead) {
  const auto all = nlohmann::json::parse(otlp_json(spans_of(a_life(), spec_of(kGiven))));
  const auto& span = all["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["startTimeUnixNano"], "1000000000");
  EXPECT_EQ(span["status"]["code"], 2);
}

TEST(OtlpJson, SurvivesANameThatIsNotText) {
  core::SpecRow spec = spec_of();
  spec.name = "\xff\"\n";
  EXPECT_FALSE(nlohmann::json::parse(otlp_json(spans_of(a_life(), spec)), nullptr, false).is_discarded());
}

// A store that knows one spec.
class OneSpec final : public store::Reader {
 public:
  absl::StatusOr<store::JobView> job(JobId) override { return absl::NotFoundError(""); }
  absl::StatusOr<store::JobPage> jobs(const store::JobQuery&, const store::ReadLimit&) override {
    return absl::NotFoundError("");
  }
  absl::StatusOr<std::vector<core::ArchivedExecution>> archived_executions(const store::ArchiveQuery&) override {
    return absl::NotFoundError("");
  }
  absl::StatusOr<std::vector<store::PrintedBytes>> printed(JobId) override { return absl::NotFoundError(""); }
  absl::StatusOr<std::vector<store::FinishedJob>> finished(JobId, size_t) override { return absl::NotFoundError(""); }
  absl::StatusOr<std::vector<store::FinishedJob>> oldest_finished(const std::string&, size_t) override {
    return absl::NotFoundError("");
  }
  absl::StatusOr<std::map<std::string, int64_t>> finished_counts() override { return absl::NotFoundError(""); }
  absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> specs(const std::vector<JobId>& ids) override {
    std::vector<std::shared_ptr<const core::SpecRow>> out;
    for (const JobId id : ids) {
      if (id == JobId{5}) out.push_back(std::make_shared<core::SpecRow>(spec_of()));
    }
    return out;
  }
  absl::StatusOr<store::AuditPage> audit(const store::AuditQuery&, const store::ReadLimit&) override {
    return absl::NotFoundError("");
  }
  absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> key_owners(const std::vector<Hash128>&) override {
    return absl::NotFoundError("");
  }
  absl::Status rows(const store::RowQuery&, const std::function<void(core::RowIn&)>&) override {
    return absl::NotFoundError("");
  }
};

class ExporterTest : public testing::Test {
 protected:
  void finish(JobId id) {
    auto job = std::make_shared<core::JobHead>(a_life());
    job->id = id;
    events_.publish({job, 1, false});
  }
  EventHub events_;
  OneSpec reader_;
  std::vector<absl::Status> answers_;  // the next ones; then OK
  size_t posts_ = 0;
  SpanExporter exporter_{events_, reader_, [this](const std::string&) {
                           const size_t number = posts_++;
                           return number < answers_.size() ? answers_[number] : absl::OkStatus();
                         }};
};

TEST_F(ExporterTest, SendsWhatWaitsBeforeItStops) {
  exporter_.start();
  finish(JobId{5});
  exporter_.stop();
  EXPECT_EQ(exporter_.exported(), 9u);
  EXPECT_EQ(exporter_.dropped(), 0u);
}

TEST_F(ExporterTest, CountsWhatTheCollectorRefuses) {
  answers_ = {absl::InvalidArgumentError("400")};
  exporter_.start();
  finish(JobId{5});
  exporter_.stop();
  EXPECT_EQ(posts_, 1u);
  EXPECT_EQ(exporter_.dropped(), 9u);
}

TEST_F(ExporterTest, DropsAJobWhoseTraceIsUnknown) {
  exporter_.start();
  finish(JobId{6});
  exporter_.stop();
  EXPECT_EQ(posts_, 0u);
  EXPECT_EQ(exporter_.dropped(), 1u);
}

}  // namespace
}  // namespace hodei::server::tracing_test
