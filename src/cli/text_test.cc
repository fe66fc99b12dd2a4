#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/utf8.h"
#include "src/cli/address.h"
#include "src/cli/label_rules.h"
#include "src/cli/local_commands.h"
#include "src/cli/quantities.h"
#include "src/cli/suggestion.h"
#include "src/cli/table.h"
#include "src/cli/utf8.h"

namespace hodei::cli::text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Durations, AreReadTheWayPeopleWriteThem) {
  EXPECT_EQ(parse_duration("30s").value(), Duration(30s));
  EXPECT_EQ(parse_duration("500ms").value(), Duration(500ms));
  EXPECT_EQ(parse_duration("1h30m").value(), Duration(90min));
  EXPECT_EQ(parse_duration("1.5s").value(), Duration(1500ms));
  EXPECT_EQ(parse_duration("2d").value(), Duration(48h));
  EXPECT_EQ(parse_duration("0").value(), Duration(0));
}

TEST(Durations, RefuseWhatIsNotOneAndSayWhy) {
  EXPECT_THAT(std::string(parse_duration("30").status().message()), HasSubstr("has no unit"));
  EXPECT_THAT(std::string(parse_duration("-5s").status().message()), HasSubstr("negative"));
  EXPECT_THAT(std::string(parse_duration("5x").status().message()), HasSubstr("unknown unit 'x'"));
  for (const char* text : {"", "s", "1..5s", "5 s", "99999999999d", "1e9s"})
    EXPECT_FALSE(parse_duration(text).ok()) << text;
}

TEST(Durations, PrintForPeopleAndReadBackExactly) {
  EXPECT_EQ(human_duration(340ms), "340ms");
  EXPECT_EQ(human_duration(12400ms), "12.4s");
  EXPECT_EQ(human_duration(185s), "3m05s");
  EXPECT_EQ(human_duration(130min), "2h10m");
  EXPECT_EQ(human_duration(123h), "5d3h");
  for (Duration d : {Duration(1), Duration(90s), Duration(1500ms), Duration(49h)}) {
    EXPECT_EQ(parse_duration(exact_duration(d)).value(), d) << exact_duration(d);
  }
}

TEST(Sizes, CountInPowersOf1024) {
  EXPECT_EQ(parse_bytes("10GiB").value(), int64_t{10} << 30);
  EXPECT_EQ(parse_bytes("512m").value(), 512 << 20);
  EXPECT_EQ(parse_bytes("100").value(), 100);
  EXPECT_FALSE(parse_bytes("10X").ok());
  EXPECT_EQ(parse_megabytes("512").value(), 512);
  EXPECT_EQ(parse_megabytes("2g").value(), 2048);
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
}

TEST(Suggestion, FindsWhatWasMeantAndNothingFarAway) {
  const std::vector<std::string> fields = {"name", "timeout_ms", "max_attempts", "labels"};
  EXPECT_EQ(nearest("timout_ms", fields), "timeout_ms");
  EXPECT_EQ(nearest("timeout", fields), "timeout_ms");
  EXPECT_EQ(nearest("max-attempts", fields), "max_attempts");
  EXPECT_EQ(nearest("lables", fields), "labels");
  EXPECT_EQ(nearest("zzz", fields), "");
  EXPECT_EQ(nearest("", fields), "");
}

std::string rule_text(const std::string& text) {
  const auto rule = parse_label_rule(text);
  return rule.ok() ? rule->ShortDebugString() : std::string(rule.status().message());
}

TEST(LabelRules, ReadTheLongAndTheShortForms) {
  EXPECT_EQ(rule_text("zone In (a, b)"), R"(key: "zone" operator: In values: "a" values: "b")");
  EXPECT_EQ(rule_text("zone in(a,b)"), R"(key: "zone" operator: In values: "a" values: "b")");
  EXPECT_EQ(rule_text("zone NotIn a"), R"(key: "zone" operator: NotIn values: "a")");
  EXPECT_EQ(rule_text("gpu Exists"), R"(key: "gpu" operator: Exists)");
  EXPECT_EQ(rule_text("gpu"), R"(key: "gpu" operator: Exists)");
  EXPECT_EQ(rule_text("!gpu"), R"(key: "gpu" operator: DoesNotExist)");
  EXPECT_EQ(rule_text("cores Gt 4"), R"(key: "cores" operator: Gt values: "4")");
  EXPECT_EQ(rule_text("cores<8"), R"(key: "cores" operator: Lt values: "8")");
  EXPECT_EQ(rule_text("zone!=a"), R"(key: "zone" operator: NotIn values: "a")");
  EXPECT_EQ(rule_text("zone=a"), R"(key: "zone" operator: In values: "a")");
}

