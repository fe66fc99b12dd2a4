#include "src/worker/protocol/protocol.h"

#include <fcntl.h>
#include <poll.h>

#include "gtest/gtest.h"
#include "src/worker/output/ring.h"
#include "src/worker/protocol/channel.h"

namespace hodei::worker::protocol_test {
namespace {

const ExecutionId kA{JobId{7}, 2};

protocol::Start a_start() {
  protocol::Start start{.execution = kA};
  start.program = {.argv = {"sh", "-c", "exit 3"},
                   .env = {"A=1", "B="},
                   .working_dir = "/tmp",
                   .files = {{"script", std::string("a\0b", 3)}},
                   .timeout = 5s,
                   .grace = 2s,
                   .impossible_failure = "secret_error",
                   .input = "{}",
                   .secret_files = {{"token", "t"}},
                   .folder = "/f",
                   .limits = {.cpu_milli = 500, .memory_bytes = 6, .pids = 7, .io_weight = 8, .disk_bytes = 9},
                   .output = {.drop = true, .max_bytes = 10, .max_bytes_per_second = 11},
                   .sandbox = {.enabled = true, .user = "nobody", .shared_tmp = true}};
  start.notes = "k";
  return start;
}

protocol::Attach an_attach() {
  protocol::Attach attach;
  attach.incarnation = "i";
  attach.session_id = "s";
  attach.options.servers = {"a:1", "b:2"};
  attach.options.labels = {{"zone", "z1"}};
  attach.options.taints = {{"gpu", "", "NoSchedule"}};
  attach.options.slots = 9;
  attach.options.metrics_listen = "127.0.0.1:9180";
  attach.held = {
      {{.execution = kA, .started = true, .ended = true, .pid = 5, .exit = {.execution = kA, .exit_code = 3}}, 4}};
  attach.job_socket = "/run/s";
  attach.job_socket_secret = "x";
  return attach;
}

TEST(Protocol, ReadsBackWhatItWrote) {
  const auto start = std::get<protocol::Start>(protocol::decode(protocol::encode(a_start())).value());
  EXPECT_EQ(start.execution, kA);
  EXPECT_EQ(start.program.argv[2], "exit 3");
  EXPECT_EQ(start.program.env[1], "B=");
  EXPECT_EQ(start.program.files[0].content.size(), 3u);
  EXPECT_EQ(start.program.timeout, 5s);
  EXPECT_EQ(start.program.impossible_failure, "secret_error");
  EXPECT_EQ(start.program.input, "{}");
  EXPECT_EQ(start.program.secret_files[0].content, "t");
  EXPECT_EQ(start.program.folder, "/f");
  EXPECT_EQ(start.program.limits, a_start().program.limits);
  EXPECT_EQ(start.program.output, a_start().program.output);
  EXPECT_EQ(start.program.sandbox, a_start().program.sandbox);
  EXPECT_EQ(start.notes, "k");
  const auto attach = std::get<protocol::Attach>(protocol::decode(protocol::encode(an_attach())).value());
  EXPECT_EQ(attach.options.servers[1], "b:2");
  EXPECT_EQ(attach.options.labels.at("zone"), "z1");
  EXPECT_EQ(attach.options.metrics_listen, "127.0.0.1:9180");
  EXPECT_EQ(attach.options.taints[0].effect, "NoSchedule");
  EXPECT_EQ(attach.held[0].held.exit.exit_code, 3);
  EXPECT_EQ(attach.held[0].ring, 4u);
  EXPECT_EQ(attach.job_socket, "/run/s");
  EXPECT_EQ(attach.job_socket_secret, "x");
  const Exit exit{.execution = kA,
                  .outcome = Outcome::TimedOut,
                  .exit_code = -1,
                  .signal = 9,
                  .failure = "timeout",
                  .message = "m",
                  .started = {5},
                  .ended = {6},
                  .log_bytes = 9,
                  .facts = {.usage = {.cpu_ms = 7}, .outputs = {{"k", "v"}}}};
  const auto exited = std::get<protocol::Exited>(protocol::decode(protocol::encode(protocol::Exited{exit})).value());
  EXPECT_EQ(exited.exit.outcome, Outcome::TimedOut);
  EXPECT_EQ(exited.exit.exit_code, -1);
  EXPECT_EQ(exited.exit.log_bytes, 9);
  EXPECT_EQ(exited.exit.facts, exit.facts);
  const protocol::UsageRead usage{
      {{.execution = kA, .cpu_ms = 1, .memory_kb = 2, .io_read_bytes = 3, .io_write_bytes = 4}}};
  EXPECT_EQ(std::get<protocol::UsageRead>(protocol::decode(protocol::encode(usage)).value()).executions,
            usage.executions);
}

TEST(Protocol, EveryCutIsRefusedOrReadWithoutGoingOutOfBounds) {
  const std::string start = protocol::encode(a_start());
  for (size_t n = 0; n < start.size(); ++n) EXPECT_FALSE(protocol::decode(start.substr(0, n)).ok()) << n;
  // That of an earlier supervisor ends before its last field, a list that is empty here: one byte.
  const std::string attach = protocol::encode(an_attach());
  for (size_t n = 0; n + 1 < attach.size(); ++n) EXPECT_FALSE(protocol::decode(attach.substr(0, n)).ok()) << n;
  EXPECT_FALSE(protocol::decode("\x63").ok());
  EXPECT_FALSE(protocol::decode("").ok());
}

TEST(Protocol, AnAttachOfAnotherVersionIsRecognised) {
  protocol::Attach attach;
  attach.version = 99;
  EXPECT_EQ(std::get<protocol::Attach>(protocol::decode(protocol::encode(attach)).value()).version, 99u);
}

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() : ends_(Channel::make_pair().value()), a_(std::move(ends_.first)), b_(std::move(ends_.second)) {}

