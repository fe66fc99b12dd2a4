// How jobs and the supervisor itself end: processes that hide, agents and servers that are gone.
#include <signal.h>
#include <sys/stat.h>

#include "src/worker/supervisor/supervisor.h"
#include "src/worker/supervisor/supervisor_fixture.h"

namespace hodei::worker::supervisor_end_test {
namespace {

using SupervisorEndTest = SupervisorTest;

TEST_P(SupervisorEndTest, TheEndOfTheLeaseReachesAProcessThatLeftEverything) {
  extend_lease(30s);
  run(b, "(env -i setsid sh -c 'sleep 1000 & echo $!' &); sleep 1000");
  std::string neighbour;
  ASSERT_TRUE(until([&] { return (neighbour += agent->read_output(b)).ends_with("\n"); }));
  const std::string leave = cgroup_root.empty() ? "" : "echo 0 > " + cgroup_root + "/cgroup.procs; ";
  run(a, "(" + leave + "exec env -i setsid sh -c 'sleep 1000 & echo $!' &); " + leave + "exec sleep 1000", 300ms);
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)).ends_with("\n"); }));
  EXPECT_EQ(end_of(a).outcome, Outcome::TimedOut);
  EXPECT_FALSE(alive(agent->pids[a]));
  // It is killed by now; the kernel may still be taking it apart.
  EXPECT_TRUE(until([&] { return !alive(std::stoi(output)); }));
  EXPECT_TRUE(alive(std::stoi(neighbour))) << "it is another job's, and that one still runs";
}

TEST_P(SupervisorEndTest, WhatAJobLeavesBehindIsEndedWithIt) {
  extend_lease(30s);
  const std::string leave = cgroup_root.empty() ? "" : "echo 0 > " + cgroup_root + "/cgroup.procs; ";
  run(a, "(" + leave + "exec env -i setsid sh -c 'sleep 1000 & echo $!'); exit 0");
  EXPECT_EQ(end_of(a).outcome, Outcome::Succeeded);
  const int left = std::stoi(agent->read_output(a));
  EXPECT_TRUE(until([&] { return !alive(left); }));
}

TEST_P(SupervisorEndTest, AnAgentThatLeftWithAFullRingDoesNotHoldUpTheEnd) {
  extend_lease(30s);
  run(a, "yes");
  ASSERT_TRUE(until([&] { return agent->ring_of.contains(a); }));
  for (int i = 0; i < 50; ++i) supervisor->turn(2);  // nobody reads: the ring is full, the job waits
  agent->channel.put(protocol::Left{"done"});
  ASSERT_TRUE(agent->channel.flush().ok());
  bool over = false;
  ASSERT_TRUE(until([&] { return over = over || !supervisor->turn(5); }, false));
  supervisor.reset();
  state.reset();
}

TEST_P(SupervisorEndTest, AServerThatStaysAwayDoesNotHoldUpTheEndEither) {
  stop();
  options.stop_grace = 100ms;
  start();
  extend_lease(30s);
  run(a, "yes");
  ASSERT_TRUE(until([&] { return agent->ring_of.contains(a); }));
  for (int i = 0; i < 50; ++i) supervisor->turn(2);
  // As SIGTERM does. The agent lives, but has nobody to deliver the output to.
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  bool over = false;
  ASSERT_TRUE(until([&] { return over = over || !supervisor->turn(5); }, false));
  supervisor.reset();
  state.reset();
}

TEST_P(SupervisorEndTest, OutputThatNoServerHasIsThereAgainAtTheNextStart) {
  extend_lease(30s);
  run(a, "echo first; echo second >&2");
  run(b, "yes");
  EXPECT_EQ(end_of(a).outcome, Outcome::Succeeded);
  ASSERT_TRUE(until([&] { return agent->ring_of.contains(b); }));
  for (int i = 0; i < 50; ++i) supervisor->turn(2);  // nobody reads: the ring is full, the job waits
  stop();
  EXPECT_TRUE(std::filesystem::exists(options.state_dir + "/last_output"));
  start();
  EXPECT_EQ(end_of(a).log_bytes, 13);
  const std::string printed = agent->read_output(a);
  EXPECT_TRUE(printed == "first\nsecond\n" || printed == "second\nfirst\n") << printed;
  EXPECT_GT(agent->read_output(b).size(), options.ring_bytes / 2) << "all that its ring held";
  for (const ExecutionId id : {a, b}) agent->channel.put(protocol::Forget{id});
  extend_lease(30s);
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(options.state_dir + "/last_output"); }));
}

TEST_P(SupervisorEndTest, LeavesWhenNoServerAnswersAndNothingRuns) {
  stop();
  options.leave_after = 1h;
  start();
  extend_lease(30s);
  run(a, "read x < " + options.state_dir + "/go");
  mkfifo((options.state_dir + "/go").c_str(), 0600);
  ASSERT_TRUE(until([&] { return agent->pids.contains(a); }));
  clock.advance(59min);
  extend_lease(5h);
  agent->channel.put(protocol::Ping{1});
  ASSERT_TRUE(until([&] { return agent->pong.number == 1; }));
  clock.advance(61min);
  agent->channel.put(protocol::Ping{2});
  ASSERT_TRUE(until([&] { return agent->pong.number == 2; }));
  agent->channel.put(protocol::Ping{3});  // by its answer the turn of the one before is over
  ASSERT_TRUE(until([&] { return agent->pong.number == 3; }));
  EXPECT_FALSE(agent->told_to_stop) << "a job runs";
  std::ofstream(options.state_dir + "/go") << "go\n";
  EXPECT_EQ(end_of(a).outcome, Outcome::Succeeded);
  clock.advance(1min);
  agent->channel.put(protocol::Ping{4});
  ASSERT_TRUE(until([&] { return agent->pong.number == 4; }));
  agent->channel.put(protocol::Ping{5});
  ASSERT_TRUE(until([&] { return agent->pong.number == 5; }));
  EXPECT_FALSE(agent->told_to_stop) << "it has a result that nobody has taken";
  agent->channel.put(protocol::Forget{a});
  clock.advance(1min);
  EXPECT_TRUE(ends_by_itself());
}

TEST_P(SupervisorEndTest, StaysWhileAServerAnswers) {
  stop();
  options.leave_after = 1h;
  start();
  for (uint64_t i = 1; i <= 5; ++i) {
    extend_lease(30s);
    clock.advance(50min);
    agent->channel.put(protocol::Ping{i});
    ASSERT_TRUE(until([&] { return agent->pong.number == i; }));
  }
}

TEST_P(SupervisorEndTest, LeavesWhenItsFolderIsGone) {
  stop();
  options.leave_after = 1h;
  start();
  extend_lease(30s);
  run(a, "trap '' TERM; sleep 1000");
  ASSERT_TRUE(until([&] { return agent->pids.contains(a); }));
  const int64_t pid = agent->pids[a];
  std::filesystem::remove_all(options.state_dir);
  clock.advance(16s);
  EXPECT_TRUE(ends_by_itself());
  EXPECT_FALSE(alive(pid));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SupervisorEndTest, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Cgroups" : "Marks"; });

}  // namespace
}  // namespace hodei::worker::supervisor_end_test
