// How jobs report: lines, limits, the socket with a real client at its other end.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/worker/reports/job_reports.h"
#include "src/worker/reports/job_socket.h"
#include "src/worker/reports/report_client.h"
#include "src/worker/reports/socket_folder.h"

namespace hodei::worker::report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const ExecutionId kFirst{JobId{5}, 1};
const ExecutionId kSecond{JobId{6}, 1};

OutputLine output(std::string_view line) { return std::get<OutputLine>(parse_report(line).value()); }
ProgressLine progress(std::string_view line) { return std::get<ProgressLine>(parse_report(line).value()); }
std::string wrong(std::string_view line) { return std::string(parse_report(line).status().message()); }

TEST(ReportLine, CarriesWhateverTextThereIs) {
  for (const std::string text : {"", "plain", " two  spaces ", "a\nb\r\n\\n", "\\", "=\t\u20ac", "-x"}) {
    const std::string line = report_line(OutputLine{"key", text});
    ASSERT_EQ(line.find('\n'), line.size() - 1) << "one line";
    EXPECT_EQ(output(line.substr(0, line.size() - 1)).value, text);
    const std::string told = report_line(ProgressLine{12.5, text});
    EXPECT_EQ(progress(told.substr(0, told.size() - 1)).message, text);
  }
  EXPECT_EQ(output("output key").value, "");
  EXPECT_EQ(output("output a.b-C_1 x").key, "a.b-C_1");
  EXPECT_EQ(progress("progress 33.3").percent, 33.3);
}

