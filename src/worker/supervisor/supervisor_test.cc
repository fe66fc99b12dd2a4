// The supervisor as a whole: starts, output, limits of time, what survives an agent.
#include "src/worker/supervisor/supervisor.h"

#include <signal.h>

#include "src/worker/supervisor/supervisor_fixture.h"

namespace hodei::worker::supervisor_test {
namespace {

TEST_P(SupervisorTest, RunsAProgramAndTellsItsOutputAndEnd) {
  extend_lease(30s);
  run(a, "echo out; echo err >&2; exit 4");
  const Exit& exit = end_of(a);
  EXPECT_EQ(exit.outcome, Outcome::Failed);
  EXPECT_EQ(exit.exit_code, 4);
  EXPECT_EQ(exit.log_bytes, 8);
  EXPECT_TRUE(exit.started.is_set());
  const std::string output = agent->read_output(a);
  EXPECT_EQ(output.size(), 8u);
}

TEST_P(SupervisorTest, AKilledAgentCostsNoByteOfOutput) {
  extend_lease(30s);
  run(a, "i=0; while [ $i -lt 60000 ]; do echo line $i; i=$((i+1)); done");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a, 1)).size() > 20'000; }));
  agent.reset();  // as kill -9 would: the socket closes, nothing is said
  attach();
  ASSERT_EQ(launcher.launches, 2);
  ASSERT_EQ(agent->attach->held.size(), 1u);
  EXPECT_TRUE(agent->attach->held[0].held.started);
  ASSERT_TRUE(until([&] {
    output += agent->read_output(a);
    return agent->exits.contains(a) && static_cast<int64_t>(output.size()) >= agent->exits[a].log_bytes;
  }));
  std::string expected;
  for (int i = 0; i < 60'000; ++i) expected += "line " + std::to_string(i) + "\n";
  EXPECT_TRUE(output == expected) << output.size() << " of " << expected.size() << " bytes";
}

TEST_P(SupervisorTest, WhatADeadAgentSaidLastIsKeptForTheNext) {
  extend_lease(30s);
  run(a, "sleep 60");
  ASSERT_TRUE(until([&] { return agent->pids.contains(a); }));
  const std::string place = agent->attach->job_socket, secret = agent->attach->job_socket_secret;
  EXPECT_FALSE(place.empty());
  agent->channel.put(protocol::Keep{a, "outputs"});
  ASSERT_TRUE(agent->channel.flush().ok());
  agent.reset();
  attach();
  ASSERT_EQ(agent->attach->held.size(), 1u);
  EXPECT_EQ(agent->attach->held[0].notes, "outputs");
  EXPECT_EQ(agent->attach->job_socket, place) << "jobs that run know only this one";
  EXPECT_EQ(agent->attach->job_socket_secret, secret);
}

TEST_P(SupervisorTest, AndAlsoWhenItsDeathIsSeenFirst) {
  stop();
  launcher.as_process = true;
  start();
  extend_lease(30s);
  run(a, "sleep 60");
  ASSERT_TRUE(until([&] { return agent->pids.contains(a); }));
  ASSERT_EQ(kill(launcher.pid, SIGKILL), 0);
  siginfo_t dead{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(launcher.pid), &dead, WEXITED | WNOWAIT), 0);
  // Later than the news of its death, though it was said before.
  agent->channel.put(protocol::Keep{a, "outputs"});
  ASSERT_TRUE(agent->channel.flush().ok());
  agent.reset();
  attach();
  ASSERT_EQ(agent->attach->held.size(), 1u);
  EXPECT_EQ(agent->attach->held[0].notes, "outputs");
}

TEST_P(SupervisorTest, AFullRingStopsTheJobUntilThereIsRoom) {
  extend_lease(30s);
  run(a, "head -c 1000000 /dev/zero; echo done >&2");
  ASSERT_TRUE(until([&] { return agent->ring_of.contains(a); }));
  for (int i = 0; i < 50; ++i) supervisor->turn(2);
  EXPECT_FALSE(agent->exits.contains(a));
  size_t bytes = 0;
  ASSERT_TRUE(until([&] {
    bytes += agent->read_output(a).size();
    return agent->exits.contains(a);
  }));
  bytes += agent->read_output(a).size();
  EXPECT_EQ(bytes, 1'000'005u);
}

TEST_P(SupervisorTest, AJobThatMayDropOutputEndsThoughNobodyReadsIt) {
  extend_lease(30s);
  run(a, "yes | head -n 1000000", 0s, {.drop = true});
  const Exit exit = end_of(a);
  EXPECT_EQ(exit.log_bytes, 2'000'000);
  EXPECT_GT(exit.facts.dropped_bytes, 0);
  EXPECT_EQ(exit.facts.dropped_bytes, exit.facts.dropped_lines * 2);
  const auto received = static_cast<int64_t>(agent->read_output(a).size());
  EXPECT_EQ(received + exit.facts.dropped_bytes, 2'000'000);
  agent->channel.put(protocol::Ping{1});
  ASSERT_TRUE(until([&] { return agent->pong.number == 1; }));
  EXPECT_EQ(static_cast<int64_t>(agent->pong.dropped_lines), exit.facts.dropped_lines);
}

