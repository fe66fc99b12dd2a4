#include "src/api/http/target.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::api::target_test {
namespace {

std::vector<std::string> texts(std::string_view target) {
  const absl::StatusOr<Target> parsed = parse_target(target);
  EXPECT_TRUE(parsed.ok()) << target << ": " << parsed.status();
  std::vector<std::string> out;
  if (!parsed.ok()) return out;
  for (const Segment& segment : parsed->segments) out.push_back(segment.text);
  return out;
}
bool is_refused(std::string_view target) { return absl::IsInvalidArgument(parse_target(target).status()); }

TEST(Target, SeparatesSegmentsBeforeItDecodesThem) {
  EXPECT_THAT(texts("/jobs/a%2Fb"), testing::ElementsAre("jobs", "a/b"));
  EXPECT_THAT(texts("/"), testing::ElementsAre(""));
  EXPECT_THAT(texts("/a//b/"), testing::ElementsAre("a", "", "b", ""));
  EXPECT_THAT(texts("/%e6%97%a5+%25"), testing::ElementsAre("日+%"));
}

TEST(Target, RefusesWhatIsNoText) {
  for (const char* target : {"/%", "/%4", "/%zz", "/a%", "/%4g", "/%ff", "/%c0%80", "/%ed%a0%80", "/%00", "/a%00b",
                             "/?a=%", "/?%ff=1", "/?a=%00"}) {
    EXPECT_TRUE(is_refused(target)) << target;
  }
}

TEST(Target, RefusesDotsInEverySpelling) {
  for (const char* target : {"/..", "/.", "/a/../b", "/a/..", "/%2e%2e/etc", "/.%2E", "/%2e", "/a/./b"}) {
    EXPECT_TRUE(is_refused(target)) << target;
  }
  EXPECT_THAT(texts("/.../..a/a.."), testing::ElementsAre("...", "..a", "a.."));
}

TEST(Target, ReadsEveryFormOfATarget) {
  EXPECT_THAT(texts("http://host:80/a/b?c=d"), testing::ElementsAre("a", "b"));
  EXPECT_THAT(texts("HTTPS://host"), testing::ElementsAre(""));
  EXPECT_THAT(texts("http://host?a=b"), testing::ElementsAre(""));
  EXPECT_TRUE(parse_target("*")->is_whole_server());
  EXPECT_TRUE(is_refused("host:443"));
  EXPECT_TRUE(is_refused("a/b"));
  EXPECT_TRUE(is_refused("ftp://host/a"));
  EXPECT_TRUE(is_refused("/a#b"));
}

TEST(Target, DecodesTheQuery) {
  const Target target = parse_target("/a?x=1&y=a+b%2B&x=2&&empty=&alone&%C3%A9=%26&z=a=b?c").value();
  EXPECT_EQ(target.path, "/a");
  EXPECT_EQ(
      target.query,
      (Parameters{{"x", "1"}, {"y", "a b+"}, {"x", "2"}, {"empty", ""}, {"alone", ""}, {"é", "&"}, {"z", "a=b?c"}}));
  EXPECT_EQ(target.query.find("no"), std::nullopt);
  EXPECT_EQ(target.query.find("alone"), "");
  EXPECT_EQ(target.query.find("X"), std::nullopt) << "names of parameters have one spelling";
}

TEST(NamedValues, FindsHeadersInAnyCase) {
  const HttpHeaders headers = {{"Content-Type", "a"}, {"X", "1"}, {"x", "2"}};
  EXPECT_EQ(headers.get("content-TYPE"), "a");
  EXPECT_EQ(headers.all("X").size(), 2U);
  EXPECT_EQ(headers.find("Content-Typ"), std::nullopt);
}

}  // namespace
}  // namespace hodei::api::target_test
