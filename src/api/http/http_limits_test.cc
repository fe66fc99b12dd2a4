#include "src/api/http/http_limits.h"

#include "src/api/http/admission.h"
#include "src/api/http/http_host_fixture.h"

namespace hodei::api::http_limits_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class HttpLimitsTest : public HttpHostTest {};

TEST_F(HttpLimitsTest, RefusesAHeaderThatIsTooLarge) {
  open();
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  std::string many = "GET /hello HTTP/1.1\r\nHost: x\r\n";
  while (many.size() < 17 << 10) many += "A: b\r\n";
  EXPECT_THAT(ask(many), StartsWith("HTTP/1.1 431 ")) << "without its end";
}

TEST_F(HttpLimitsTest, RefusesATargetThatIsTooLong) {
  open();
  const std::string longest = "/" + std::string((8 << 10) - 1, 'x');
  EXPECT_THAT(ask(get_once(longest)), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask(get_once(longest + "x")), StartsWith("HTTP/1.1 414 "));
  EXPECT_THAT(ask("GET /" + std::string(10'000, 'x')), StartsWith("HTTP/1.1 414 ")) << "without its end";
}

TEST_F(HttpLimitsTest, GivesUpOnAHeaderThatNeverEnds) {
  HttpLimits limits;
  limits.header = 50ms;
  open(limits);
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\nHost"), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpLimitsTest, GivesUpOnAHeaderThatTrickles) {
  HttpLimits limits;
  limits.header = 200ms;
  open(limits);
  Caller caller(host_->port());
  caller.say("GET /hello HTTP/1.1\r\n");
  while (!caller.is_told_within(5ms)) caller.say("X");
  EXPECT_THAT(caller.hear(), StartsWith("HTTP/1.1 408 "));
  Caller empty_lines(host_->port());
  while (!empty_lines.is_told_within(5ms)) empty_lines.say("\r\n");
  EXPECT_THAT(empty_lines.hear(), AnyOf(StartsWith("HTTP/1.1 408 "), ""));
}

TEST_F(HttpLimitsTest, GivesUpOnAnIdleConnection) {
  HttpLimits limits;
  limits.idle = 50ms;
  open(limits);
  EXPECT_EQ(Caller(host_->port()).hear(), "") << "that never said anything";
  Caller caller(host_->port());
  caller.say(get("/hello"));
  EXPECT_THAT(caller.hear(), StartsWith("HTTP/1.1 200 ")) << "that was served once";
}

TEST_F(HttpLimitsTest, SaysSoWhenAHandlerDoesNotAnswerAndIgnoresALateAnswer) {
  HttpLimits limits;
  limits.answer = 50ms;
  open(limits);
  Caller caller(host_->port());
  caller.say(get("/never"));
  caller.hear_until("no answer in time; try again in a moment\n");
  EXPECT_TRUE(kept().is_cancelled());
  EXPECT_TRUE(cancelled_.wait());
  kept().send(HttpResponse{200, "late"});
  caller.say(get_once("/hello"));
  EXPECT_THAT(caller.hear(), StartsWith("HTTP/1.1 200 ")) << "the connection goes on";
}

TEST_F(HttpLimitsTest, GivesSomeRoutesMoreTime) {
  HttpLimits limits;
  limits.answer = 20ms;
  add("GET", "/slow", [this](const HttpRequest&, Responder responder) { keep(std::move(responder)); },
      {.answer = Duration::zero()});
  open(limits);
  Caller caller(host_->port());
  caller.say(get_once("/slow"));
  const Responder responder = kept();
  EXPECT_THAT(ask(get_once("/never")), StartsWith("HTTP/1.1 503 ")) << "the usual time is over";
  EXPECT_FALSE(responder.is_cancelled());
  responder.send(HttpResponse{200, "at last\n"});
  EXPECT_THAT(caller.hear(), HasSubstr("at last\n"));
}

TEST_F(HttpLimitsTest, TurnsConnectionsAwayBeyondItsLimit) {
  HttpLimits limits;
  limits.connections = 1;
  open(limits);
  Caller first(host_->port());
  first.say("GET /hello HTTP/1.1\r\nHost: x\r\n");  // not yet a whole request
  const std::string refused = Caller(host_->port()).hear();
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  first.say("Connection: close\r\n\r\n");
  EXPECT_THAT(first.hear(), StartsWith("HTTP/1.1 200 "));
  first.leave();
  EXPECT_TRUE(becomes_free());
}

TEST_F(HttpLimitsTest, TurnsAwayAnAddressWithTooManyConnections) {
  HttpLimits limits;
  limits.connections_of_address = 2;
  open(limits);
  Caller first(host_->port());
  Caller second(host_->port());
  EXPECT_THAT(Caller(host_->port()).hear(), StartsWith("HTTP/1.1 503 "));
  first.leave();
  EXPECT_TRUE(becomes_free());
}

TEST(Admission, CountsEachAddressForItself) {
  HttpLimits limits;
  limits.connections = 3;
  limits.connections_of_address = 2;
  Admission admission(limits);
  std::optional<ConnectionPlace> first = ConnectionPlace::take(admission, "a");
  const std::optional<ConnectionPlace> second = ConnectionPlace::take(admission, "a");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(ConnectionPlace::take(admission, "a"));
  const std::optional<ConnectionPlace> other = ConnectionPlace::take(admission, "b");
  EXPECT_TRUE(other) << "another address has its own";
  EXPECT_FALSE(ConnectionPlace::take(admission, "c")) << "three in all";
  first.reset();
  EXPECT_TRUE(ConnectionPlace::take(admission, "a"));
  EXPECT_EQ(admission.connections.taken(), 2U);
}

TEST_F(HttpLimitsTest, ClosesAConnectionAfterSoManyRequests) {
  HttpLimits limits;
  limits.requests_of_connection = 3;
  open(limits);
  Caller caller(host_->port());
  caller.say(get("/hello?n=1") + get("/hello?n=2") + get("/hello?n=3") + get("/hello?n=4"));
  EXPECT_THAT(caller.hear_until("n=2\n"), HasSubstr("Connection: keep-alive"));
  const std::string last = caller.hear();
  EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(last, testing::EndsWith("n=3\n"));
}

TEST_F(HttpLimitsTest, OpensSoManyStreamsAtTheSameTime) {
  const auto refused = std::make_shared<SteeredSource>();
  add("GET", "/other", [refused](const HttpRequest&, const Responder& r) { r.stream({.source = refused}); });
  HttpLimits limits;
  limits.streams = 1;
  open(limits);
  Caller first(host_->port());
  first.say(get("/stream"));
  ASSERT_TRUE(source_->asked.wait());
  EXPECT_THAT(ask(get_once("/other")), StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(refused->cancelled.wait()) << "its source is told";
  source_->give("");
  EXPECT_THAT(first.hear_until("0\r\n\r\n"), HasSubstr("chunked"));
  first.say(get("/stream"));
  EXPECT_TRUE(source_->asked.wait(2)) << "the place is free again";
}

TEST_F(HttpLimitsTest, CutsAClientThatDoesNotTakeItsAnswer) {
  HttpLimits limits;
  limits.write = 100ms;
  limits.send_buffer_bytes = 4 << 10;
  add("GET", "/large", [](const HttpRequest&, const Responder& responder) {
    responder.send(HttpResponse{200, std::string(8 << 20, 'x')});
  });
  open(limits);
  Caller stalled(host_->port(), 4 << 10);
  stalled.say(get("/large"));
  stalled.hear_until("\r\n\r\n");
  const std::string answer = ask(get_once("/large"));
  EXPECT_GT(answer.size(), 8U << 20) << "nobody else notices";
  EXPECT_THAT(ask(get_once("/hello")), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(stalled.is_reset()) << "the answer breaks off";
}

}  // namespace
}  // namespace hodei::api::http_limits_test
