// The supervisor with real processes; the test plays the agent at the other end of the socket.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/limits/orphans.h"
#include "src/worker/supervisor/supervisor.h"

namespace hodei::worker {

class TestLauncher final : public AgentLauncher {
 public:
  absl::StatusOr<LaunchedAgent> launch(AgentBinary) override {
    auto ends = Channel::make_pair();
    if (!ends.ok()) return ends.status();
    agent_end = std::move(ends->second);
    ++launches;
    pid = 0;
    const char* const argv[] = {"sleep", "1000", nullptr};
    if (as_process) posix_spawnp(&pid, "sleep", nullptr, nullptr, const_cast<char* const*>(argv), environ);
    return LaunchedAgent{.pid = pid, .socket = std::move(ends->first)};
  }
  bool as_process = false;  // one that does nothing: the test holds its end of the socket
  pid_t pid = 0;
  Fd agent_end;
  int launches = 0;
};

// What an agent knows after it attached.
struct FakeAgent {
  explicit FakeAgent(Fd socket) : channel(std::move(socket)) {}

  void listen() {
    ASSERT_TRUE(channel.flush().ok());
    auto received = channel.receive();
    ASSERT_TRUE(received.ok());
    for (auto& each : *received) {
      if (auto* m = std::get_if<protocol::Attach>(&each.message)) {
        attach = *m;
        room = std::move(each.descriptors[1]);
        for (const auto& held : m->held) {
          ring_of[held.held.execution] = held.ring;
          if (held.held.ended) exits[held.held.execution] = held.held.exit;
        }
      } else if (auto* shared = std::get_if<protocol::RingShared>(&each.message)) {
        rings.emplace(shared->ring, RingMemory::open(std::move(each.descriptors[0])).value());
        readers.emplace(shared->ring, RingReader(&rings.at(shared->ring)));
      } else if (auto* started = std::get_if<protocol::Started>(&each.message)) {
        ring_of[started->execution] = started->ring;
        pids[started->execution] = started->pid;
      } else if (auto* exited = std::get_if<protocol::Exited>(&each.message)) {
        exits[exited->exit.execution] = exited->exit;
      } else if (auto* answer = std::get_if<protocol::Pong>(&each.message)) {
        pong = *answer;
      } else if (std::holds_alternative<protocol::Stop>(each.message)) {
        told_to_stop = true;
      }
    }
  }

  // Takes and frees at most `limit` bytes of output (whole records).
  std::string read_output(ExecutionId id, size_t limit = SIZE_MAX) {
    std::string text;
    if (!ring_of.contains(id) || ring_of[id] == 0) return text;
    RingReader& reader = readers.at(ring_of[id]);
    while (text.size() < limit) {
      const auto chunk = reader.peek();
      if (!chunk) break;
      text += chunk->bytes;
      const uint64_t end = chunk->offset + chunk->bytes.size();
      reader.next();
      if (reader.free_until(end)) {
        const uint64_t one = 1;
        EXPECT_EQ(write(room.get(), &one, sizeof(one)), 8);
      }
    }
    return text;
  }

  Channel channel;
  std::optional<protocol::Attach> attach;
  protocol::Pong pong;
  bool told_to_stop = false;
  Fd room;
  std::map<uint64_t, RingMemory> rings;
  std::map<uint64_t, RingReader> readers;
  std::map<ExecutionId, uint64_t> ring_of;
  std::map<ExecutionId, int64_t> pids;
  std::map<ExecutionId, Exit> exits;
};

// The machine's clock, and hours that pass at once.
class ShiftedClock final : public Clock {
 public:
  Now now() const override {
    Now now = system_.now();
    return {.wall = now.wall + shift_, .mono = now.mono + shift_};
  }
  void advance(Duration by) { shift_ += by; }

 private:
  SystemClock system_;
  Duration shift_{0};
};

// The root of the hierarchy that holds jobs here; empty: there is none.
inline std::string any_cgroup_root() {
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (std::filesystem::exists(cat(root, "/cgroup.controllers"))) return root;
  }
  return std::filesystem::exists("/sys/fs/cgroup/freezer/cgroup.procs") ? "/sys/fs/cgroup/freezer" : "";
}

class SupervisorTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hodei-supervisor-XXXXXX";
    options.state_dir = mkdtemp(name);
    options.worker_id = "supervisor-test-" + std::to_string(getpid());
    options.cgroups = GetParam();
    options.ring_bytes = 64 << 10;
    start();
  }
  void TearDown() override {
    if (supervisor) stop();
    std::filesystem::remove_all(options.state_dir);
  }
  void start() {
    // A worker starts without children; what an earlier test left would count as a stranger.
    kill_descendants(getpid(), -1);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    state.emplace(StateFolder::open(options.state_dir).value());
    supervisor.emplace(options, *state, launcher, clock);
    ASSERT_TRUE(supervisor->start().ok());
    attach();
  }
  void attach() {
    ASSERT_TRUE(until([&] { return launcher.agent_end.is_open(); }, false));
    agent.emplace(std::move(launcher.agent_end));
    ASSERT_TRUE(until([&] { return agent->attach.has_value(); }));
  }
  void extend_lease(Duration by) { agent->channel.put(protocol::ValidUntil{clock.now().mono + by}); }
  void stop() {
    agent->channel.put(protocol::Left{"done"});
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
      agent->channel.flush().IgnoreError();
      if (!supervisor->turn(5)) break;
    }
    supervisor.reset();
    state.reset();
  }
  bool until(const std::function<bool()>& condition, bool listen = true) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < deadline) {
      if (listen) agent->listen();
      if (condition()) return true;
      supervisor->turn(5);
    }
    return false;
  }
  void run(ExecutionId id, const std::string& script, Duration timeout = 0s, OutputRules output = {}) {
    protocol::Start order{.execution = id};
    order.program = {.argv = {"sh", "-c", script},
                     .env = {"PATH=/usr/bin:/bin", cat(kExecutionVariable, "=", to_string(id))},
                     .timeout = timeout,
                     .grace = 200ms};
    order.program.output = output;
    agent->channel.put(order);
  }
  bool ends_by_itself() {
    bool over = false;
    const bool ended = until(
        [&] {
          agent->listen();
          if (agent->told_to_stop) agent->channel.put(protocol::Left{"told to stop"});
          agent->channel.flush().IgnoreError();
          return over = over || !supervisor->turn(5);
        },
        false);
    supervisor.reset();
    state.reset();
    return ended;
  }
  const Exit& end_of(ExecutionId id) {
    EXPECT_TRUE(until([&] { return agent->exits.contains(id); }));
    return agent->exits[id];
  }
  // A zombie that nobody has reaped yet is not alive.
  static bool alive(int64_t pid) {
    std::ifstream stat(cat("/proc/", pid, "/stat"));
    std::string number, name, letter;
    return (stat >> number >> name >> letter) && letter != "Z";
  }

  const ExecutionId a{JobId{1}, 1}, b{JobId{2}, 1};
  WorkerOptions options;
  ShiftedClock clock;
  const std::string cgroup_root = GetParam() ? any_cgroup_root() : std::string();
  TestLauncher launcher;
  std::optional<StateFolder> state;
  std::optional<Supervisor> supervisor;
  std::optional<FakeAgent> agent;
};

}  // namespace hodei::worker