TEST(ReportLine, SaysWhatIsWrong) {
  EXPECT_THAT(wrong(""), HasSubstr("start with hello"));
  EXPECT_THAT(wrong("outputs a b"), HasSubstr("start with hello"));
  for (const char* number : {"", "x", "-1", "101", "nan", "inf", "4x", "0x10"}) {
    EXPECT_THAT(wrong(std::string("progress ") + number), HasSubstr("0 to 100")) << number;
  }
  for (const std::string& key : {std::string(), std::string("a/b"), std::string("\xff"), std::string(101, 'k')}) {
    EXPECT_THAT(wrong("output " + key + " v"), HasSubstr("the key")) << key;
  }
  EXPECT_THAT(wrong("output k \\x"), HasSubstr("backslash"));
  EXPECT_THAT(wrong("output k \\"), HasSubstr("backslash"));
  EXPECT_THAT(wrong("output k \xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(wrong("progress 1 \xc3"), HasSubstr("UTF-8"));
  EXPECT_FALSE(parse_report("hello nonsense key").ok());
}

TEST(ReportLine, CutsALongMessageBetweenCharacters) {
  std::string message(kMaxProgressMessage - 1, 'x');
  message += "\u20ac";
  EXPECT_EQ(progress("progress 1 " + message).message, std::string(kMaxProgressMessage - 1, 'x'));
}

TEST(ReportWords, BecomeReports) {
  const auto outputs = read_report_arguments({"output", "a=1", "b=x = y\nz"}).value();
  EXPECT_EQ(std::get<OutputLine>(outputs[1]).key, "b");
  EXPECT_EQ(std::get<OutputLine>(outputs[1]).value, "x = y\nz");
  EXPECT_EQ(std::get<ProgressLine>(read_report_arguments({"progress", "7", "all", "well"}).value()[0]).message,
            "all well");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"progress"},
                                             {"progress", "half"},
                                             {"progress", "4 0"},
                                             {"output"},
                                             {"output", "a"},
                                             {"output", "a b=1"},
                                             {"output", "=1"},
                                             {"output", "a=" + std::string(kMaxReportLine, 'x')}}) {
    EXPECT_EQ(read_report_arguments(bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad.back().substr(0, 20);
  }
}

TEST(Outputs, AreLimitedInNumberAndSize) {
  std::map<std::string, std::string> reported;
  for (size_t i = 0; i < kMaxOutputs; ++i) ASSERT_TRUE(add_output({"k" + std::to_string(i), "v"}, reported).ok());
  EXPECT_EQ(add_output({"more", "v"}, reported).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(add_output({"k0", "new"}, reported).ok()) << "a known key gets a new value";
  EXPECT_EQ(reported["k0"], "new");
  EXPECT_EQ(add_output({"k1", std::string(kMaxOutputBytes, 'x')}, reported).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(reported["k1"], "v");
  std::map<std::string, std::string> one;
  EXPECT_TRUE(add_output({"k", std::string(kMaxOutputBytes - 1, 'x')}, one).ok());
  EXPECT_TRUE(add_output({"k", std::string(kMaxOutputBytes - 1, 'y')}, one).ok()) << "what it replaces does not count";
}

TEST(Progress, TellsOnlyTheNewestAndNotTooOften) {
  ProgressBoard board;
  const auto all_run = [](ExecutionId) { return true; };
  EXPECT_EQ(board.next_due(all_run), kNever);
  board.note(kFirst, {10, "a"});
  EXPECT_THAT(board.take_due(MonoTime{1000}, all_run),
              ElementsAre(Pair(kFirst, testing::Field(&ProgressLine::percent, 10))));
  for (int i = 11; i < 20; ++i) board.note(kFirst, {double(i), ""});
  EXPECT_THAT(board.take_due(MonoTime{2000}, all_run), testing::IsEmpty());
  const MonoTime due = board.next_due(all_run);
  EXPECT_EQ(due, MonoTime{1000} + kProgressInterval);
  EXPECT_THAT(board.take_due(due, all_run), ElementsAre(Pair(kFirst, testing::Field(&ProgressLine::percent, 19))));
  EXPECT_EQ(board.next_due(all_run), kNever);
  EXPECT_FALSE(board.take_last(kFirst)) << "it was sent";
  board.send_again();
  EXPECT_EQ(board.take_last(kFirst)->percent, 19);
}

TEST(Progress, WaitsUntilTheServerKnowsOfTheStart) {
  ProgressBoard board;
  board.note(kFirst, {10, ""});
  bool started = false;
  const auto is_running = [&](ExecutionId) { return started; };
  EXPECT_EQ(board.next_due(is_running), kNever);
  EXPECT_THAT(board.take_due(MonoTime{1}, is_running), testing::IsEmpty());
  started = true;
  EXPECT_EQ(board.take_due(MonoTime{1}, is_running).size(), 1u);
}

TEST(SocketKey, BelongsToOneExecutionAndOneSecret) {
  const HmacSha256 secret("s");
  EXPECT_EQ(socket_key(secret, kFirst), socket_key(HmacSha256("s"), kFirst));
  EXPECT_NE(socket_key(secret, kFirst), socket_key(secret, kSecond));
  EXPECT_NE(socket_key(secret, kFirst), socket_key(HmacSha256("t"), kFirst));
  EXPECT_EQ(socket_key(secret, kFirst).size(), 32u);
}

TEST(SocketFolder, CanBeWalkedByOthersIsShortAndGoesAway) {
  std::string path;
  {
    const SocketFolder folder = SocketFolder::make("0123456789abcdef" + std::to_string(getpid()), testing::TempDir());
    path = std::filesystem::path(folder.socket()).parent_path();
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0755u);
    EXPECT_LT(folder.socket().size(), sizeof(sockaddr_un::sun_path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// A socket served on a thread of its own, as the agent does on its loop.
class JobSocketTest : public testing::Test {
 protected:
  JobSocketTest() {
    char name[] = "/tmp/hodei-report-XXXXXX";
    folder = mkdtemp(name);
    open_socket();
  }
  ~JobSocketTest() override {
    stop();
    std::filesystem::remove_all(folder);
  }
  void open_socket() {
    socket.emplace(folder + "/socket", "secret",
                   [this](ExecutionId execution, const ReportLine& report) -> absl::Status {
                     if (execution == ended) return absl::FailedPreconditionError("this execution has ended");
                     if (const auto* line = std::get_if<OutputLine>(&report))
                       return add_output(*line, outputs[execution]);
                     return absl::OkStatus();
                   });
    ASSERT_TRUE(socket->open().ok());
  }
  void serve() {
    thread = std::thread([this] {
      while (!stopping) {
        socket->look(now);
        socket->answer();
      }
    });
  }
  void stop() {
    stopping = true;
    if (thread.joinable()) thread.join();
    stopping = false;
  }
  absl::Status send(ExecutionId execution, const std::string& key, const std::vector<ReportLine>& reports) {
    return send_reports(folder + "/socket", {execution, key}, reports, 5s);
  }
  Fd connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder.c_str());
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval deadline{.tv_sec = 10, .tv_usec = 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  // What the other side says to these bytes until it closes, or until `lines` lines are there.
  std::string ask(const Fd& fd, const std::string& text, size_t lines) const {
    if (!text.empty()) {
      EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    std::string answer;
    char buffer[4096];
    ssize_t got = 0;
    while (static_cast<size_t>(std::count(answer.begin(), answer.end(), '\n')) < lines &&
           (got = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0) {
      answer.append(buffer, static_cast<size_t>(got));
    }
    return answer;
  }
  std::string key(ExecutionId execution) const { return socket_key(HmacSha256("secret"), execution); }
  std::string hello() const { return report_line(HelloLine{kFirst, key(kFirst)}); }

  std::string folder;
  ExecutionId ended{JobId{9}, 1};
  std::map<ExecutionId, std::map<std::string, std::string>> outputs;
  std::optional<JobSocket> socket;
  size_t answers = 0;
  MonoTime now{1'000'000};
  std::atomic<bool> stopping = false;
  std::thread thread;
};

TEST_F(JobSocketTest, TakesReportsOfWhoHasTheKey) {
  serve();
  EXPECT_TRUE(send(kFirst, key(kFirst), {OutputLine{"a", "1\n2"}, ProgressLine{40, "half"}}).ok());
  stop();
  EXPECT_EQ(outputs[kFirst]["a"], "1\n2");
}

TEST_F(JobSocketTest, RefusesTheKeyOfAnotherExecution) {
  serve();
  for (const std::string& bad : {key(kSecond), std::string(), key(kFirst) + "0", std::string(32, '0')}) {
    EXPECT_THAT(std::string(send(kFirst, bad, {OutputLine{"a", "1"}}).message()), HasSubstr("wrong key"));
  }
  EXPECT_THAT(std::string(send(ended, key(ended), {}).message()), HasSubstr("has ended"));
  EXPECT_THAT(ask(connect(), "output a 1\n", 1), HasSubstr("error send hello first"));
  stop();
  EXPECT_TRUE(outputs.empty());
}

TEST_F(JobSocketTest, AnswersEveryLineAndGoesOnAfterABadOne) {
  serve();
  const Fd fd = connect();
  EXPECT_EQ(ask(fd, hello() + "output a 1\noutput b", 2), "ok\nok\n");
  EXPECT_EQ(ask(fd, " 2\nprogress many\n" + hello() + "output c 3\n", 4),
            "ok\nerror progress: 'many' is not a number from 0 to 100\nerror hello was already sent\nok\n");
  stop();
  EXPECT_THAT(outputs[kFirst], ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3")));
}

TEST_F(JobSocketTest, ALineWithoutEndIsRefused) {
  serve();
  const Fd fd = connect();
  EXPECT_THAT(ask(fd, hello() + "output a " + std::string(kMaxReportLine, 'x'), 3),
              HasSubstr("error a line is longer"));
}

TEST_F(JobSocketTest, OneExecutionCannotTakeAllConnections) {
  serve();
  std::vector<Fd> open;
  for (size_t i = 0; i < JobSocket::kMaxPerExecution; ++i) {
    open.push_back(connect());
    EXPECT_EQ(ask(open.back(), hello(), 1), "ok\n");
  }
  EXPECT_THAT(ask(connect(), hello(), 1), HasSubstr("error busy: this execution has 8 connections"));
  EXPECT_TRUE(send(kSecond, key(kSecond), {}).ok()) << "others are not concerned";
  open.clear();
}

TEST_F(JobSocketTest, WhoDoesNotSayHelloIsSentAway) {
  const Fd silent = connect();
  socket->look(now);
  EXPECT_EQ(socket->next_deadline(), now + JobSocket::kHelloTime);
  socket->look(now + JobSocket::kHelloTime);
  EXPECT_EQ(ask(silent, "", 1), "");
  EXPECT_EQ(socket->next_deadline(), kNever);
}

TEST_F(JobSocketTest, WhoDoesNotSayHelloGivesWayToNewcomers) {
  std::vector<Fd> silent;
  for (size_t i = 0; i < 3 * JobSocket::kMaxStrangers; ++i) {
    silent.push_back(connect());
    socket->look(now + Duration(static_cast<int64_t>(i)));
  }
  EXPECT_THAT(ask(silent.front(), "", 1), HasSubstr("error busy: too many connections without a hello"));
  // Hundreds are still held open: a client gets through at the first try.
  std::thread client([&] {
    EXPECT_TRUE(send_reports(folder + "/socket", {kFirst, key(kFirst)}, {OutputLine{"a", "1"}}, 0s).ok());
  });
  serve();
  client.join();
}

TEST_F(JobSocketTest, ExecutionsThatHoldAllConnectionsGiveWayToOneThatHasNone) {
  serve();
  std::vector<Fd> open;
  for (uint64_t job = 100; open.size() < JobSocket::kMaxConnections; ++job) {
    const ExecutionId execution{JobId{job}, 1};
    for (size_t i = 0; i < JobSocket::kMaxPerExecution; ++i) {
      open.push_back(connect());
      ASSERT_EQ(ask(open.back(), report_line(HelloLine{execution, key(execution)}), 1), "ok\n");
    }
  }
  EXPECT_TRUE(send_reports(folder + "/socket", {kFirst, key(kFirst)}, {OutputLine{"a", "1"}}, 0s).ok());
  stop();
  size_t closed = 0;
  for (const Fd& fd : open) {
    char byte = 0;
    const ssize_t got = recv(fd.get(), &byte, 1, MSG_DONTWAIT);
    closed += got >= 0 ? 1 : 0;
  }
  EXPECT_EQ(closed, 1u);
}

TEST_F(JobSocketTest, WhoWaitsForAnAnswerIsNotSentAway) {
  std::vector<Fd> open;
  const auto say = [&](const Fd& fd, const std::string& text) {
    ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    socket->look(now);
  };
  for (uint64_t job = 100; open.size() < JobSocket::kMaxConnections; ++job) {
    const ExecutionId execution{JobId{job}, 1};
    for (size_t i = 0; i < JobSocket::kMaxPerExecution; ++i) {
      open.push_back(connect());
      socket->look(now);
      say(open.back(), report_line(HelloLine{execution, key(execution)}));
      socket->answer();
      ASSERT_EQ(ask(open.back(), "", 1), "ok\n");
    }
  }
  // All but one of them have something that is not kept yet.
  for (size_t i = 0; i + 1 < open.size(); ++i) say(open[i], "output a 1\n");
  const Fd newcomer = connect();
  socket->look(now);
  say(newcomer, hello());
  socket->answer();
  for (size_t i = 0; i + 1 < open.size(); ++i) ASSERT_EQ(ask(open[i], "", 1), "ok\n") << i;
  EXPECT_THAT(ask(open.back(), "", 1), HasSubstr("closed to make room for other jobs"));
  EXPECT_EQ(ask(newcomer, "", 1), "ok\n");
}

TEST_F(JobSocketTest, AFloodIsReadNoFasterThanItsBudgetAllows) {
  const Fd fd = connect();
  socket->look(now);
  ASSERT_EQ(::send(fd.get(), hello().data(), hello().size(), 0), static_cast<ssize_t>(hello().size()));
  std::string flood;
  while (flood.size() < 100'000) flood += "progress 1\n";
  size_t sent = 0;
  const auto turn = [&](MonoTime at) {
    const ssize_t put =
        ::send(fd.get(), flood.data() + sent % 11, flood.size() - sent % 11, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put > 0) sent += static_cast<size_t>(put);
    socket->look(at);
    socket->answer();
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd.get(), buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;) {
      answers += static_cast<size_t>(std::count(buffer, buffer + got, '\n'));
    }
  };
  for (int i = 0; i < 200; ++i) turn(now);
  EXPECT_EQ(answers, 1u + kReportsAtOnce) << "a hello, and all that may come at once";
  EXPECT_GT(socket->next_deadline(), now) << "nobody looks again before it may go on";
  EXPECT_LE(socket->next_deadline(), now + 1s) << "but then, though nothing else happens";
  for (int i = 0; i < 200; ++i) turn(now + 1s);
  EXPECT_EQ(answers, 1u + kReportsAtOnce + kReportsPerSecond);
}

TEST_F(JobSocketTest, OthersAreHeardWhileOneFloods) {
  std::atomic<bool> done = false;
  serve();
  std::thread flood([&] {
    const Fd fd = connect();
    std::string lines = hello();
    for (int i = 0; i < 5000; ++i) lines += "output k " + std::string(1000, 'x') + "\n";
    while (!done && ::send(fd.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT) != 0) {
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(send(kSecond, key(kSecond), {OutputLine{"a", std::to_string(i)}}).ok());
  done = true;
  flood.join();
}

TEST_F(JobSocketTest, AnswersOnlyWhatIsKept) {
  const Fd fd = connect();
  const std::string text = hello() + "output a 1\n";
  ASSERT_EQ(::send(fd.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  for (int i = 0; i < 3; ++i) socket->look(now);
  socket->answer([](ExecutionId) { return false; });
  char byte = 0;
  EXPECT_LT(recv(fd.get(), &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_TRUE(socket->has_answers());
  // And it is not read any further meanwhile.
  const std::string more = "output b 2\n";
  ASSERT_EQ(::send(fd.get(), more.data(), more.size(), 0), static_cast<ssize_t>(more.size()));
  socket->look(now);
  EXPECT_EQ(outputs[kFirst].size(), 1u);
  socket->answer();
  EXPECT_EQ(ask(fd, "", 2), "ok\nok\n");
  socket->look(now);
  EXPECT_EQ(outputs[kFirst].size(), 2u);
}

TEST(ReportBudget, CostsByWhatALineMakesTheWorkerDo) {
  ReportBudget budget;
  const MonoTime start{1'000'000};
  int outputs = 0;
  for (; !budget.is_spent(start); ++outputs) budget.spend(100, true);
  EXPECT_EQ(outputs, kReportsAtOnce / kOutputCost);
  EXPECT_GT(budget.ready_at(), start);
  EXPECT_LE(budget.ready_at(), start + 1ms);
  EXPECT_FALSE(budget.is_spent(start + 1s));
  int large = 0;
  for (ReportBudget fresh; !fresh.is_spent(start); ++large) fresh.spend(64 << 10, false);
  EXPECT_LT(large, 32);
}

TEST_F(JobSocketTest, TheNextAgentListensAtTheSamePlaceAndTheClientWaitsForIt) {
  socket.reset();
  std::thread patient([&] { EXPECT_TRUE(send(kFirst, key(kFirst), {OutputLine{"a", "1"}}).ok()); });
  open_socket();
  serve();
  patient.join();
  struct stat info {};
  ASSERT_EQ(stat((folder + "/socket").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666u) << "a job may run as another user";
}

}  // namespace
}  // namespace hodei::worker::report_test
