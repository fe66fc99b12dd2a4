#include "src/worker/agent/metrics_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::worker::metrics_server_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(WorkerMetrics, TellWhatTheAgentCounted) {
  AgentFigures figures;
  figures.active = 2;
  figures.ended[2] = 5;
  figures.ended[static_cast<size_t>(Outcome::Interrupted)] = 1;
  figures.heartbeat_acked_us = 4'000'000;
  const std::string text = metrics_text(figures, {{0}, {6'500'000}});
  EXPECT_THAT(text, HasSubstr("hodei_worker_executions_active 2\n"));
  EXPECT_THAT(text, HasSubstr("hodei_worker_executions_ended_total{outcome=\"failed\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("hodei_worker_executions_ended_total{outcome=\"interrupted\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("hodei_worker_heartbeat_age_seconds 2.5\n"));
}

TEST(WorkerMetrics, AreOnlyAtTheirPath) {
  const AgentFigures figures;
  EXPECT_THAT(answer_to("GET /metrics HTTP/1.1\r\n\r\n", figures, {}), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer_to("GET /other HTTP/1.1\r\n\r\n", figures, {}), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(answer_to("POST /metrics HTTP/1.1\r\n\r\n", figures, {}), StartsWith("HTTP/1.1 405 "));
  for (const char* garbage :
       {"", "\r\n", "GET", "GET /metrics", "\x16\x03\x01\r\n\r\n", " HTTP/1.1", "GET  HTTP/1.1"}) {
    EXPECT_THAT(answer_to(garbage, figures, {}), testing::Not(StartsWith("HTTP/1.1 200 "))) << garbage;
  }
}

std::string ask(int port, const std::string& request) {
  const Fd fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(send(fd.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string out;
  char bytes[4096];
  for (ssize_t got = 0; (got = recv(fd.get(), bytes, sizeof(bytes), 0)) > 0;)
    out.append(bytes, static_cast<size_t>(got));
  return out;
}

TEST(MetricsServer, AnswersOverTheNetwork) {
  const AgentFigures figures;
  const SystemClock clock;
  MetricsServer server(figures, clock);
  ASSERT_TRUE(server.start("127.0.0.1:0").ok());
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(ask(server.port(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("hodei_worker_online 0\n"));
  MetricsServer second(figures, clock);
  const absl::Status taken = second.start("127.0.0.1:" + std::to_string(server.port()));
  EXPECT_THAT(std::string(taken.message()), HasSubstr("metrics_listen"));
}

TEST(MetricsServer, StopsWhileACallerSaysNothing) {
  const AgentFigures figures;
  const SystemClock clock;
  MetricsServer server(figures, clock);
  ASSERT_TRUE(server.start("127.0.0.1:0").ok());
  const Fd idle(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.port()));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(connect(idle.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const MonoTime before = clock.now().mono;
  server.stop();
  EXPECT_LT(clock.now().mono - before, MetricsServer::kCallerLimit);
}

}  // namespace
}  // namespace hodei::worker::metrics_server_test
