#include "src/providers/foreign_text.h"

#include "gtest/gtest.h"

namespace hodei::providers::foreign_text_test {
namespace {

TEST(ForeignText, IsCutBetweenCharacters) {
  EXPECT_EQ(first_part("größer", 3), "gr…");
  EXPECT_EQ(first_part("größer", 20), "größer");
  EXPECT_EQ(last_part("größer", 3), "…er");
  EXPECT_EQ(last_part("größer", 5), "…ßer");
}

TEST(ForeignText, IsOneLineThatNoTerminalActsOn) {
  EXPECT_EQ(first_part("\x1b[31mred\r\n\n", 100), "[31mred");
  EXPECT_EQ(first_part("one\ntwo\n", 100), "one two");
  EXPECT_EQ(first_part(" \n", 100), "");
}

TEST(ForeignText, IsAlwaysUtf8) {
  EXPECT_EQ(as_utf8("gr\xc3\xb6\xff"), "gr???");
  EXPECT_EQ(first_part("\xff\xfe", 100), "??");
  EXPECT_EQ(as_utf8("größer"), "größer");
}

}  // namespace
}  // namespace hodei::providers::foreign_text_test