TEST(LabelRules, RefuseWhatCannotHold) {
  EXPECT_THAT(std::string(parse_label_rule(std::string(201, 'k')).status().message()),
              HasSubstr("more than 200 characters"));
  EXPECT_THAT(std::string(parse_label_rule("k=" + std::string(501, 'v')).status().message()),
              HasSubstr("more than 500"));
  EXPECT_THAT(rule_text("zone Inn (a)"), HasSubstr("did you mean 'In'?"));
  EXPECT_THAT(rule_text("zone In"), HasSubstr("names no values"));
  EXPECT_THAT(rule_text("zone In (a"), HasSubstr("not closed"));
  for (const char* bad : {"cores Gt many", "cores Gt -", "cores<99999999999999999999", "cores>+1"}) {
    EXPECT_THAT(rule_text(bad), HasSubstr("one whole number")) << bad;
  }
  EXPECT_THAT(rule_text("gpu Exists (a)"), HasSubstr("take no values"));
  EXPECT_THAT(rule_text(""), HasSubstr("is empty"));
  EXPECT_THAT(rule_text("=a"), HasSubstr("no label name"));
}

TEST(Addresses, ComeWithOrWithoutAScheme) {
  EXPECT_EQ(parse_address("http://localhost:50051").value(), (Address{"localhost", 50051}));
  EXPECT_EQ(parse_address("10.0.0.1:7").value(), (Address{"10.0.0.1", 7}));
  EXPECT_EQ(parse_address("host").value(), (Address{"host", kDefaultGrpcPort}));
  EXPECT_EQ(parse_address("[::1]:9").value(), (Address{"::1", 9}));
  EXPECT_EQ(to_string(Address{"::1", 9}), "[::1]:9");
  EXPECT_EQ(parse_addresses("a:1, b:2").value().size(), 2u);
  for (const char* text :
       {"", "host:", "host:x", "host:99999", "ftp://h:1", "::1", "a b:1", "https://h:1", "h:1/../x"}) {
    EXPECT_FALSE(parse_addresses(text).ok()) << text;
  }
}

TEST(Taints, HaveAnEffect) {
  EXPECT_EQ(parse_taint("gpu").value(), (WorkerTaint{"gpu", "", "NoSchedule"}));
  EXPECT_EQ(parse_taint("team=a:NoExecute").value(), (WorkerTaint{"team", "a", "NoExecute"}));
  EXPECT_THAT(std::string(parse_taint("team=a:NoExcute").status().message()), HasSubstr("did you mean 'NoExecute'?"));
}

TEST(Table, AlignsColumnsAndPaintsOnlyWhenAsked) {
  Table table({"ID", "STATE"});
  table.add({"j1", {"Failed", Colour::Red}});
  table.add({"jlong", {"Ünïcode", Colour::None}});
  EXPECT_EQ(table.text(false), "ID      STATE\nj1      Failed\njlong   Ünïcode\n");
  EXPECT_THAT(table.text(true), HasSubstr("\x1b[31mFailed\x1b[0m"));
}

TEST(Table, DoesNotLetTextFromOutsideMoveTheCursor) { EXPECT_EQ(printable("a\x1b[2Jb\nc"), "a\\x1b[2Jb\\nc"); }

TEST(Lists, AreSplitAndTrimmed) { EXPECT_THAT(split_list(" a, b,,c "), ElementsAre("a", "b", "c")); }

TEST(Utf8, TellsTextFromOtherBytes) {
  EXPECT_TRUE(is_utf8("plain, \u00e9, \u20ac, \U0001f600"));
  for (const char* bytes : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80"}) {
    EXPECT_FALSE(is_utf8(bytes));
  }
}

}  // namespace
}  // namespace hodei::cli::text_test
