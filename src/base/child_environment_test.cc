#include "src/base/child_environment.h"

#include <cstdlib>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::child_environment_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

TEST(ChildEnvironment, HasNoneOfOurOwnSettings) {
  const char* const ours[] = {"HODEI_SECRET_KEY",           "HODEI_TOKEN", "HODEI_ANYTHING", "DATABASE_URL",
                              "OTEL_EXPORTER_OTLP_HEADERS", "HTTP_PORT"};
  for (const char* name : ours) setenv(name, "canary", 1);
  setenv("VENDOR_SETTING", "kept", 1);
  const ChildEnvironment plain;
  const ChildEnvironment some({"HODEI_ANYTHING"}, {{"HODEI_TOKEN", "its own"}, {"VENDOR_SETTING", "new"}});
  for (const char* name : ours) unsetenv(name);
  unsetenv("VENDOR_SETTING");
  EXPECT_THAT(plain.pairs(), Each(Not(HasSubstr("canary"))));
  EXPECT_THAT(plain.pairs(), Contains("VENDOR_SETTING=kept"));
  EXPECT_THAT(some.pairs(), Contains("HODEI_ANYTHING=canary"));
  EXPECT_THAT(some.pairs(), Contains("HODEI_TOKEN=its own"));
  EXPECT_THAT(some.pairs(), Contains("VENDOR_SETTING=new"));
  EXPECT_THAT(some.pairs(), Not(Contains(HasSubstr("HODEI_SECRET_KEY"))));
  size_t count = 0;
  for (char* const* pair = some.get(); *pair != nullptr; ++pair) ++count;
  EXPECT_EQ(count, some.pairs().size());
}

}  // namespace
}  // namespace hodei::child_environment_test
