#include "src/base/http/percent.h"

#include "gtest/gtest.h"

namespace hodei::http::percent_test {
namespace {

TEST(Percent, EscapesAllThatMeansSomethingInAUrl) {
  EXPECT_EQ(percent_encoded("a=b,c d/ü"), "a%3Db%2Cc%20d%2F%C3%BC");
  EXPECT_EQ(percent_encoded("A-z_0.9~"), "A-z_0.9~");
}

TEST(Percent, ReadsBackWhatItWrites) {
  EXPECT_EQ(percent_decoded(percent_encoded("100% ü/?#[日]")).value(), "100% ü/?#[日]");
  EXPECT_EQ(percent_decoded("%41%4a%4A+").value(), "AJJ+");
}

TEST(Percent, RefusesBrokenEscapesAndWhatIsNoText) {
  for (const char* text : {"%", "%4", "%zz", "a%", "%4g", "%ff", "%c0%80", "%00"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(percent_decoded(text).status())) << text;
  }
}

}  // namespace
}  // namespace hodei::http::percent_test