TEST_P(SupervisorTest, ARateMakesAJobWaitAndTheLoopSleep) {
  extend_lease(30s);
  run(a, "yes", 0s, {.max_bytes_per_second = 2000});
  ASSERT_TRUE(until([&] { return agent->ring_of.contains(a); }));
  const MonoTime began = clock.now().mono;
  size_t bytes = 0;
  int turns = 0;
  while (bytes < 3000) {
    supervisor->turn();  // without a time-out: only the timer wakes it
    agent->listen();
    bytes += agent->read_output(a).size();
    ASSERT_LE(++turns, 100) << "it spins";
  }
  EXPECT_GE(clock.now().mono - began, 400ms) << "2000 bytes at once, 1000 more after half a second";
  agent->channel.put(protocol::Kill{a, KillReason::Cancelled, 0ms});
  EXPECT_EQ(end_of(a).outcome, Outcome::Cancelled);
}

TEST_P(SupervisorTest, TheEndOfTheLeaseKillsTheTree) {
  extend_lease(300ms);
  run(a, "trap '' TERM; setsid sleep 1000 & echo $!; sleep 1000");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)).ends_with("\n"); }));
  const Exit& exit = end_of(a);
  EXPECT_EQ(exit.outcome, Outcome::Lost);
  EXPECT_EQ(exit.failure, "lease_expired");
  EXPECT_FALSE(alive(agent->pids[a]));
  EXPECT_FALSE(alive(std::stoi(output)));
}

TEST_P(SupervisorTest, ATimeoutEndsAJobThatIgnoresTheRequest) {
  extend_lease(30s);
  run(a, "trap '' TERM; sleep 1000", 100ms);
  EXPECT_EQ(end_of(a).outcome, Outcome::TimedOut);
}

TEST_P(SupervisorTest, APlaceWhoseJobWasKilledServesTheNext) {
  extend_lease(30s);
  for (uint64_t n = 1; n <= 5; ++n) {
    const ExecutionId killed{JobId{n}, 1}, next{JobId{100 + n}, 1};
    run(killed, "trap '' TERM; sleep 1000", 20ms);
    EXPECT_EQ(end_of(killed).outcome, Outcome::TimedOut);
    run(next, "echo fine");
    EXPECT_EQ(end_of(next).outcome, Outcome::Succeeded);
  }
}

TEST_P(SupervisorTest, ACancelReachesTheJobAsARequestFirst) {
  extend_lease(30s);
  run(a, "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)) == "ready\n"; }));
  agent->channel.put(protocol::Kill{a, KillReason::Cancelled, 5s});
  const Exit& exit = end_of(a);
  EXPECT_EQ(exit.outcome, Outcome::Cancelled);
  // The shell may say first that the sleep it waited for was ended too.
  EXPECT_TRUE(agent->read_output(a).ends_with("bye\n"));
}

TEST_P(SupervisorTest, ACancelIsARequestAlsoToAMainProcessThatLeftItsCgroup) {
  if (cgroup_root.empty()) GTEST_SKIP() << "there is none to leave";
  extend_lease(30s);
  run(a, "echo 0 > " + cgroup_root +
             "/cgroup.procs; trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)) == "ready\n"; }));
  agent->channel.put(protocol::Kill{a, KillReason::Cancelled, 5s});
  EXPECT_EQ(end_of(a).outcome, Outcome::Cancelled);
  EXPECT_TRUE(agent->read_output(a).ends_with("bye\n"));
}

TEST_P(SupervisorTest, ARepeatedStartRunsNothingTwice) {
  extend_lease(30s);
  for (int i = 0; i < 3; ++i) run(a, "echo once");
  end_of(a);
  run(a, "echo once");
  run(b, "true");
  end_of(b);
  EXPECT_EQ(agent->read_output(a), "once\n");
}

TEST_P(SupervisorTest, AProgramThatCannotBeStartedKeepsNoRing) {
  extend_lease(30s);
  protocol::Start order{.execution = a};
  order.program.argv = {"/no/such/program"};
  agent->channel.put(order);
  EXPECT_EQ(end_of(a).failure, "command_not_found");
  run(b, "true");
  EXPECT_EQ(end_of(b).outcome, Outcome::Succeeded);
  EXPECT_EQ(agent->ring_of[b], 1u) << "the first ring is used again";
}

TEST_P(SupervisorTest, StartsNothingWithoutALease) {
  run(a, "echo never");
  const Exit& exit = end_of(a);
  EXPECT_EQ(exit.outcome, Outcome::Lost);
  EXPECT_FALSE(exit.started.is_set());
}

TEST_P(SupervisorTest, ASignalLetsWhatRunsEndAndASecondEndsIt) {
  options.stop_grace = 60s;
  stop();
  start();
  extend_lease(60s);
  run(a, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  run(b, "while [ ! -e " + options.state_dir + "/go ]; do sleep 0.01; done");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)) == "ready\n" && agent->pids.contains(b); }));
  kill(getpid(), SIGTERM);
  ASSERT_TRUE(until([&] { return agent->told_to_stop; }));
  const ExecutionId late{JobId{3}, 1};
  run(late, "echo never");
  EXPECT_EQ(end_of(late).outcome, Outcome::Interrupted);
  EXPECT_FALSE(agent->exits[late].started.is_set());
  std::ofstream(options.state_dir + "/go") << "go";
  EXPECT_EQ(end_of(b).outcome, Outcome::Succeeded) << "it ended within the grace time";
  EXPECT_FALSE(agent->exits.contains(a));
  kill(getpid(), SIGTERM);
  EXPECT_EQ(end_of(a).outcome, Outcome::Interrupted);
  EXPECT_TRUE(agent->exits[a].started.is_set());
}

