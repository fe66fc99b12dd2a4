// Parameters of templates: binding, substitution, escapes.
#include "src/core/jobs/template.h"

#include "gtest/gtest.h"

namespace hodei::core::template_test {
namespace {

const std::vector<Parameter> kDeclared = {{"target", std::nullopt}, {"mode", "fast"}};

std::string filled(std::string_view text, const Values& values) {
  const absl::StatusOr<std::string> out = substitute(text, values);
  EXPECT_TRUE(out.ok()) << out.status();
  return out.value_or("");
}

TEST(Bind, TakesWhatIsGivenAndElseTheDefault) {
  EXPECT_EQ(*bind(kDeclared, {{"target", "a"}}), (Values{{"target", "a"}, {"mode", "fast"}}));
  EXPECT_EQ(*bind(kDeclared, {{"target", "a"}, {"mode", ""}}), (Values{{"target", "a"}, {"mode", ""}}));
}

TEST(Bind, RefusesAMissingParameterByItsName) {
  const absl::Status status = bind(kDeclared, {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("'target' has no default"), std::string::npos) << status;
}

TEST(Bind, RefusesAnUnknownParameterAndListsWhatThereIs) {
  const absl::Status status = bind(kDeclared, {{"target", "a"}, {"tarjet", "b"}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("no parameter 'tarjet'; it has: target, mode"), std::string::npos) << status;
  EXPECT_NE(bind({}, {{"x", ""}}).status().message().find("it has: none"), std::string::npos);
}

TEST(Bind, RefusesAValueThatIsTooLong) {
  const absl::Status status = bind(kDeclared, {{"target", std::string(64 * 1024 + 1, 'x')}}).status();
  EXPECT_NE(status.message().find("parameters.target"), std::string::npos) << status;
}

TEST(Declarations, AreRefusedWhenANameIsNoneOrComesTwice) {
  EXPECT_TRUE(check_parameters(kDeclared).ok());
  for (const char* bad : {"", "9lives", "a-b", "a b", "ä"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(check_parameters({{bad, {}}}))) << bad;
  }
  EXPECT_NE(check_parameters({{"a", {}}, {"a", {}}}).message().find("declared twice"), std::string::npos);
  EXPECT_FALSE(check_parameters(std::vector<Parameter>(101, {"a", {}})).ok());
}

TEST(Substitute, PutsValuesInWhereverTheyAreNamed) {
  EXPECT_EQ(filled("${a}-${b}${a}", {{"a", "1"}, {"b", "2"}}), "1-21");
  EXPECT_EQ(filled("", {}), "");
}

TEST(Substitute, LeavesOtherDollarsAlone) {
  EXPECT_EQ(filled("$HOME costs 5$ $(date) $", {}), "$HOME costs 5$ $(date) $");
}

TEST(Substitute, WritesALiteralForADoubledDollar) {
  EXPECT_EQ(filled("$${HOME} ${a}$${b}", {{"a", "1"}}), "${HOME} 1${b}");
}

TEST(Substitute, DoesNotLookIntoValues) { EXPECT_EQ(filled("${a}", {{"a", "${b}"}, {"b", "x"}}), "${b}"); }

TEST(Substitute, RefusesAnUndeclaredOrUnclosedName) {
  for (const char* bad : {"${b}", "${a", "${}", "${a b}"}) {
    const absl::Status status = substitute(bad, {{"a", "1"}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad;
    EXPECT_NE(status.message().find("$${"), std::string::npos) << status;
  }
}

TEST(Substitute, StopsBeforeTheTextGrowsTooLong) {
  const Values values{{"a", std::string(1000, 'x')}};
  EXPECT_EQ(substitute("${a}", values, 1000)->size(), 1000u);
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "${a}";
  for (const auto& [text, most] : {std::pair<std::string, size_t>{many, kMaxRendered}, {"${a}", 999}, {"abc", 2}}) {
    const absl::Status status = substitute(text, values, most).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text.substr(0, 10);
    EXPECT_TRUE(std::string(status.message()).starts_with("spec: is longer than")) << status;
  }
}

}  // namespace
}  // namespace hodei::core::template_test
