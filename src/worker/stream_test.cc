// Supervisor and agent together against a small server that speaks the real protocol.
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <signal.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/agent/agent.h"
#include "src/worker/supervisor/supervisor.h"

namespace hodei::worker::stream_test {
namespace {

// As in a real supervisor, no thread may take the signals that its loop waits for; gRPC makes threads early.
const bool kSignalsBlocked = [] {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, each);
  return pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
}();

using v1::ServerMessage;
using v1::WorkerMessage;
using Stream = grpc::ServerReaderWriter<ServerMessage, WorkerMessage>;

// Remembers what workers say, acknowledges it, and can break their streams.
class FakeServer final : public v1::WorkerAgentService::Service {
 public:
  grpc::Status Register(grpc::ServerContext*, const v1::RegisterRequest* request,
                        v1::RegisterResponse* response) override {
    const std::lock_guard lock(mutex);
    registrations.push_back(*request);
    if (request->auth_token() != "otp" && request->session_id() != "session-1") {
      return {grpc::StatusCode::UNAUTHENTICATED, "no such token"};
    }
    response->set_session_id("session-1");
    response->set_protocol(1);
    response->set_heartbeat_ms(50);
    response->set_lease_ms(5000);
    return grpc::Status::OK;
  }
  grpc::Status WorkerStream(grpc::ServerContext* context, Stream* stream) override {
    WorkerMessage message;
    while (stream->Read(&message)) {
      const std::lock_guard lock(mutex);
      if (message.has_hello()) {
        current = stream;
        current_context = context;
        ++hellos;
        last_hello = message.hello();
        ServerMessage welcome;
        welcome.mutable_welcome()->set_epoch(1);
        welcome.mutable_welcome()->set_log_window(log_window);
        for (const auto& held : message.hello().held()) {
          v1::LogPosition& position = *welcome.mutable_welcome()->add_log_positions();
          position.set_execution_id(held.execution_id());
          position.set_offset(static_cast<int64_t>(logs[held.execution_id()].size()));
        }
        for (const std::string& id : unknown) welcome.mutable_welcome()->add_unknown(id);
        stream->Write(welcome);
      }
      take(message, *stream);
    }
    const std::lock_guard lock(mutex);
    if (current == stream) current = nullptr;
    return grpc::Status::OK;
  }
  grpc::Status UnregisterWorker(grpc::ServerContext*, const v1::UnregisterWorkerRequest* request,
                                v1::UnregisterWorkerResponse*) override {
    const std::lock_guard lock(mutex);
    unregistered = true;
    unregistered_incarnation = request->incarnation();
    return grpc::Status::OK;
  }

  void take(const WorkerMessage& message, Stream& stream) {
    ServerMessage ack;
    if (message.has_heartbeat()) {
      ++heartbeats;
      ack.mutable_ack()->set_heartbeat_sent_us(message.heartbeat().sent_us());
      last_heartbeat = message.heartbeat();
    }
    for (const auto& started : message.started()) starts.push_back(started.execution_id());
    for (const auto& progress : message.progress()) progress_told.push_back(progress.message());
    for (const auto& batch : message.logs()) {
      std::string& log = logs[batch.execution_id()];
      const auto offset = static_cast<size_t>(batch.offset());
      EXPECT_LE(offset, log.size()) << "a gap";
      EXPECT_FALSE(results.contains(batch.execution_id()) && !seen_before(batch)) << "output after the result";
      if (offset + batch.data().size() > log.size()) log += batch.data().substr(log.size() - offset);
      if (batch.end()) ended.insert(batch.execution_id());
      largest_batch = std::max(largest_batch, batch.data().size());
      ++batches;
      if (!ack_logs) continue;
      v1::LogPosition& position = *ack.mutable_ack()->add_logs();
      position.set_execution_id(batch.execution_id());
      position.set_offset(static_cast<int64_t>(log.size()));
    }
    for (const auto& result : message.results()) {
      EXPECT_TRUE(result.has_log_bytes());
      EXPECT_TRUE(ended.contains(result.execution_id()) || result.log_bytes() == 0)
          << "a result before the end of the log";
      results[result.execution_id()] = result;
      if (ack_results) ack.mutable_ack()->add_results(result.execution_id());
    }
    if (ack.has_ack()) stream.Write(ack);
  }
  bool seen_before(const v1::LogBatch& batch) {
    return static_cast<size_t>(batch.offset()) + batch.data().size() <= logs[batch.execution_id()].size();
  }

