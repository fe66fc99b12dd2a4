// Standard input of `hodei run`.
#include "src/base/pause.h"
#include "src/cli/cli_fixture.h"

namespace hodei::cli::stdin_test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class StdinTest : public CliTest {
 protected:
  StdinTest() {
    io_.open_input = [this] { return std::make_shared<TextInput>(input_); };
    // The job ends when all of its input has come.
    server_.jobs.jobs = {job_in(v1::Job::Succeeded)};
    server_.logs.wait = [this] {
      const SystemClock clock;
      const MonoTime end = clock.now().mono + 20s;
      while (!is_ended() && clock.now().mono < end) pause_for(1ms);
    };
  }
  bool is_ended() {
    const std::lock_guard lock(server_.inputs.mutex);
    return server_.inputs.ended;
  }
  void expect_no_input() {
    server_.logs.wait = {};
    server_.inputs.ended = true;
  }

  std::string input_ = "hello\n";
};

TEST_F(StdinTest, IsSentWithItsEnd) {
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_EQ(server_.inputs.taken, "hello\n");
  EXPECT_TRUE(server_.inputs.ended);
  ASSERT_THAT(server_.jobs.queued, SizeIs(1));
  EXPECT_TRUE(server_.jobs.queued[0].spec().takes_stdin());
}

TEST_F(StdinTest, GoesOnWhereABrokenCallStopped) {
  for (int i = 0; input_.size() < 3'000'000; ++i) input_ += std::to_string(i);
  const std::string all = input_;
  server_.inputs.breaks = {100'000, 1'500'000};
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_TRUE(server_.inputs.taken == all) << server_.inputs.taken.size() << " of " << all.size() << " bytes";
  EXPECT_EQ(server_.inputs.calls, 3);
}

TEST_F(StdinTest, IsNotMixedWithWhatAnotherClientHasSent) {
  server_.inputs.taken = "foreign";
  server_.logs.wait = [this] { server_.inputs.wait_until_over(); };
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_EQ(server_.inputs.taken, "foreign");
  EXPECT_THAT(err_, testing::HasSubstr("another client has sent 7 bytes of standard input"));
}

TEST_F(StdinTest, OfATerminalIsReadOnlyWhenAskedFor) {
  io_.in_is_terminal = true;
  EXPECT_EQ(run({"run", "-i", "--", "cat"}), 0) << err_;
  EXPECT_EQ(server_.inputs.taken, "hello\n");
  expect_no_input();
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_FALSE(server_.jobs.queued.back().spec().takes_stdin());
}

TEST_F(StdinTest, IsLeftAloneWhereNobodyStaysToSendItOrItIsReadForSomethingElse) {
  expect_no_input();
  stdin_ = "echo script";
  const std::vector<std::vector<std::string>> commands = {
      {"run", "--no-stdin", "--", "cat"},
      {"run", "--detach", "--", "cat"},
      {"job", "submit", "--", "cat"},
      {"run", "--script", "-"},
  };
  for (const std::vector<std::string>& command : commands) {
    ASSERT_EQ(run(command), 0) << err_;
    EXPECT_FALSE(server_.jobs.queued.back().spec().takes_stdin()) << testing::PrintToString(command);
  }
  EXPECT_EQ(server_.inputs.calls, 0);
}

TEST_F(StdinTest, IsSaidNotToBeSentToAServerThatDoesNotTakeIt) {
  expect_no_input();
  server_.jobs.knows_stdin = false;
  EXPECT_EQ(run({"run", "--", "cat"}), 0);
  EXPECT_THAT(err_, HasSubstr("standard input is not sent"));
  EXPECT_EQ(server_.inputs.calls, 0);
}

TEST_F(StdinTest, FlagsThatExcludeEachOtherAreRefused) {
  EXPECT_EQ(run({"run", "--stdin", "--detach", "--", "cat"}), 2);
  EXPECT_THAT(err_, HasSubstr("--stdin"));
  EXPECT_EQ(run({"run", "--stdin", "--no-stdin", "--", "cat"}), 2);
  EXPECT_EQ(run({"run", "--stdin", "--script", "-"}), 2);
}

// Some of it, then an error.
class BrokenInput final : public InputSource {
 public:
  absl::StatusOr<std::string> read(size_t) override {
    if (std::exchange(was_read_, true))
      return absl::DataLossError("standard input: cannot be read: Input/output error");
    return std::string("half");
  }
  void stop() override {}

 private:
  bool was_read_ = false;
};

TEST_F(StdinTest, ThatCannotBeReadToItsEndIsNotSentAsAWholeOne) {
  io_.open_input = [] { return std::make_shared<BrokenInput>(); };
  server_.logs.wait = [this] {
    const SystemClock clock;
    const MonoTime end = clock.now().mono + 20s;
    const auto is_over = [this] {
      const std::lock_guard lock(server_.inputs.mutex);
      return server_.inputs.broken || server_.inputs.ended;
    };
    while (!is_over() && clock.now().mono < end) pause_for(1ms);
  };
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_EQ(server_.inputs.taken, "half");
  EXPECT_TRUE(server_.inputs.broken);
  EXPECT_FALSE(server_.inputs.ended);
  EXPECT_THAT(err_, HasSubstr("Input/output error; the job does not get the rest"));
}

TEST_F(StdinTest, WaitsForAServerThatHasNoRoomForIt) {
  server_.inputs.refusals = {{grpc::RESOURCE_EXHAUSTED, "the disk of the server is nearly full"}};
  EXPECT_EQ(run({"run", "--", "cat"}), 0) << err_;
  EXPECT_EQ(server_.inputs.taken, "hello\n");
  EXPECT_THAT(err_, HasSubstr("standard input is waiting: the disk of the server is nearly full"));
}

}  // namespace
}  // namespace hodei::cli::stdin_test
