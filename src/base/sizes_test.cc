#include "src/base/sizes.h"

#include <gtest/gtest.h>

namespace hodei::sizes_test {
namespace {

TEST(Sizes, AreShownInTheUnitThatPeopleReadThem) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text((int64_t{1} << 20) - 1), "1 MiB") << "not 1024 KiB";
  EXPECT_EQ(megabytes_text(512), "512 MiB");
  EXPECT_EQ(megabytes_text(24105), "23.5 GiB");
  EXPECT_EQ(megabytes_text(2048), "2 GiB");
  EXPECT_EQ(size_text(INT64_MAX), "8 EiB");
}

TEST(Sizes, ThatAreComparedDifferWhereTheAmountsDo) {
  EXPECT_EQ(megabytes_apart(24105, 32768), std::pair(std::string("23.5 GiB"), std::string("32 GiB")));
  EXPECT_EQ(megabytes_apart(1024, 1025), std::pair(std::string("1024 MiB"), std::string("1025 MiB")));
  EXPECT_EQ(megabytes_apart(512, 512), std::pair(std::string("512 MiB"), std::string("512 MiB")));
}

}  // namespace
}  // namespace hodei::sizes_test
