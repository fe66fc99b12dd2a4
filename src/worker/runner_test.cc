// The runners against what every runner promises: one without processes, the supervisor's with real ones, and each of
// them with artifacts around it.
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/text.h"
#include "src/worker/runners/fake_runner.h"
#include "src/worker/runners/process_runner.h"
#include "src/worker/runners/runner_suite.h"
#include "src/worker/runners/staged_runner.h"
#include "src/worker/supervisor/supervisor_fixture.h"

namespace hodei::worker::runner_test {
namespace {

namespace fs = std::filesystem;

// A folder that is there for one test.
class TestFolder {
 public:
  TestFolder() {
    char name[] = "/tmp/hodei-runner-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TestFolder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class FakePlace final : public RunnerPlace {
 public:
  FakePlace() { FakePlace::next_agent(); }
  Runner& runner() override { return *runner_; }
  NotesByExecution& notes() override { return notes_; }
  void next_agent() override {
    runner_.reset();
    notes_.clear();
    runner_.emplace(machine_, notes_);
  }
  void turn() override {}
  Now now() const override { return now_; }
  void advance(Duration by) override { now_.mono = now_.mono + by; }
  Launch launch(ExecutionId execution) override { return {.order = {.execution = execution}, .program = {}}; }
  void exit(ExecutionId execution, int code) override { runner_->exit(execution, code); }

 private:
  FakeMachine machine_;
  NotesByExecution notes_;
  std::optional<FakeRunner> runner_;
  Now now_{.wall = WallTime{1'000'000}, .mono = MonoTime{1'000'000}};
};

// A real supervisor with real processes; each waits for its exit code at a pipe with its name.
class ProcessPlace final : public RunnerPlace {
 public:
  ProcessPlace() {
    kill_descendants(getpid(), -1);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    options_.state_dir = cat(folder_.path(), "/state");
    options_.worker_id = "runner-test-" + std::to_string(getpid());
    options_.cgroups = false;
    options_.ring_bytes = 64 << 10;
    fs::create_directory(options_.state_dir);
    state_.emplace(StateFolder::open(options_.state_dir).value());
    supervisor_.emplace(options_, *state_, launcher_, clock_);
    EXPECT_TRUE(supervisor_->start().ok());
    ProcessPlace::next_agent();
  }
  ~ProcessPlace() override {
    link_->put(protocol::Left{"done"});
    link_->flush();
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (supervisor_->turn(5) && std::chrono::steady_clock::now() < deadline) {
    }
    supervisor_.reset();
  }
  Runner& runner() override { return *runner_; }
  NotesByExecution& notes() override { return notes_; }
  void next_agent() override {
    runner_.reset();
    link_.reset();
    notes_.clear();
    while (!launcher_.agent_end.is_open()) supervisor_->turn(5);
    link_.emplace(std::move(launcher_.agent_end));
    ASSERT_TRUE(link_->await_attach().ok());
    runner_.emplace(*link_, notes_);
  }
  void turn() override {
    link_->flush();
    supervisor_->turn(5);
  }
  Now now() const override { return clock_.now(); }
  void advance(Duration by) override { clock_.advance(by); }
  Launch launch(ExecutionId execution) override {
    const std::string pipe = pipe_of(execution);
    mkfifo(pipe.c_str(), 0600);
    Launch out{.order = {.execution = execution}, .program = {}};
    out.program.argv = {"sh", "-c", cat("read code < ", pipe, "; exit $code")};
    out.program.env = {"PATH=/usr/bin:/bin", cat(kExecutionVariable, "=", to_string(execution))};
    out.program.grace = 200ms;
    return out;
  }
  void exit(ExecutionId execution, int code) override {
    const Fd pipe(open(pipe_of(execution).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    const std::string line = cat(code, "\n");
    ASSERT_EQ(write(pipe.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    // Until the job has opened it too, this end keeps the line.
    pipes_.push_back(Fd(dup(pipe.get())));
  }
  ServerAccess server() override {
    return {grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials()), "session"};
  }

 private:
  std::string pipe_of(ExecutionId execution) const { return cat(folder_.path(), "/", to_string(execution)); }

  TestFolder folder_;
  WorkerOptions options_;
  ShiftedClock clock_;
  TestLauncher launcher_;
  std::optional<StateFolder> state_;
  std::optional<Supervisor> supervisor_;
  std::optional<SupervisorLink> link_;
  NotesByExecution notes_;
  std::optional<ProcessRunner> runner_;
  std::vector<Fd> pipes_;
};

// Another place, with a runner around its own: every execution fetches a file, and sends it to another one.
class StagedPlace final : public RunnerPlace {
 public:
  explicit StagedPlace(std::unique_ptr<RunnerPlace> inner) : inner_(std::move(inner)) {
    std::ofstream(cat(folder_.path(), "/input")) << "data";
    StagedPlace::stage();
  }
  ~StagedPlace() override { transfers_.reset(); }
  Runner& runner() override { return *runner_; }
  NotesByExecution& notes() override { return inner_->notes(); }
  void next_agent() override {
    runner_.reset();
    transfers_.reset();
    inner_->next_agent();
    stage();
  }
  void turn() override { inner_->turn(); }
  Now now() const override { return inner_->now(); }
  void advance(Duration by) override { inner_->advance(by); }
  Launch launch(ExecutionId execution) override {
    v1::JobSpec spec;
    v1::Artifact& input = *spec.add_inputs();
    input.set_url(cat("file://", folder_.path(), "/input"));
    input.set_path("data");
    v1::Artifact& output = *spec.add_outputs();
    output.set_url(cat("file://", folder_.path(), "/output-", to_string(execution)));
    output.set_path("data");
    Launch out = inner_->launch(execution);
    out.order.spec = spec.SerializeAsString();
    return out;
  }
  void exit(ExecutionId execution, int code) override { inner_->exit(execution, code); }
  ServerAccess server() override { return inner_->server(); }

 private:
  void stage() {
    transfers_.emplace();
    transfers_->start();
    runner_.emplace(inner_->runner(),
                    StagedRunner::Parts{
                        .transfers = *transfers_, .notes = inner_->notes(), .folder = cat(folder_.path(), "/stage")});
  }

  TestFolder folder_;
  std::unique_ptr<RunnerPlace> inner_;
  std::optional<Transfers> transfers_;
  std::optional<StagedRunner> runner_;
};

INSTANTIATE_TEST_SUITE_P(
    Runners, RunnerSuite,
    testing::Values(
        RunnerKind{"Fake", [] { return std::make_unique<FakePlace>(); }},
        RunnerKind{"Process", [] { return std::make_unique<ProcessPlace>(); }},
        RunnerKind{"StagedFake", [] { return std::make_unique<StagedPlace>(std::make_unique<FakePlace>()); }},
        RunnerKind{"StagedProcess", [] { return std::make_unique<StagedPlace>(std::make_unique<ProcessPlace>()); }}),
    [](const auto& kind) { return kind.param.name; });

// Artifacts around a runner that the test plays.
class StagedRunnerTest : public testing::Test {
 protected:
  StagedRunnerTest() { runner.extend_lease(now.mono + 60s); }
  Launch launch(ExecutionId execution, const std::string& input, const std::string& output = "") const {
    v1::JobSpec spec;
    spec.add_inputs()->set_url(cat("file://", folder.path(), "/", input));
    spec.mutable_inputs(0)->set_path("data");
    if (!output.empty()) {
      spec.add_outputs()->set_url(cat("file://", folder.path(), "/", output));
      spec.mutable_outputs(0)->set_path("data");
    }
    return {.order = {.execution = execution, .spec = spec.SerializeAsString()}, .program = {}};
  }
  void turn() {
    runner.look(now);
    runner.tick(now);
    for (run::Event& event : runner.take_events()) told.push_back(std::move(event));
  }
  template <typename Event>
  const Event* find() const {
    for (const run::Event& event : told) {
      if (const auto* found = std::get_if<Event>(&event)) return found;
    }
    return nullptr;
  }
  template <typename Event>
  const Event* until() {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (find<Event>() == nullptr && std::chrono::steady_clock::now() < deadline) {
      pollfd ready{.fd = transfers.ready_fd(), .events = POLLIN, .revents = 0};
      poll(&ready, 1, 5);
      turn();
    }
    return find<Event>();
  }

  const ExecutionId a{JobId{1}, 1};
  TestFolder folder;
  Now now{.wall = WallTime{1'000'000}, .mono = MonoTime{1'000'000}};
  FakeMachine machine;
  NotesByExecution notes;
  FakeRunner inner{machine, notes};
  Transfers transfers;
  StagedRunner runner{inner, {.transfers = transfers, .notes = notes, .folder = cat(folder.path(), "/stage")}};
  std::vector<run::Event> told;
};

TEST_F(StagedRunnerTest, AnInputThatCannotBeFetchedIsTheEndAndNothingRuns) {
  transfers.start();
  runner.start(launch(a, "missing"));
  ASSERT_NE(until<run::Ended>(), nullptr);
  EXPECT_EQ(find<run::Ended>()->exit.failure, "artifact_error");
  EXPECT_FALSE(find<run::Ended>()->exit.started.is_set());
  EXPECT_TRUE(machine.jobs.empty());
}

TEST_F(StagedRunnerTest, OutputsWaitForAServerAndTheEndWaitsForThem) {
  std::ofstream(cat(folder.path(), "/input")) << "data";
  transfers.start();
  runner.start(launch(a, "input", "output"));
  ASSERT_NE(until<run::Started>(), nullptr);
  inner.exit(a, 0);
  turn();
  EXPECT_NE(find<run::Exited>(), nullptr);
  EXPECT_EQ(find<run::Ended>(), nullptr);
  EXPECT_FALSE(fs::exists(cat(folder.path(), "/output")));
  runner.connected({nullptr, "session"});
  ASSERT_NE(until<run::Ended>(), nullptr);
  EXPECT_EQ(find<run::Ended>()->exit.outcome, Outcome::Succeeded);
  EXPECT_TRUE(fs::exists(cat(folder.path(), "/output")));
  EXPECT_TRUE(machine.jobs[a].notes.outputs.empty()) << "the next agent would send them again";
}

TEST_F(StagedRunnerTest, OutputsThatCannotBeSentAreTheEndForTheNextAgentToo) {
  std::ofstream(cat(folder.path(), "/input")) << "data";
  transfers.start();
  runner.connected({nullptr, "session"});
  runner.start(launch(a, "input", "no/such/folder/output"));
  ASSERT_NE(until<run::Started>(), nullptr);
  fs::remove_all(notes[a].folder);
  inner.exit(a, 0);
  ASSERT_NE(until<run::Ended>(), nullptr);
  EXPECT_EQ(find<run::Ended>()->exit.failure, "artifact_error");

  NotesByExecution notes_of_next;
  FakeRunner next_inner{machine, notes_of_next};
  StagedRunner next{next_inner,
                    {.transfers = transfers, .notes = notes_of_next, .folder = cat(folder.path(), "/stage")}};
  const std::vector<run::Event> heard = next.take_events();
  ASSERT_EQ(heard.size(), 1u);
  const run::HeldExecution& held = std::get<run::Ready>(heard[0]).held.at(0);
  EXPECT_TRUE(held.held.ended);
  EXPECT_EQ(held.held.exit.failure, "artifact_error");
}

TEST_F(StagedRunnerTest, WhatIsStillPreparedWhenTheWorkerStopsIsInterrupted) {
  runner.start(launch(a, "input"));  // nobody fetches: it stays in preparation
  turn();
  told.clear();
  inner.events.emplace_back(run::StopAsked{});
  turn();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<run::StopAsked>(told[0])) << "why comes before what comes of it";
  EXPECT_EQ(std::get<run::Ended>(told[1]).exit.outcome, Outcome::Interrupted);
}

TEST_F(StagedRunnerTest, WhatIsStillPreparedWhenTheLeaseEndsIsLost) {
  runner.start(launch(a, "input"));
  turn();
  EXPECT_EQ(runner.next_due(), now.mono + 60s);
  now.mono = now.mono + 60s;
  turn();
  ASSERT_NE(find<run::Ended>(), nullptr);
  EXPECT_EQ(find<run::Ended>()->exit.outcome, Outcome::Lost);
}

TEST_F(StagedRunnerTest, TheNextAgentGoesOnWithOutputsThatWereNotSent) {
  std::ofstream(cat(folder.path(), "/input")) << "data";
  transfers.start();
  runner.start(launch(a, "input", "output"));
  ASSERT_NE(until<run::Started>(), nullptr);
  inner.exit(a, 0);
  turn();

  NotesByExecution notes_of_next;
  FakeRunner next_inner{machine, notes_of_next};
  StagedRunner next{next_inner,
                    {.transfers = transfers, .notes = notes_of_next, .folder = cat(folder.path(), "/stage")}};
  const std::vector<run::Event> heard = next.take_events();
  const run::HeldExecution& held = std::get<run::Ready>(heard.at(0)).held.at(0);
  EXPECT_FALSE(held.held.ended) << "its outputs are not sent";
  EXPECT_TRUE(held.output_is_complete);
}

TEST_F(StagedRunnerTest, FoldersThatNobodyKnowsAreRemoved) {
  fs::create_directories(cat(folder.path(), "/stage/j9.1/cwd"));
  turn();
  EXPECT_FALSE(fs::exists(cat(folder.path(), "/stage/j9.1")));
}

}  // namespace
}  // namespace hodei::worker::runner_test