  void run_job(const std::string& id, const v1::JobSpec& spec, const std::map<std::string, std::string>& secrets = {}) {
    ServerMessage message;
    v1::RunJob& run = *message.add_run();
    for (const auto& [name, value] : secrets) (*run.mutable_secrets())[name] = value;
    run.set_execution_id(id);
    run.set_attempt(1);
    run.set_epoch(1);
    run.set_spec(spec.SerializeAsString());
    say(message);
  }
  void say(const ServerMessage& message) {
    const std::lock_guard lock(mutex);
    ASSERT_NE(current, nullptr);
    current->Write(message);
  }
  void break_stream() {
    const std::lock_guard lock(mutex);
    if (current != nullptr) current_context->TryCancel();
  }

  std::mutex mutex;
  Stream* current = nullptr;
  grpc::ServerContext* current_context = nullptr;
  std::vector<v1::RegisterRequest> registrations;
  v1::Hello last_hello;
  int hellos = 0, heartbeats = 0, batches = 0;
  v1::Heartbeat last_heartbeat;
  size_t largest_batch = 0;
  bool unregistered = false;
  std::string unregistered_incarnation;
  bool ack_results = true, ack_logs = true;
  int64_t log_window = 0;  // none
  std::vector<std::string> starts, unknown, progress_told;
  std::map<std::string, std::string> logs;
  std::set<std::string> ended;
  std::map<std::string, v1::JobResult> results;
};

// The agent as a thread of this process: everything but its death is real.
class ThreadLauncher final : public AgentLauncher {
 public:
  ~ThreadLauncher() override { join(); }
  absl::StatusOr<LaunchedAgent> launch(AgentBinary) override {
    join();
    auto ends = Channel::make_pair();
    if (!ends.ok()) return ends.status();
    thread_ = std::thread([socket = std::move(ends->second), this]() mutable { run_agent(std::move(socket), clock_); });
    return LaunchedAgent{.pid = 0, .socket = std::move(ends->first)};
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  SystemClock clock_;
  std::thread thread_;
};

class StreamTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/hodei-stream-XXXXXX";
    options.state_dir = mkdtemp(name);
    options.worker_id = "stream-test-" + std::to_string(getpid());
    options.token = "otp";
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&server);
    running = builder.BuildAndStart();
    options.servers = {cat("http://127.0.0.1:", port)};
  }
  void TearDown() override {
    supervisor.reset();
    launcher.join();
    running->Shutdown(std::chrono::system_clock::now());
    std::filesystem::remove_all(options.state_dir);
  }
  void start() {
    state.emplace(StateFolder::open(options.state_dir).value());
    supervisor.emplace(options, *state, launcher, clock);
    ASSERT_TRUE(supervisor->start().ok());
  }
  void start_and_wait() {
    start();
    ASSERT_TRUE(until([&] { return server.current != nullptr; }));
  }
  bool until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (std::chrono::steady_clock::now() < deadline) {
      {
        const std::lock_guard lock(server.mutex);
        if (condition()) return true;
      }
      if (!supervisor->turn(5)) over = true;
    }
    return false;
  }
  // The supervisor hangs meanwhile: nobody turns its loop.
  bool hung_until(const std::function<bool()>& condition, Duration patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < deadline) {
      {
        const std::lock_guard lock(server.mutex);
        if (condition()) return true;
      }
      poll(nullptr, 0, 5);
    }
    return false;
  }
  static v1::JobSpec script(const std::string& content) {
    v1::JobSpec spec;
    spec.mutable_command()->mutable_script()->set_interpreter("sh");
    spec.mutable_command()->mutable_script()->set_content(content);
    return spec;
  }

  FakeServer server;
  std::unique_ptr<grpc::Server> running;
  WorkerOptions options;
  SystemClock clock;
  ThreadLauncher launcher;
  std::optional<StateFolder> state;
  std::optional<Supervisor> supervisor;
  bool over = false;
};

