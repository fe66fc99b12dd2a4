// Limits on real v1 hierarchies where this machine has them, and on a tree of plain files for version 2.
#include "src/worker/limits/resource_group.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker::resource_group_test {
namespace {

namespace fs = std::filesystem;

std::string temp_folder() {
  char name[] = "/tmp/hodei-group-XXXXXX";
  return mkdtemp(name);
}

void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

// Version 2 as the kernel shows it, with the folder of the first execution already there.
class FakeV2 : public testing::Test {
 protected:
  FakeV2() {
    put(root + "/cgroup.controllers", "cpu io memory pids");
    put(own + "/cgroup.kill", "");
    put(own + "/cgroup.subtree_control", "cpu io memory pids");
    for (const char* name : {"cpu.max", "memory.max", "memory.swap.max", "memory.oom.group", "io.weight", "pids.max",
                             "cgroup.kill", "cgroup.freeze"}) {
      put(cat(job, "/", name), "");
    }
    put(job + "/cgroup.events", "populated 1\nfrozen 0\n");
    put(job + "/cgroup.procs", "");
    figures(0, 0, 0, 0);
  }
  ~FakeV2() override { fs::remove_all(root); }

  void figures(int64_t cpu_us, int64_t memory, int64_t peak, int64_t oom_kills) {
    put(job + "/cpu.stat", cat("usage_usec ", cpu_us, "\nuser_usec 1\nsystem_usec 1\n"));
    put(job + "/memory.current", cat(memory, "\n"));
    put(job + "/memory.peak", cat(peak, "\n"));
    put(job + "/memory.events", cat("low 0\nhigh 0\nmax 9\noom 3\noom_kill ", oom_kills, "\noom_group_kill 0\n"));
    put(job + "/io.stat", "254:0 rbytes=100 wbytes=20 rios=1 wios=1\n254:16 rbytes=11 wbytes=3 rios=1 wios=1\n");
  }
  std::unique_ptr<Enclosures> enclosures(uint64_t most = 123) {
    return make_cgroup_v2({.cgroup_root = root, .mark = "m", .most_processes = most});
  }
  std::string file(const std::string& name) { return read_file(cat(job, "/", name)); }

