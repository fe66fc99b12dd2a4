#include "src/worker/limits/execution_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/worker/limits/usage_cache.h"
#include "src/worker/system/disk_usage.h"

namespace hodei::worker::execution_watch_test {
namespace {

namespace fs = std::filesystem;

const ExecutionId kA{JobId{1}, 1};
const ExecutionId kB{JobId{2}, 1};

class ExecutionWatchTest : public testing::Test {
 protected:
  ExecutionWatchTest() { EXPECT_TRUE(watch.start().ok()); }
  ~ExecutionWatchTest() override { fs::remove_all(folder); }

  static std::string temp_folder() {
    char name[] = "/tmp/hodei-watch-XXXXXX";
    return mkdtemp(name);
  }
  void fill(const std::string& name, size_t bytes) { std::ofstream(folder + "/" + name) << std::string(bytes, 'x'); }
  ExecutionWatch::Seen next() {
    pollfd ready{watch.ready_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 10'000), 1);
    return watch.take();
  }

  const std::string folder = temp_folder();
  SystemClock clock;
  ExecutionWatch watch{clock};
};

TEST_F(ExecutionWatchTest, TellsOnceWhoseFolderIsTooLarge) {
  fs::create_directories(folder + "/a/b");
  fill("a/b/c", 200'000);
  watch.guard(kA, folder, 100'000);  // after all is written: a look may come at once
  watch.guard(kB, folder, 100'000'000);
  const auto seen = next();
  ASSERT_EQ(seen.over.size(), 1u);
  EXPECT_EQ(seen.over[0].execution, kA);
  EXPECT_GE(seen.over[0].bytes, 200'000);
  EXPECT_EQ(seen.over[0].most_bytes, 100'000);
  pollfd ready{watch.ready_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 1500), 0);  // longer than one interval: the other is still small enough
}

// A child of a process that is larger than itself: the kernel's figure for it is its parent's.
TEST_F(ExecutionWatchTest, FollowsTheMemoryOfTheProgramItself) {
  const std::string ballast(64 << 20, 'x');
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sleep", "sleep", "60", nullptr);
    _exit(127);
  }
  int64_t most = 0;
  for (int tries = 0; most == 0 && tries < 200; ++tries) {  // until it has been looked at
    watch.follow({.execution = kA, .main = child});
    poll(nullptr, 0, 100);
    most = watch.unfollow(kA);
  }
  kill(child, SIGKILL);
  rusage usage{};
  wait4(child, nullptr, 0, &usage);
  EXPECT_GT(usage.ru_maxrss, 64 << 10) << "this is what a job was charged with";
  EXPECT_GT(most, 100);
  EXPECT_LT(most, 16 << 10);
  EXPECT_EQ(watch.unfollow(kA), 0) << "it is not followed any more";
  EXPECT_FALSE(ballast.empty());
}

TEST_F(ExecutionWatchTest, MeasuresATreeByItsProcesses) {
  const pid_t child = fork();
  if (child == 0) {
    volatile char* memory = static_cast<char*>(malloc(32 << 20));
    for (int at = 0; at < 32 << 20; at += 4096) memory[at] = 1;
    const clock_t until = clock_t(CLOCKS_PER_SEC / 5) + ::clock();
    while (::clock() < until) {
    }
    while (true) pause();
  }
  int64_t cpu_ms = 0, memory_kb = 0;
  for (int look = 0; look < 200 && (cpu_ms < 150 || memory_kb < 32 << 10); ++look) {
    watch.measure({{.execution = kA, .main = child}});
    const auto seen = next();
    ASSERT_TRUE(seen.usage && seen.usage->size() == 1);
    cpu_ms = (*seen.usage)[0].cpu_ms;
    memory_kb = (*seen.usage)[0].memory_kb;
    poll(nullptr, 0, 20);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(cpu_ms, 150);
  EXPECT_GE(memory_kb, 32 << 10);
  EXPECT_LT(memory_kb, 128 << 10);
}

TEST_F(ExecutionWatchTest, CountsAFileWithTwoNamesOnceAndALinkNotAtAll) {
  fill("one", 1 << 20);
  const int64_t before = disk_usage(folder);
  EXPECT_GE(before, 1 << 20);
  fs::create_hard_link(folder + "/one", folder + "/two");
  fs::create_symlink("/usr", folder + "/link");
  EXPECT_EQ(disk_usage(folder), before);
  EXPECT_EQ(disk_usage(folder + "/nothing"), 0);
}

TEST(UsageCache, AsksWithEveryBeatWhileSomebodyWatches) {
  UsageCache cache;
  EXPECT_TRUE(cache.is_due(MonoTime{0}));
  EXPECT_FALSE(cache.is_due(MonoTime{0} + 2s));
  EXPECT_TRUE(cache.is_due(MonoTime{0} + 2s, 2s));
  EXPECT_FALSE(cache.is_due(MonoTime{0} + 3s, 2s));
}

TEST(UsageCache, AsksOnceInItsLife) {
  UsageCache cache;
  EXPECT_TRUE(cache.is_due(MonoTime{1}));
  EXPECT_FALSE(cache.is_due(MonoTime{1} + 34s));
  EXPECT_TRUE(cache.is_due(MonoTime{1} + 35s));
  cache.store({{.execution = kA, .cpu_ms = 5}});
  EXPECT_TRUE(cache.of({kB}).empty());
  ASSERT_EQ(cache.of({kA, kB}).size(), 1u);
  EXPECT_EQ(cache.of({kA})[0].cpu_ms, 5);
  cache.store({});
  EXPECT_TRUE(cache.is_due(MonoTime{1} + 36s));
}

}  // namespace
}  // namespace hodei::worker::execution_watch_test