TEST_F(StreamTest, AJobGoesFromTheOrderToItsResult) {
  start_and_wait();
  server.run_job("j5.1", script("echo hello; echo $HODEI_EXECUTION_ID >&2; false | true; echo end; exit 7"));
  ASSERT_TRUE(until([&] { return server.results.contains("j5.1"); }));
  EXPECT_EQ(server.results["j5.1"].exit_code(), 7);
  EXPECT_EQ(server.results["j5.1"].outcome(), v1::JobResult::Failed);
  EXPECT_THAT(server.logs["j5.1"], testing::HasSubstr("hello\n"));
  EXPECT_THAT(server.logs["j5.1"], testing::HasSubstr("j5.1\n"));
  EXPECT_THAT(server.starts, testing::ElementsAre("j5.1"));
  EXPECT_EQ(server.registrations[0].info().id(), options.worker_id);
  ASSERT_TRUE(until([&] { return server.heartbeats >= 3; }));
}

TEST_F(StreamTest, HeartbeatsTellWhatRunningJobsAndTheMachineUse) {
  start_and_wait();
  v1::JobSpec limited = script("exec sleep 1000");  // dies with the supervisor, which is not stopped in good order
  limited.mutable_resources()->set_memory_mb(100);
  server.run_job("j6.1", script("exec sleep 1000"));
  server.run_job("j6.2", limited);
  ASSERT_TRUE(until([&] { return server.last_heartbeat.executions_size() > 0; }));
  const v1::Heartbeat beat = server.last_heartbeat;
  for (const v1::ExecutionUsage& usage : beat.executions()) {
    EXPECT_THAT(usage.execution_id(), testing::AnyOf("j6.1", "j6.2"));
    EXPECT_GT(usage.memory_kb(), 0);
    EXPECT_LT(usage.memory_kb(), 50 << 10);
  }
  EXPECT_GT(beat.disk_read_bytes() + beat.disk_write_bytes(), 0);
}