  const std::string root = temp_folder();
  const std::string own = root + "/hodei/m";
  const std::string job = own + "/0";
};

TEST_F(FakeV2, SetsEveryLimitAndWritesOnlyWhatDiffers) {
  auto held = enclosures();
  auto groups = make_resource_groups_v2(*held);
  ASSERT_TRUE(groups);
  auto enclosure = held->make().value();
  auto group = groups->make(*enclosure);
  const ProgramLimits limits{.cpu_milli = 500, .memory_bytes = 64 << 20, .io_weight = 50};
  ASSERT_TRUE(group->begin(limits).ok());
  EXPECT_EQ(file("cpu.max"), "50000 100000");
  EXPECT_EQ(file("memory.max"), "67108864");
  EXPECT_EQ(file("memory.swap.max"), "0");
  EXPECT_EQ(file("memory.oom.group"), "1");
  EXPECT_EQ(file("io.weight"), "default 50");
  put(job + "/cpu.max", "untouched");
  put(job + "/memory.max", "");
  ASSERT_TRUE(group->begin({.cpu_milli = 500, .memory_bytes = 32 << 20, .io_weight = 50}).ok());
  EXPECT_EQ(file("cpu.max"), "untouched");
  EXPECT_EQ(file("memory.max"), "33554432");
}

TEST_F(FakeV2, LimitsTheProcessesOfEachExecution) {
  auto held = enclosures();
  ASSERT_TRUE(held->limits_processes());
  auto enclosure = held->make().value();
  ASSERT_TRUE(enclosure->limit_processes(0).ok());
  EXPECT_EQ(file("pids.max"), "123");
  ASSERT_TRUE(enclosure->limit_processes(7).ok());
  EXPECT_EQ(file("pids.max"), "723");  // a plain file keeps what is behind; the kernel's does not
  put(job + "/pids.max", "untouched");
  ASSERT_TRUE(enclosure->limit_processes(7).ok());
  EXPECT_EQ(file("pids.max"), "untouched");
}

TEST_F(FakeV2, AsksForTheControllersThatAreMissing) {
  fs::remove(own + "/cgroup.subtree_control");
  EXPECT_FALSE(enclosures()->limits_processes());
  EXPECT_FALSE(make_resource_groups_v2(*enclosures()));
  put(root + "/cgroup.subtree_control", "cpu memory io");
  put(own + "/cgroup.subtree_control", "cpu memory io pids");
  EXPECT_TRUE(enclosures()->limits_processes());
  EXPECT_EQ(read_file(root + "/cgroup.subtree_control").substr(0, 5), "+pids");
}

TEST_F(FakeV2, MeasuresSinceTheExecutionBegan) {
  auto held = enclosures();
  auto groups = make_resource_groups_v2(*held);
  auto enclosure = held->make().value();
  auto group = groups->make(*enclosure);
  figures(5'000'000, 100 << 10, 100 << 10, 2);
  ASSERT_TRUE(group->begin({.memory_bytes = 1 << 20}).ok());
  figures(7'500'000, 300 << 10, 400 << 10, 3);
  const Measured measured = group->meter()->read();
  EXPECT_EQ(measured.usage.cpu_ms, 2500);
  EXPECT_EQ(measured.memory_now_kb, 300);
  EXPECT_EQ(measured.usage.max_memory_kb, 400);
  EXPECT_EQ(measured.oom_kills, 1);
  EXPECT_EQ(measured.usage.io_read_bytes, 0);  // what was there before is not its own
}

TEST_F(FakeV2, KillsByOneWrite) {
  auto held = enclosures();
  auto enclosure = held->make().value();
  EXPECT_FALSE(enclosure->is_empty());
  enclosure->kill();
  EXPECT_EQ(file("cgroup.kill"), "1");
  EXPECT_TRUE(enclosure->is_spent());
  put(job + "/cgroup.events", "populated 0\nfrozen 0\n");
  EXPECT_TRUE(enclosure->is_empty());
}

TEST_F(FakeV2, ASuccessorFreezesAndKillsWhatIsListed) {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  put(job + "/cgroup.procs", cat(child, "\n"));
  put(job + "/cgroup.freeze", "");
  // The list stays, because nobody tells a plain file; so it gives up after a while and says so.
  EXPECT_FALSE(enclosures()->kill_leftovers().ok());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

// For real.
class RealV1 : public testing::Test {
 protected:
  void SetUp() override {
    groups = make_resource_groups_v1({.mark = mark});
    if (!groups || !groups->limits_cpu() || !groups->limits_memory()) GTEST_SKIP() << "no such hierarchies here";
    group = groups->make(*enclosure);
  }
  void TearDown() override {
    group.reset();
    if (groups) groups->remove_all();
    EXPECT_FALSE(fs::exists(cat("/sys/fs/cgroup/memory/hodei/", mark)));
  }
  std::string file(const std::string& hierarchy, const std::string& name) {
    return read_file(cat("/sys/fs/cgroup/", hierarchy, "/hodei/", mark, "/0/", name));
  }
  // A child of its own, inside the group.
  template <class What>
  int run_inside(const What& what) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int fd : group->join_files()) {
        if (write(fd, "0", 1) != 1) _exit(99);
      }
      what();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  const std::string mark = "group-test" + std::to_string(getpid());
  std::unique_ptr<Enclosures> enclosures = make_marked_trees({.mark = mark});
  std::unique_ptr<Enclosure> enclosure = enclosures->make().value();
  std::unique_ptr<ResourceGroups> groups;
  std::unique_ptr<ResourceGroup> group;
};

TEST_F(RealV1, LimitsGoUpAndDownAgain) {
  ASSERT_TRUE(group->begin({.cpu_milli = 500, .memory_bytes = 64 << 20}).ok());
  EXPECT_EQ(file("cpu", "cpu.cfs_quota_us"), "50000\n");
  EXPECT_EQ(file("memory", "memory.limit_in_bytes"), "67108864\n");
  ASSERT_TRUE(group->begin({.memory_bytes = 128 << 20}).ok());
  EXPECT_EQ(file("cpu", "cpu.cfs_quota_us"), "-1\n");
  EXPECT_EQ(file("memory", "memory.limit_in_bytes"), "134217728\n");
  ASSERT_TRUE(group->begin({.cpu_milli = 10, .memory_bytes = 16 << 20}).ok());
  EXPECT_EQ(file("memory", "memory.limit_in_bytes"), "16777216\n");
  ASSERT_TRUE(group->begin({.cpu_milli = 10}).ok());
  EXPECT_GT(std::stod(file("memory", "memory.limit_in_bytes")), 1e15);
}

TEST_F(RealV1, OnlyWhatIsWeighedEntersTheHierarchyForThat) {
  ASSERT_TRUE(group->begin({.memory_bytes = 64 << 20}).ok());
  const size_t without = group->join_files().size();
  EXPECT_FALSE(group->meter()->read().counts_io);
  ASSERT_TRUE(group->begin({.memory_bytes = 64 << 20, .io_weight = 50}).ok());
  if (!group->meter()->read().counts_io) GTEST_SKIP() << "no hierarchy for I/O here";
  EXPECT_EQ(group->join_files().size(), without + 1);
  ASSERT_TRUE(group->begin({.memory_bytes = 64 << 20}).ok());
  EXPECT_EQ(group->join_files().size(), without);
}

TEST_F(RealV1, CountsTheProcessesThatTheKernelEnded) {
  ASSERT_TRUE(group->begin({.memory_bytes = 16 << 20}).ok());
  const int status = run_inside([] {
    volatile char* memory = static_cast<char*>(malloc(64 << 20));
    for (int at = 0; at < 64 << 20; at += 4096) memory[at] = 1;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  const Measured measured = group->meter()->read();
  EXPECT_EQ(measured.oom_kills, 1);
  EXPECT_GT(measured.usage.max_memory_kb, 15 << 10);
  EXPECT_LE(measured.usage.max_memory_kb, 16 << 10);

  // The next execution of the same group starts from nothing.
  ASSERT_TRUE(group->begin({.memory_bytes = 32 << 20}).ok());
  EXPECT_EQ(WEXITSTATUS(run_inside([] {})), 0);
  EXPECT_EQ(group->meter()->read().oom_kills, 0);
  EXPECT_LT(group->meter()->read().usage.max_memory_kb, 8 << 10);
}

TEST_F(RealV1, TellsTheCpuThatTheGroupUsed) {
  ASSERT_TRUE(group->begin({.cpu_milli = 2000}).ok());
  run_inside([] {
    const clock_t until = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < until) {
    }
  });
  EXPECT_GE(group->meter()->read().usage.cpu_ms, 190);
  EXPECT_LT(group->meter()->read().usage.cpu_ms, 1000);
}

TEST(NotEnforced, NamesTheLimitsThatNothingHolds) {
  const auto trees = make_marked_trees({.mark = "m"});
  EXPECT_EQ(not_enforced({}, *trees, nullptr), "");
  EXPECT_EQ(not_enforced({.disk_bytes = 1}, *trees, nullptr), "");
  EXPECT_EQ(
      not_enforced({.cpu_milli = 1, .memory_bytes = 1, .pids = 1, .io_weight = 1}, *trees, nullptr),
      "this worker cannot enforce these limits: cpu, memory (only per process, with RLIMIT_DATA), pids, io weight");
  const ProgramLimits own{.cpu_milli = 250, .memory_bytes = 64 << 20};
  EXPECT_EQ(not_enforced({.cpu_milli = 250, .memory_bytes = 64 << 20}, *trees, nullptr, own), "")
      << "the limits of the worker as a whole are those of its only job";
  EXPECT_EQ(not_enforced({.memory_bytes = 32 << 20}, *trees, nullptr, own),
            "this worker cannot enforce these limits: memory (the worker's own limit of 64 MiB applies)");
}

}  // namespace
}  // namespace hodei::worker::resource_group_test
