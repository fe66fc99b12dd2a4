#include "src/server/open_calls.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace hodei::server {
namespace {

TEST(OpenCalls, AreAllEndedWithAHintWhenTheServerStops) {
  OpenCalls calls;
  std::vector<absl::Status> ends;
  calls.add([&](const absl::Status& why) { ends.push_back(why); });
  calls.add([&](const absl::Status& why) { ends.push_back(why); });
  calls.end_all();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_TRUE(absl::IsUnavailable(ends[0]));
  EXPECT_EQ(ends[0].message(), "the server is shutting down; try again in a moment");
  calls.end_all();
  EXPECT_EQ(ends.size(), 2u) << "nobody is ended twice";
}

TEST(OpenCalls, OneThatEndedByItselfIsLeftAlone) {
  OpenCalls calls;
  const uint64_t call = calls.add([](const absl::Status&) { FAIL(); });
  calls.remove(call);
  EXPECT_EQ(calls.size(), 0u);
  calls.end_all();
}

TEST(OpenCalls, OneThatComesWhileTheServerStopsIsEndedAtOnce) {
  OpenCalls calls;
  calls.end_all();
  bool ended = false;
  calls.add([&](const absl::Status&) { ended = true; });
  EXPECT_TRUE(ended);
  EXPECT_EQ(calls.size(), 0u);
}

TEST(OpenCalls, AnEndMayRemoveItself) {
  OpenCalls calls;
  uint64_t call = 0;
  call = calls.add([&](const absl::Status&) { calls.remove(call); });
  calls.end_all();
  EXPECT_EQ(calls.size(), 0u);
}

}  // namespace
}  // namespace hodei::server