TEST_F(StreamTest, ABrokenStreamLosesAndRepeatsNothing) {
  start_and_wait();
  server.run_job("j6.1", script("i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done"));
  for (int n = 1; n <= 5; ++n) {
    ASSERT_TRUE(until([&] {
      return server.hellos >= n &&
             (server.logs["j6.1"].size() > 20'000u * static_cast<size_t>(n) || server.ended.contains("j6.1"));
    }));
    server.break_stream();
    ASSERT_TRUE(until([&] { return server.hellos > n; }));
  }
  ASSERT_TRUE(until([&] { return server.results.contains("j6.1"); }));
  std::string expected;
  for (int i = 0; i < 30'000; ++i) expected += cat("line ", i, "\n");
  EXPECT_TRUE(server.logs["j6.1"] == expected) << server.logs["j6.1"].size() << " of " << expected.size();
  EXPECT_EQ(server.registrations.back().session_id(), "session-1") << "comes back without its token";
}

TEST_F(StreamTest, AResultIsRepeatedUntilItIsAcknowledgedThenForgotten) {
  server.ack_results = false;
  start_and_wait();
  server.run_job("j7.1", script("echo x"));
  ASSERT_TRUE(until([&] { return server.results.contains("j7.1"); }));
  {
    const std::lock_guard lock(server.mutex);
    server.results.clear();
    server.ack_results = true;
  }
  server.break_stream();
  ASSERT_TRUE(until([&] { return server.results.contains("j7.1"); }));
  EXPECT_EQ(server.last_hello.held_size(), 1);
  const int before = server.hellos;
  ASSERT_TRUE(until([&, beats = server.heartbeats] { return server.heartbeats > beats + 1; }));
  server.break_stream();
  ASSERT_TRUE(until([&] { return server.hellos > before; }));
  EXPECT_EQ(server.last_hello.held_size(), 0);
}

TEST_F(StreamTest, WhatTheServerDoesNotKnowIsStopped) {
  start_and_wait();
  server.run_job("j8.1", script("echo ready; yes"));
  ASSERT_TRUE(until([&] { return server.logs["j8.1"].size() > 100; }));
  {
    const std::lock_guard lock(server.mutex);
    server.unknown = {"j8.1"};
  }
  server.break_stream();
  ASSERT_TRUE(until([&] { return server.hellos >= 2; }));
  ASSERT_TRUE(until([&, beats = server.heartbeats] { return server.heartbeats > beats + 5; }));
  server.break_stream();
  ASSERT_TRUE(until([&] { return server.hellos >= 3; }));
  EXPECT_EQ(server.last_hello.held_size(), 0);
  EXPECT_TRUE(server.results.empty());
}

TEST_F(StreamTest, AWorkerWhoseSupervisorHangsDoesNotComeBackForMoreWork) {
  start_and_wait();
  ASSERT_TRUE(until([&] { return server.heartbeats >= 2; }));
  // The next heartbeat asks the supervisor whether it is alive.
  ASSERT_TRUE(hung_until([&, beats = server.heartbeats] { return server.heartbeats > beats; }, 10s));
  server.break_stream();
  EXPECT_FALSE(hung_until([&] { return server.hellos > 1; }, 1s));
  ASSERT_TRUE(until([&] { return server.hellos > 1; }));
}

TEST_F(StreamTest, CancelAndSpawnErrorsAreReported) {
  start_and_wait();
  server.run_job("j9.1", script("sleep 1000"));
  v1::JobSpec missing;
  missing.mutable_command()->mutable_shell()->set_cmd("no-such-program");
  server.run_job("j9.2", missing);
  ASSERT_TRUE(until([&] { return server.starts.size() == 1 && server.results.contains("j9.2"); }));
  ServerMessage cancel;
  cancel.add_cancel()->set_execution_id("j9.1");
  server.say(cancel);
  ASSERT_TRUE(until([&] { return server.results.contains("j9.1"); }));
  EXPECT_EQ(server.results["j9.1"].outcome(), v1::JobResult::Cancelled);
  EXPECT_EQ(server.results["j9.2"].failure(), "command_not_found");
  EXPECT_EQ(server.results["j9.2"].exit_code(), 127);
}

// Masks of large secrets are made beside the jobs, one after another: the last one has to wait for its own.
TEST_F(StreamTest, NothingThatAJobReportsWhileItsMaskIsMadeShowsASecret) {
  start_and_wait();
  const auto large = [](int number) {
    std::string value;
    for (int i = 0; value.size() < 60'000; ++i) value += cat("key-", i * 7919 + number, ";");
    return value;
  };
  for (int i = 2; i <= 20; ++i) server.run_job(cat("j12.", i), script("true"), {{"large", large(i)}});
  v1::JobSpec spec;
  spec.mutable_command()->mutable_script()->set_interpreter("python3");
  spec.mutable_command()->mutable_script()->set_content(R"(
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["HODEI_SOCKET"])
s.sendall(("hello %s %s\n" % (os.environ["HODEI_EXECUTION_ID"], os.environ["HODEI_SOCKET_KEY"])).encode())
s.sendall(b"output s3cr3t-value 1\noutput open 2\nprogress 7 the token is s3cr3t-value\n")
answers = b""
while answers.count(b"\n") < 4: answers += s.recv(1000)
)");
  server.run_job("j12.1", spec, {{"token", "s3cr3t-value"}, {"large", large(1)}});
  ASSERT_TRUE(until([&] { return server.results.contains("j12.1"); }));
  EXPECT_EQ(server.results["j12.1"].exit_code(), 0) << server.logs["j12.1"];
  EXPECT_THAT(server.progress_told, testing::Each(testing::Not(testing::HasSubstr("s3cr3t"))));
  const auto& outputs = server.results["j12.1"].outputs();
  EXPECT_TRUE(outputs.contains("open"));
  EXPECT_FALSE(outputs.contains("s3cr3t-value"));
}

TEST_F(StreamTest, MuchOutputTravelsInLargeBatches) {
  start_and_wait();
  server.run_job("j10.1", script("head -c 30000000 /dev/zero | tr '\\0' 'x'; echo"));
  ASSERT_TRUE(until([&] { return server.results.contains("j10.1"); }));
  EXPECT_EQ(server.logs["j10.1"].size(), 30'000'001u);
  EXPECT_GT(server.largest_batch, 60'000u);
  EXPECT_LT(server.batches, 1500);
}

TEST_F(StreamTest, AWorkerKeepsToTheWindowThatTheServerGivesIt) {
  constexpr size_t kWindow = 600'000;
  constexpr size_t kPrinted = 2'000'000;
  server.log_window = kWindow;
  server.ack_logs = false;
  start_and_wait();
  EXPECT_TRUE(server.last_hello.has_log_window());
  server.run_job("j13.1", script(cat("head -c ", kPrinted - 1, " /dev/zero | tr '\\0' 'x'; echo")));
  ASSERT_TRUE(until([&] { return server.logs["j13.1"].size() >= kWindow / 4; }));
  ASSERT_TRUE(until([&, beats = server.heartbeats] { return server.heartbeats > beats + 10; })) << "these pass";
  EXPECT_LE(server.logs["j13.1"].size(), kWindow);
  ServerMessage ack;
  {
    const std::lock_guard lock(server.mutex);
    server.ack_logs = true;
    v1::LogPosition& position = *ack.mutable_ack()->add_logs();
    position.set_execution_id("j13.1");
    position.set_offset(static_cast<int64_t>(server.logs["j13.1"].size()));
  }
  server.say(ack);
  ASSERT_TRUE(until([&] { return server.results.contains("j13.1"); }));
  EXPECT_EQ(server.logs["j13.1"].size(), kPrinted);
}

// What a job says is written down by the supervisor before it is answered. While that one takes nothing, the job waits,
// and the agent holds no more than what is on the way.
TEST_F(StreamTest, AJobThatFloodsOutputsIsReadOnlyAsFastAsTheyAreKept) {
  constexpr int kLines = 40;  // fewer than may come at once, by what they cost
  start_and_wait();
  v1::JobSpec spec;
  spec.mutable_command()->mutable_script()->set_interpreter("python3");
  spec.mutable_command()->mutable_script()->set_content(absl::StrReplaceAll(R"py(
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["HODEI_SOCKET"])
s.sendall(("hello %s %s\n" % (os.environ["HODEI_EXECUTION_ID"], os.environ["HODEI_SOCKET_KEY"])).encode())
assert s.recv(1000) == b"ok\n"
for i in range(40):
    s.sendall(b"output k%d %s\n" % (i % 2, b"v" * 30000))
    assert s.recv(1000) == b"ok\n"
    with open("FOLDER/answered", "a") as f: f.write("x")
    while not os.path.exists("FOLDER/go-on"): time.sleep(0.01)
)py",
                                                                            {{"FOLDER", options.state_dir}}));
  const auto answered = [&] {
    std::error_code missing;
    const auto size = std::filesystem::file_size(options.state_dir + "/answered", missing);
    return missing ? 0 : static_cast<int>(size);
  };
  server.run_job("j14.1", spec);
  ASSERT_TRUE(until([&] { return answered() == 1; }));
  std::ofstream(options.state_dir + "/go-on") << "x";
  EXPECT_FALSE(hung_until([&] { return answered() > kLines / 2; }, 1s)) << "nobody keeps them";
  ASSERT_TRUE(until([&] { return server.results.contains("j14.1"); }));
  EXPECT_EQ(server.results["j14.1"].exit_code(), 0) << server.logs["j14.1"];
  EXPECT_EQ(server.results["j14.1"].outputs_size(), 2);
  EXPECT_EQ(answered(), kLines);
}

TEST_F(StreamTest, DrainedItUnregistersAndEnds) {
  start_and_wait();
  ServerMessage drain;
  drain.mutable_drain()->set_stop(true);
  server.run_job("j11.1", script("echo last"));
  server.say(drain);
  ASSERT_TRUE(until([&] { return over; }));
  EXPECT_TRUE(server.unregistered);
  EXPECT_EQ(server.unregistered_incarnation, server.last_hello.incarnation());
  EXPECT_TRUE(server.results.contains("j11.1"));
}

TEST_F(StreamTest, AWrongTokenEndsTheWorker) {
  options.token = "wrong";
  start();
  ASSERT_TRUE(until([&] { return over; }));
  EXPECT_FALSE(server.unregistered);
}

}  // namespace
}  // namespace hodei::worker::stream_test
