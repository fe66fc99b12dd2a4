#include "src/core/jobs/wish.h"

#include "gtest/gtest.h"

namespace hodei::core::wish_test {
namespace {

TEST(JobWish, IsReadAsItWasWritten) {
  const JobWish wish{"team", "build", "bytes", {{"target", "all"}, {"mode", ""}}, "run 7"};
  EXPECT_EQ(decode_wish(encode(wish)).value(), wish);
  EXPECT_EQ(decode_wish(encode(JobWish{})).value(), JobWish{});
}

TEST(JobWish, OtherBytesAreRefused) {
  const std::string bytes = encode(JobWish{"team", "build", "bytes", {{"target", "all"}}, ""});
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(decode_wish(bytes.substr(0, cut)).status().code(), absl::StatusCode::kDataLoss) << cut;
  }
}

}  // namespace
}  // namespace hodei::core::wish_test