TEST_P(SupervisorTest, WhatRunsLongerThanTheGraceTimeIsEnded) {
  options.stop_grace = 100ms;
  stop();
  start();
  extend_lease(60s);
  run(a, "trap '' TERM; sleep 1000");
  ASSERT_TRUE(until([&] { return agent->pids.contains(a); }));
  kill(getpid(), SIGTERM);
  EXPECT_EQ(end_of(a).outcome, Outcome::Interrupted);
  EXPECT_FALSE(alive(agent->pids[a]));
}

TEST_P(SupervisorTest, ManyShortJobsAllEndAndTheirPlacesAreReused) {
  extend_lease(60s);
  constexpr uint64_t kJobs = 400;
  for (uint64_t n = 1; n <= kJobs; ++n) run({JobId{n}, 1}, "echo " + std::to_string(n));
  ASSERT_TRUE(until([&] { return agent->exits.size() == kJobs; }));
  for (uint64_t n = 1; n <= kJobs; ++n) {
    const ExecutionId id{JobId{n}, 1};
    EXPECT_EQ(agent->exits[id].outcome, Outcome::Succeeded);
    EXPECT_EQ(agent->read_output(id), std::to_string(n) + "\n");
    agent->channel.put(protocol::Forget{id});
  }
  const size_t rings = agent->rings.size();
  for (uint64_t n = 1001; n <= 1010; ++n) run({JobId{n}, 1}, "echo again");
  ASSERT_TRUE(until([&] { return agent->exits.size() == kJobs + 10; }));
  EXPECT_EQ(agent->rings.size(), rings);
}

TEST_P(SupervisorTest, WhatAJobWroteIsGoneForTheNext) {
  extend_lease(30s);
  run(a, "echo secret > file; mkdir -p d/e; pwd");
  end_of(a);
  const std::string folder = agent->read_output(a);
  // The folder is emptied beside the loop; with more and more jobs at once one of them gets it, and finds nothing.
  uint64_t next = 2, at_once = 1;
  std::string seen;
  ASSERT_TRUE(until([&] {
    const uint64_t first = next;
    for (; next < first + at_once; ++next) run({JobId{next}, 1}, "pwd; ls -A; sleep 0.05");
    ++at_once;
    for (uint64_t n = first; n < next; ++n) {
      end_of({JobId{n}, 1});
      if (const std::string text = agent->read_output({JobId{n}, 1}); text.starts_with(folder)) seen = text;
    }
    return !seen.empty();
  }));
  EXPECT_EQ(seen, folder);
}

TEST_P(SupervisorTest, StoppingEndsTheJobsAndLeavesNothing) {
  extend_lease(30s);
  run(a, "trap '' TERM; echo ready; sleep 1000");
  std::string output;
  ASSERT_TRUE(until([&] { return (output += agent->read_output(a)) == "ready\n"; }));
  const int64_t pid = agent->pids[a];
  stop();
  EXPECT_FALSE(alive(pid));
  EXPECT_FALSE(std::filesystem::exists(options.state_dir + "/supervisor.pid"));
}

TEST_P(SupervisorTest, ASecondSupervisorIsKeptAwayAndToldWhoIsThere) {
  const auto second = StateFolder::open(options.state_dir);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(std::string(second.status().message()).find(std::to_string(getpid())), std::string::npos);
}

TEST_P(SupervisorTest, TheSessionIsKeptForTheNextAgentAndTheNextSupervisor) {
  agent->channel.put(protocol::Registered{"session-1"});
  agent->channel.put(protocol::Ping{1});
  const std::string incarnation = agent->attach->incarnation;
  ASSERT_TRUE(until([&] { return std::filesystem::exists(options.state_dir + "/session"); }));
  agent.reset();
  attach();
  EXPECT_EQ(agent->attach->session_id, "session-1");
  EXPECT_EQ(agent->attach->incarnation, incarnation);
  stop();
  start();
  EXPECT_EQ(agent->attach->session_id, "session-1");
  EXPECT_NE(agent->attach->incarnation, incarnation);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SupervisorTest, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Cgroups" : "Marks"; });

}  // namespace
}  // namespace hodei::worker::supervisor_test
