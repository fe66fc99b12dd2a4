#include "src/worker/limits/own_limits.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::worker::own_limits_test {
namespace {

namespace fs = std::filesystem;

class OwnLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / cat("own-limits-", getpid());
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  OwnLimits read(const std::string& self) {
    put("self", self);
    return read_own_limits(root_.string(), (root_ / "self").string());
  }

  fs::path root_;
};

TEST_F(OwnLimitsTest, AContainerSeesItsOwnGroupAsTheRoot) {
  put("cpu.max", "25000 100000");
  put("memory.max", "67108864");
  put("memory.events", "low 0\noom 2\noom_kill 1");
  const OwnLimits own = read("0::/");
  EXPECT_EQ(own.cpu_milli, 250);
  EXPECT_EQ(own.memory_bytes, 64 << 20);
  EXPECT_EQ(oom_kills_in(own), 1);
}

TEST_F(OwnLimitsTest, TheSmallestOfAllAboveCounts) {
  put("a/memory.max", "1000000");
  put("a/b/memory.max", "max");
  put("a/b/cpu.max", "max 100000");
  const OwnLimits own = read("0::/a/b");
  EXPECT_EQ(own.memory_bytes, 1000000);
  EXPECT_EQ(own.cpu_milli, 0);
}

TEST_F(OwnLimitsTest, VersionOneHasAHierarchyForEach) {
  put("cpu/cpu.cfs_quota_us", "150000");
  put("cpu/cpu.cfs_period_us", "100000");
  put("memory/memory.limit_in_bytes", "9223372036854771712");
  put("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3");
  const OwnLimits own = read("5:cpu,cpuacct:/kubepods/x\n4:memory:/kubepods/x");
  EXPECT_EQ(own.cpu_milli, 1500);
  EXPECT_EQ(own.memory_bytes, 0) << "that number means none";
  EXPECT_EQ(oom_kills_in(own), 3);
}

TEST_F(OwnLimitsTest, WithoutAnyThereAreNone) {
  const OwnLimits own = read("0::/somewhere");
  EXPECT_EQ(own.cpu_milli, 0);
  EXPECT_EQ(own.memory_bytes, 0);
  EXPECT_EQ(oom_kills_in(own), 0);
}

}  // namespace
}  // namespace hodei::worker::own_limits_test
