#include "src/base/printable.h"

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::printable_test {
namespace {

TEST(Printable, LeavesTextOfAllLanguagesAlone) {
  for (const std::string text : {"", "plain", "na\u00efve \u20ac \u65e5\u672c \U0001f511", "back\\slash"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, ShowsWhatWouldMoveTheCursorAsEscapes) {
  EXPECT_EQ(printable("a\x1b[2Jb\r\x07\x7f"), "a\\x1b[2Jb\\x0d\\x07\\x7f");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one\\ntwo three");
  EXPECT_EQ(printable_lines("one\ntwo\tthree\x1b[0m"), "one\ntwo\tthree\\x1b[0m");
}

TEST(Printable, ShowsC1AlsoInUtf8AndAsRawBytes) {
  EXPECT_EQ(printable("\u009b2J\u0085\u009d0;title\u009c"), "\\u009b2J\\u0085\\u009d0;title\\u009c");
  EXPECT_EQ(printable("\x9b"
                      "2J\xff\xc3"),
            "\\x9b2J\\xff\\xc3");
}

TEST(Printable, ShowsEveryControlCharacterAndNoOther) {
  for (char c = '\x80'; c <= '\x9f'; ++c) {
    const std::string text = {'\xc2', c};
    EXPECT_EQ(printable(text), fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    EXPECT_EQ(printable_json(text), printable(text));
  }
  EXPECT_EQ(printable("\x1f ~\x7f\u00a0"), "\\x1f ~\\x7f\u00a0");
}

TEST(Printable, ShowsMarksThatTurnTheOrderOfText) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061ce\u2028"), "a\\u202eb\\u2066c\\u200fd\\u061ce\\u2028");
}

TEST(Printable, KeepsOnlyColoursWhereTheyAreOurs) {
  EXPECT_EQ(printable_painted("\x1b[31mred\x1b[0m\n"), "\x1b[31mred\x1b[0m\n");
  EXPECT_EQ(printable_painted("\x1b[2J\x1b]0;t\x07\x1b[31"), "\\x1b[2J\\x1b]0;t\\x07\\x1b[31");
}

TEST(Printable, JsonStaysJson) {
  EXPECT_EQ(printable_json("{\"a\": \"x\x7f\u009b\u202e\u20ac\"}\n"), "{\"a\": \"x\\u007f\\u009b\\u202e\u20ac\"}\n");
}

}  // namespace
}  // namespace hodei::printable_test
