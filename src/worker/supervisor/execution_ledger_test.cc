#include "src/worker/supervisor/execution_ledger.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/supervisor/spawn.h"
#include "src/worker/system/process_table.h"

namespace hodei::worker::execution_ledger_test {
namespace {

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    char name[] = "/tmp/hodei-ledger-XXXXXX";
    folder_ = mkdtemp(name);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~LedgerTest() override {
    for (const pid_t pid : to_kill_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ + "/executions"; }
  ExecutionLedger ledger(size_t room = 4) { return ExecutionLedger::make(path(), "mark", room).value(); }
  Leftovers left() const { return ExecutionLedger::read(path(), "mark"); }

  // The number that the job prints first is one of its processes.
  pid_t start(const std::string& script, LedgerRecord* record) {
    Program program{.argv = {"sh", "-c", script}, .env = {"PATH=/usr/bin:/bin"}};
    SpawnResult result = spawn(program, {.folder = folder_,
                                         .working_dir = folder_,
                                         .enclosure = enclosure_.get(),
                                         .mark = "mark-of-a-test",
                                         .record = record});
    Spawned& spawned = std::get<Spawned>(result);
    main_ = spawned.pid;
    out_ = std::move(spawned.out);
    err_ = std::move(spawned.err);
    std::string line;
    pollfd ready{out_.get(), POLLIN, 0};
    char c = 0;
    while (poll(&ready, 1, 10'000) == 1 && read(out_.get(), &c, 1) == 1 && c != '\n') line.push_back(c);
    to_kill_ = {main_, std::stoi(line)};
    return to_kill_.back();
  }
  void end_main() const {
    kill(main_, SIGKILL);
    EXPECT_EQ(waitpid(main_, nullptr, 0), main_);
  }
  static bool lives(pid_t pid) {
    const auto state = state_of(pid);
    return state && !state->zombie;
  }

  std::string folder_;
  std::unique_ptr<Enclosure> enclosure_ = make_marked_trees({.mark = "mark-of-a-test"})->make().value();
  pid_t main_ = 0;
  Fd out_, err_;
  std::vector<pid_t> to_kill_;
};

TEST_F(LedgerTest, ASuccessorReadsWhatRanAndNotWhatHadEnded) {
  auto kept = ledger();
  LedgerRecord* ended = kept.take();
  LedgerRecord* running = kept.take();
  ended->main = 4711;
  start("echo $$; exec sleep 1000", running);
  kept.give_back(ended);
  const Leftovers found = left();
  EXPECT_TRUE(found.is_complete);
  ASSERT_EQ(found.executions.size(), 1u);
  EXPECT_EQ(found.executions[0].main, main_);
  EXPECT_GE(static_cast<int64_t>(state_of(main_)->started), found.executions[0].not_before);
  EXPECT_LE(static_cast<int64_t>(state_of(main_)->started), found.executions[0].not_after);
}

TEST_F(LedgerTest, WhatIsInTheSessionOfAnExecutionIsKilledAlsoWithoutAnEnvironment) {
  auto kept = ledger();
  const pid_t child = start("env -i sleep 1000 >/dev/null 2>&1 & echo $!; wait", kept.take());
  kept.alive(SystemClock().now().mono + 1s);
  end_main();
  ASSERT_TRUE(lives(child));
  const LeftoversKilled killed = kill_recorded(left());
  EXPECT_EQ(killed.processes, 1);
  EXPECT_FALSE(killed.unclear);
  EXPECT_FALSE(lives(child));
}

TEST_F(LedgerTest, WhoHoldsTheOutputOfAnExecutionIsKilledInWhateverSession) {
  auto kept = ledger();
  const pid_t child = start("env -i setsid sleep 1000 & echo $!; wait", kept.take());
  for (int look = 0; look < 5000 && state_of(child)->session != child; ++look) poll(nullptr, 0, 1);
  end_main();
  EXPECT_EQ(kill_recorded(left()).processes, 1);
  EXPECT_FALSE(lives(child));
}

TEST_F(LedgerTest, AProcessThatHasTheNumberOfAnEarlierOneIsLeftAlone) {
  auto kept = ledger();
  LedgerRecord* record = kept.take();
  const pid_t stranger = start("echo $$; exec sleep 1000 >/dev/null 2>&1", record);
  record->out = record->err = 0;
  record->not_before -= 1000;
  record->not_after = record->not_before + 1;
  const LeftoversKilled killed = kill_recorded(left());
  EXPECT_EQ(killed.processes, 0);
  EXPECT_FALSE(killed.unclear) << "the number is in use by somebody else, so nothing of the job is left";
  EXPECT_TRUE(lives(stranger));
}

TEST_F(LedgerTest, ASessionThatMayBeAnotherOneOfTheSameNumberIsLeftAloneAndSaidToBeUnclear) {
  auto kept = ledger();
  LedgerRecord* record = kept.take();
  const pid_t child = start("sleep 1000 >/dev/null 2>&1 & echo $!; wait", record);
  record->out = record->err = 0;
  kept.alive(MonoTime{0});  // nothing proves that it was there while the supervisor was
  end_main();
  const LeftoversKilled killed = kill_recorded(left());
  EXPECT_EQ(killed.processes, 0);
  EXPECT_TRUE(killed.unclear);
  EXPECT_TRUE(lives(child));
}

TEST_F(LedgerTest, SaysWhenItDoesNotKnowAll) {
  EXPECT_FALSE(left().is_complete) << "there is no file";
  auto kept = ledger(1);
  EXPECT_TRUE(left().is_complete);
  EXPECT_FALSE(ExecutionLedger::read(path(), "another").is_complete);
  EXPECT_NE(kept.take(), nullptr);
  EXPECT_EQ(kept.take(), nullptr);
  EXPECT_FALSE(left().is_complete);
  std::ofstream(path(), std::ios::trunc) << "torn";
  EXPECT_FALSE(left().is_complete);
}

}  // namespace
}  // namespace hodei::worker::execution_ledger_test
