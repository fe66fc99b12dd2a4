#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/utf8.h"
#include "src/cli/in_zone.h"
#include "src/cli/output/columns.h"
#include "src/cli/output/table.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/text/address.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/moments.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli::text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Durations, AreReadTheWayPeopleWriteThem) {
  EXPECT_EQ(parse_duration("30s").value(), Duration(30s));
  EXPECT_EQ(parse_duration("500ms").value(), Duration(500ms));
  EXPECT_EQ(parse_duration("1h30m").value(), Duration(90min));
  EXPECT_EQ(parse_duration("1.5s").value(), Duration(1500ms));
  EXPECT_EQ(parse_duration("2d").value(), Duration(48h));
  EXPECT_EQ(parse_duration("1w").value(), Duration(168h));
  EXPECT_EQ(parse_duration("0").value(), Duration(0));
}

TEST(Durations, RefuseWhatIsNotOneAndSayWhy) {
  EXPECT_THAT(std::string(parse_duration("30").status().message()), HasSubstr("has no unit"));
  EXPECT_THAT(std::string(parse_duration("-5s").status().message()), HasSubstr("negative"));
  EXPECT_THAT(std::string(parse_duration("5x").status().message()), HasSubstr("unknown unit 'x'"));
  for (const char* text : {"", "s", "1..5s", "5 s", "99999999999d", "1e9s"})
    EXPECT_FALSE(parse_duration(text).ok()) << text;
}