  std::vector<Channel::Received> pump(size_t wanted) {
    std::vector<Channel::Received> all;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (all.size() < wanted && std::chrono::steady_clock::now() < deadline) {
      EXPECT_TRUE(a_.flush().ok());
      pollfd ready{b_.fd(), POLLIN, 0};
      poll(&ready, 1, 1000);
      auto received = b_.receive();
      if (!received.ok()) break;
      for (auto& each : *received) all.push_back(std::move(each));
    }
    return all;
  }

  std::pair<Fd, Fd> ends_;
  Channel a_, b_;
};

TEST_F(ChannelTest, CarriesManySmallAndOneHugeMessageInOrder) {
  for (uint64_t i = 0; i < 1000; ++i) a_.put(protocol::Ping{i});
  protocol::Start huge = a_start();
  huge.program.files[0].content = std::string(3 << 20, 'x');
  a_.put(huge);
  a_.put(protocol::Ping{1000});
  const auto received = pump(1002);
  ASSERT_EQ(received.size(), 1002u);
  EXPECT_EQ(std::get<protocol::Ping>(received[999].message).number, 999u);
  EXPECT_EQ(std::get<protocol::Start>(received[1000].message).program.files[0].content.size(), size_t{3} << 20);
  EXPECT_EQ(std::get<protocol::Ping>(received[1001].message).number, 1000u);
}

TEST_F(ChannelTest, DescriptorsArriveWithTheirMessages) {
  constexpr uint64_t kRings = 500;
  for (uint64_t i = 0; i < kRings; ++i) {
    RingMemory ring = RingMemory::create(4096).value();
    RingWriter(&ring).append(OutputStream::Stdout, {}, std::to_string(i));
    a_.put(protocol::RingShared{i}, {ring.fd()});
    a_.put(protocol::Ping{i});
  }
  auto received = pump(2 * kRings);
  ASSERT_EQ(received.size(), 2 * kRings);
  for (auto& each : received) {
    const auto* shared = std::get_if<protocol::RingShared>(&each.message);
    if (shared == nullptr) continue;
    ASSERT_EQ(each.descriptors.size(), 1u);
    RingMemory ring = RingMemory::open(std::move(each.descriptors[0])).value();
    EXPECT_EQ(RingReader(&ring).peek()->bytes, std::to_string(shared->ring));
  }
}

TEST_F(ChannelTest, TheDeathOfTheOtherSideIsAnErrorAfterItsLastWords) {
  {
    Channel gone = std::move(a_);
    gone.put(protocol::Left{"bye"});
    ASSERT_TRUE(gone.flush().ok());
  }
  const auto last = b_.receive();
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(std::get<protocol::Left>((*last)[0].message).reason, "bye");
  EXPECT_FALSE(b_.receive().ok());
}

}  // namespace
}  // namespace hodei::worker::protocol_test
