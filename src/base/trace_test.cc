#include "src/base/trace.h"

#include <gtest/gtest.h>

namespace hodei::trace_test {
namespace {

constexpr std::string_view kGiven = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Traceparent, IsReadAsTheStandardWritesIt) {
  const auto parsed = parse_traceparent(kGiven);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(trace_text(parsed->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span_text(parsed->span), "00f067aa0ba902b7");
  EXPECT_TRUE(parsed->sampled);
  EXPECT_FALSE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")->sampled);
  EXPECT_TRUE(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"));
}

TEST(Traceparent, IsRefusedWhenItIsNotOne) {
  for (const std::string_view bad : {"", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                                     "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                     "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                     "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                     "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                                     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",
                                     "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  }
}

TEST(TraceOfAJob, IsItsPublicIdWhenTheCallerNamesNone) {
  std::string digits = public_id(JobId{77});
  std::erase(digits, '-');
  EXPECT_EQ(trace_text(trace_of(JobId{77}, "").trace), digits);
  EXPECT_EQ(trace_of(JobId{77}, "").span, 0u);
}

TEST(TraceOfAJob, IsTheCallersWhenTheSpecNamesOne) {
  std::string spec("\x0a\x03job\x38\x05", 7);  // name, timeout_ms
  EXPECT_EQ(traceparent_in(spec), "");
  add_traceparent(kGiven, spec);
  EXPECT_EQ(traceparent_in(spec), kGiven);
  EXPECT_EQ(trace_of(JobId{77}, spec), *parse_traceparent(kGiven));
  const std::string inside = traceparent_for({JobId{77}, 2}, spec);
  ASSERT_TRUE(parse_traceparent(inside));
  EXPECT_EQ(parse_traceparent(inside)->trace, parse_traceparent(kGiven)->trace);
  EXPECT_EQ(parse_traceparent(inside)->span, span_of(ExecutionId{JobId{77}, 2}));
}

TEST(TraceOfAJob, SurvivesASpecThatIsCutOffAnywhere) {
  std::string spec("\x0a\x03job\x38\x05", 7);
  add_traceparent(kGiven, spec);
  for (size_t cut = 0; cut < spec.size(); ++cut) EXPECT_EQ(traceparent_in(std::string_view(spec).substr(0, cut)), "");
}

TEST(Spans, DifferByJobExecutionAndPhase) {
  const uint64_t job = span_of(JobId{1});
  const uint64_t first = span_of(ExecutionId{JobId{1}, 1});
  EXPECT_NE(job, span_of(JobId{2}));
  EXPECT_NE(first, span_of(ExecutionId{JobId{1}, 2}));
  EXPECT_NE(first, span_of(ExecutionId{JobId{2}, 1}));
  EXPECT_NE(span_of(first, "running"), span_of(first, "scheduled"));
}

}  // namespace
}  // namespace hodei::trace_test