TEST(Durations, InMillisecondsAreNotRoundedToNone) {
  EXPECT_EQ(parse_milliseconds("1500us").value(), 1);
  EXPECT_EQ(parse_milliseconds("0").value(), 0);
  for (const char* text : {"500us", "0.4ms", "0.0001s"})
    EXPECT_THAT(std::string(parse_milliseconds(text).status().message()), HasSubstr("is less than 1ms")) << text;
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
  EXPECT_EQ(parse_bytes("512Mi").value(), 512 << 20);
  EXPECT_EQ(parse_bytes("2Gi").value(), int64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1Ki").value(), 1024);
  EXPECT_FALSE(parse_bytes("10X").ok());
  EXPECT_FALSE(parse_bytes("10Mix").ok());
  EXPECT_EQ(parse_megabytes("2g").value(), 2048);
  EXPECT_EQ(parse_megabytes("512Mi").value(), 512);
  EXPECT_EQ(parse_megabytes("1.5Gi").value(), 1536);
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
}

TEST(Sizes, AreBytesWithoutAUnitWhereverTheyAreAskedFor) {
  EXPECT_EQ(parse_bytes("1073741824").value(), 1 << 30);
  EXPECT_EQ(parse_megabytes("1073741824").value(), 1024) << "not 1073741824 MiB";
  EXPECT_EQ(parse_megabytes("0").value(), 0);
  EXPECT_THAT(std::string(parse_megabytes("512").status().message()),
              HasSubstr("'512' is 512 bytes, less than 1Mi; write 512Mi for 512 MiB"));
}

TEST(Sizes, InMegabytesAreRoundedUp) {
  EXPECT_EQ(parse_megabytes("1048577").value(), 2);
  EXPECT_EQ(parse_megabytes("1.2Mi").value(), 2);
}

TEST(Rates, AreShownInTheUnitThatPeopleWouldWrite) {
  EXPECT_EQ(human_rate(parse_rate("5/h").value()), "5/h");
  EXPECT_EQ(human_rate(parse_rate("100/m").value()), "1.667/s");
  EXPECT_EQ(human_rate(parse_rate("5/s").value()), "5/s");
  EXPECT_EQ(human_rate(parse_rate("1/d").value()), "1/d");
}

TEST(Cores, MayBeWrittenInThousandths) {
  EXPECT_EQ(parse_cores("500m").value(), 500);
  EXPECT_EQ(parse_cores("0.25").value(), 250);
  EXPECT_EQ(parse_cores("2").value(), 2000);
  EXPECT_EQ(parse_cores("1500m").value(), 1500);
  EXPECT_EQ(parse_cores("0").value(), 0);
  for (const char* bad : {"m", "500mm", "1k", "-1", "1 m"}) EXPECT_FALSE(parse_cores(bad).ok()) << bad;
  EXPECT_THAT(std::string(parse_cores("0.0001").status().message()), HasSubstr("less than 1m"));
}

TEST(Cores, AreRoundedToTheNearestThousandth) {
  EXPECT_EQ(parse_cores("1.001").value(), 1001) << "1.001 * 1000 is a little less in binary";
  EXPECT_EQ(parse_cores("1.005").value(), 1005);
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

std::string selector_text(const std::string& text) {
  const auto rules = parse_selector("--label", text);
  if (!rules.ok()) return std::string(rules.status().message());
  std::string out;
  for (const v1::LabelRule& rule : *rules) out += (out.empty() ? "" : " & ") + rule.ShortDebugString();
  return out;
}

TEST(Selectors, AreThoseOfKubectl) {
  EXPECT_EQ(selector_text("a=b"), R"(key: "a" operator: In values: "b")");
  EXPECT_EQ(selector_text("a==b"), R"(key: "a" operator: In values: "b")");
  EXPECT_EQ(selector_text("a=b,c!=d"), R"(key: "a" operator: In values: "b" & key: "c" operator: NotIn values: "d")");
  EXPECT_EQ(selector_text("e in (x,y), !f"),
            R"(key: "e" operator: In values: "x" values: "y" & key: "f" operator: DoesNotExist)");
  EXPECT_EQ(selector_text("e notin (x)"), R"(key: "e" operator: NotIn values: "x")");
  EXPECT_EQ(selector_text("a = b, g"), R"(key: "a" operator: In values: "b" & key: "g" operator: Exists)");
  EXPECT_EQ(selector_text("title=hello world"), R"(key: "title" operator: In values: "hello world")");
  for (const char* bad : {"", "=b", "a=b,", "e in", "e in (x", "a ! b", "!team=x", "!a in (b)", "!a b"}) {
    EXPECT_THAT(selector_text(bad), HasSubstr("is not a label selector; write a=b, a!=b")) << bad;
  }
}

TEST(Addresses, ComeWithOrWithoutAScheme) {
  EXPECT_EQ(parse_address("http://localhost:50051").value(), (Address{"localhost", 50051}));
  EXPECT_EQ(parse_address("10.0.0.1:7").value(), (Address{"10.0.0.1", 7}));
  EXPECT_EQ(parse_address("host").value(), (Address{"host", kDefaultGrpcPort}));
  EXPECT_EQ(parse_address("[::1]:9").value(), (Address{"::1", 9}));
  EXPECT_EQ(to_string(Address{"::1", 9}), "[::1]:9");
  EXPECT_EQ(parse_addresses("a:1, b:2").value().size(), 2u);
  for (const char* text :
       {"", "57062", "host:", "host:x", "host:99999", "ftp://h:1", "::1", "a b:1", "https://h:1", "h:1/../x"}) {
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
  EXPECT_EQ(table.text({}), "ID      STATE\nj1      Failed\njlong   Ünïcode\n");
  EXPECT_THAT(table.text({.colours = true}), HasSubstr("\x1b[31mFailed\x1b[0m"));
}

TEST(Table, CountsWideCharactersAsTwoColumns) {
  EXPECT_EQ(columns_of("日本"), 4u);
  EXPECT_EQ(columns_of("🚀"), 2u);
  EXPECT_EQ(columns_of("e\u0301"), 1u);
  Table table({"NAME", "STATE"});
  table.add({"日本語", "Ready"});
  table.add({"plain", "Busy"});
  EXPECT_EQ(table.text({}), "NAME     STATE\n日本語   Ready\nplain    Busy\n");
}

TEST(Table, MayBeWithoutItsHeaders) {
  Table table({"A LONG HEADER", "STATE"});
  table.add({"j1", "Ready"});
  EXPECT_EQ(table.text({.headers = false}), "j1   Ready\n");
}

TEST(Table, FitsANarrowTerminal) {
  Table table({"ID", "NAME", "STATE", "REASON"});
  table.add({"j1f3k", "日本語の長い名前のジョブ", "Pending", "no worker is connected; start one with hodei agent"});
  table.add({"j2", "build", "Running", ""});
  for (const size_t columns : {size_t{40}, size_t{60}, size_t{80}}) {
    std::istringstream lines(table.text({.columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), columns) << line;
  }
  EXPECT_THAT(table.text({.columns = 60}), HasSubstr("…"));
  EXPECT_THAT(table.text({.columns = 60}), HasSubstr("j1f3k")) << "what people type is never cut";
  EXPECT_THAT(table.text({.columns = 30}), HasSubstr("j1f3k\n  NAME")) << "too narrow for a table: one below the other";
  EXPECT_THAT(table.text({}), Not(HasSubstr("…"))) << "in a pipe nothing is cut";
}

TEST(Table, LeavesOutOptionalColumnsBeforeItBecomesAListOfFields) {
  Table table({"ID", "STATE", "POOL", "DONE", "LABELS"});
  table.may_leave_out({"LABELS", "POOL", "DONE"});
  table.add({"dev", "Ready", "-", "12", "zone=a"});
  EXPECT_EQ(table.text({.columns = 40}), "ID    STATE   POOL   DONE   LABELS\ndev   Ready   -      12     zone=a\n");
  EXPECT_EQ(table.text({.columns = 30}), "ID    STATE   DONE   LABELS\ndev   Ready   12     zone=a\n")
      << "the one without a value first";
  EXPECT_EQ(table.text({.columns = 20}), "ID    STATE   DONE\ndev   Ready   12\n");
  EXPECT_THAT(table.text({.columns = 8}), HasSubstr("LABELS")) << "a list of fields has them all";
}

TEST(Table, CutsNoColumnThatIsToStayWhole) {
  Table table({"NUMBER", "ACTION", "DETAIL"});
  table.keep_whole("ACTION");
  table.add({"1", "worker.registered", "a detail that is longer than the screen"});
  EXPECT_EQ(table.text({.columns = 40}),
            "NUMBER   ACTION              DETAIL\n1        worker.registered   a detail t…\n");
}

TEST(Fields, AreWrappedAtTheEdgeOfATerminal) {
  FieldList fields;
  fields.add("Reason", "no worker is connected; start one with hodei agent");
  std::istringstream lines(fields.text({.columns = 40}));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(columns_of(line), 40u) << line;
  EXPECT_GT(count, 1);
}

TEST(Fields, AreWrappedAtASpaceThatTheNextLineDoesNotBeginWith) {
  EXPECT_EQ(wrapped("no worker is connected", 12, 2), "no worker is\n  connected");
}

TEST(Times, AreLocalUnlessUtcIsAskedFor) {
  const WallTime time{1'700'000'000'000'000};
  const InZone zone("Asia/Kolkata");
  EXPECT_EQ(shown_time(time, {}), "2023-11-15T03:43:20.000+05:30");
  EXPECT_EQ(shown_time(time, {.utc = true}), "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(parse_moment("--since", "2023-11-15 03:43:20", {}, false).value(), time);
  EXPECT_EQ(parse_moment("--since", "2023-11-14 22:13:20", {}, true).value(), time);
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
