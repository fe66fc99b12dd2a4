#include "src/worker/supervisor/last_report.h"

#include "gtest/gtest.h"

namespace hodei::worker::last_report_test {
namespace {

Exit an_end(uint64_t job) {
  return {.execution = {JobId{job}, 2}, .outcome = Outcome::Succeeded, .started = {5}, .ended = {6}, .log_bytes = 7};
}

TEST(LastReport, IsReadAsItWasWritten) {
  LastReport report{.stopped = {"a", "b"}, .exits = {an_end(1), an_end(2)}};
  report.exits[1].facts.outputs["key"] = "value";
  const std::optional<LastReport> read = decode_last_report(encode(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stopped, report.stopped);
  ASSERT_EQ(read->exits.size(), 2u);
  EXPECT_EQ(read->exits[1].execution, report.exits[1].execution);
  EXPECT_EQ(read->exits[1].facts, report.exits[1].facts);
  EXPECT_EQ(read->exits[0].log_bytes, 7);
}

TEST(LastReport, ThatIsCutShortIsRefused) {
  const std::string whole = encode(LastReport{.stopped = {"a"}, .exits = {an_end(1)}});
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(decode_last_report(whole.substr(0, n))) << n;
}

TEST(LastReport, HasABound) {
  LastReport report;
  for (uint64_t i = 1; i <= 20; ++i) {
    report.exits.push_back(an_end(i));
    report.exits.back().facts.outputs["large"] = std::string(size_t{1} << 20, 'x');
  }
  const std::string bytes = encode(report);
  EXPECT_LE(bytes.size(), LastReport::kMaxBytes + 1000);
  EXPECT_EQ(decode_last_report(bytes)->exits.size(), 15u);
}

TEST(LastWord, HoldsNoSecret) {
  ExecutionNotes kept{.secrets = {{"token", "s3cr3t-value"}}};
  kept.reported = {{"said", "it is s3cr3t-value"}, {"s3cr3t-value", "key"}, {"plain", "text"}};
  const Exit exit = with_notes(an_end(1), kept);
  EXPECT_EQ(exit.facts.secrets, std::vector<std::string>{"token"});
  EXPECT_EQ(exit.facts.outputs.size(), 2u);
  EXPECT_EQ(exit.facts.outputs.at("plain"), "text");
  EXPECT_EQ(encode(LastReport{.exits = {exit}}).find("s3cr3t"), std::string::npos);
}

TEST(LastWord, OfOneWhoseArtifactsWereNotSentIsThatItWasInterrupted) {
  EXPECT_EQ(with_notes(an_end(1), {.outputs = {"artifact"}}).outcome, Outcome::Interrupted);
  const Exit failed = with_notes(an_end(1), {.outputs_failed = "no such host"});
  EXPECT_EQ(failed.outcome, Outcome::Failed);
  EXPECT_EQ(failed.failure, "artifact_error");
}

}  // namespace
}  // namespace hodei::worker::last_report_test
