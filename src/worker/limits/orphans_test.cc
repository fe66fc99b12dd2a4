#include "src/worker/limits/orphans.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker::orphans_test {
namespace {

// A process that sleeps; in a session of its own if asked for.
pid_t sleeper(bool own_session) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    if (own_session) setsid();
    const char done = 1;
    [[maybe_unused]] const ssize_t wrote = write(ready[1], &done, 1);
    while (true) pause();
  }
  char done = 0;
  EXPECT_EQ(read(ready[0], &done, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

class OrphansTest : public testing::Test {
 protected:
  OrphansTest() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~OrphansTest() override {
    for (const pid_t pid : started_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  pid_t start(bool own_session) { return started_.emplace_back(sleeper(own_session)); }
  static bool lives(pid_t pid) {
    const auto state = state_of(pid);
    return state && !state->zombie;
  }
  static bool dies(pid_t pid) {
    for (int look = 0; look < 5000 && lives(pid); ++look) poll(nullptr, 0, 1);
    return !lives(pid);
  }

  std::vector<pid_t> started_;
};

TEST_F(OrphansTest, AreFoundWithoutAnyMarkAlsoBesideStrangers) {
  const pid_t stranger = start(false);
  Orphans orphans;
  if (!orphans.can_look()) GTEST_SKIP() << "this kernel does not tell about children";
  EXPECT_FALSE(orphans.any_since(0)) << "who was there before is none";
  const pid_t left_by_a_job = start(true);  // every job is a session of its own
  EXPECT_TRUE(orphans.any_since(0));
  orphans.kill();
  EXPECT_TRUE(dies(left_by_a_job));
  EXPECT_TRUE(lives(stranger));
}

TEST_F(OrphansTest, WhatAStrangerStartsLaterIsItsOwn) {
  start(false);
  Orphans orphans;
  if (!orphans.can_look()) GTEST_SKIP() << "this kernel does not tell about children";
  const pid_t child = start(false);  // of a stranger that has ended: it is in its session
  EXPECT_FALSE(orphans.any_since(0));
  orphans.kill();
  EXPECT_TRUE(lives(child));
}

}  // namespace
}  // namespace hodei::worker::orphans_test
