#include <thread>
#include <vector>

#include "src/api/http/http_host_fixture.h"

namespace hodei::api::http_body_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A route that reads its body in pieces, each when the test says so.
class HttpBodyTest : public HttpHostTest {
 protected:
  void open_with_pieces(HttpLimits limits = {}, RouteOptions options = {}) {
    options.body = RouteOptions::Body::InPieces;
    add(
        "PUT", "/pieces",
        [this](HttpRequest request, Responder responder) {
          {
            const std::lock_guard lock(mutex_);
            body_ = request.body_source;
          }
          keep(std::move(responder));
        },
        options);
    open(limits);
  }
  absl::StatusOr<std::string> read_piece() {
    std::shared_ptr<BodySource> body;
    {
      const std::lock_guard lock(mutex_);
      body = body_;
    }
    auto read = std::make_shared<Signal>();
    auto out = std::make_shared<absl::StatusOr<std::string>>(absl::UnknownError("nothing came"));
    body->read([read, out](absl::StatusOr<std::string> piece) {
      *out = std::move(piece);
      read->raise();
    });
    EXPECT_TRUE(read->wait());
    return *out;
  }
  absl::StatusOr<std::string> read_all() {
    std::string all;
    while (true) {
      absl::StatusOr<std::string> piece = read_piece();
      if (!piece.ok()) return piece;
      if (piece->empty()) return all;
      all += *piece;
    }
  }

  std::shared_ptr<BodySource> body_;
};

std::string put(std::string_view headers, std::string_view body = "") {
  return cat("PUT /pieces HTTP/1.1\r\nHost: x\r\n", headers, "\r\n", body);
}

TEST_F(HttpBodyTest, ReadsABodyByItsLengthOrInChunks) {
  open();
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"),
              EndsWith("\r\n\r\nhello"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                  "3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"),
              EndsWith("\r\n\r\nhello"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"),
              EndsWith("\r\n\r\n"));
}

TEST_F(HttpBodyTest, ReadsWhatComesByteByByte) {
  open();
  const std::string chunked =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n";
  const std::string whole = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\ndef";
  Caller caller(host_->port());
  EXPECT_TRUE(caller.say_byte_by_byte(chunked));
  caller.hear_until("abc");
  EXPECT_TRUE(caller.say_byte_by_byte(whole));
  EXPECT_THAT(caller.hear(), EndsWith("def"));
}

TEST_F(HttpBodyTest, RefusesABodyThatIsTooLargeBeforeReadingIt) {
  open();
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpBodyTest, RefusesChunksThatBecomeTooLarge) {
  add("POST", "/small",
      [](HttpRequest r, const Responder& responder) {
        responder.send(HttpResponse{200, r.body});
      },
      {.body_bytes = 10});
  open();
  EXPECT_THAT(
      ask("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n"),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789"),
              EndsWith("0123456789"));
}

TEST_F(HttpBodyTest, KeepsAllBodiesInMemoryWithinOneLimit) {
  HttpLimits limits;
  limits.body_bytes_in_all = 1000;
  add("POST", "/hold", [this](const HttpRequest&, Responder responder) { keep(std::move(responder)); });
  open(limits);
  Caller first(host_->port());
  first.say(cat("POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n", std::string(900, 'a')));
  const Responder holder = kept();
  const std::string second =
      cat("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\nConnection: close\r\n\r\n", std::string(101, 'b'));
  const std::string refused = ask(second);
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  holder.send(HttpResponse{200, "done\n"});
  first.hear_until("done\n");
  // What was taken is given back a moment later.
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + kPatience;
  std::string answer;
  while (!answer.starts_with("HTTP/1.1 200 ") && clock.now().mono < limit) answer = ask(second);
  EXPECT_THAT(answer, EndsWith(std::string(101, 'b')));
}

TEST_F(HttpBodyTest, GivesUpOnABodyThatDoesNotCome) {
  HttpLimits limits;
  limits.body = 50ms;
  open(limits);
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell"), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpBodyTest, GivesUpOnABodyThatTrickles) {
  HttpLimits limits;
  limits.body = 200ms;
  open(limits);
  Caller caller(host_->port());
  caller.say("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  // Every byte is in time, the block is not.
  while (!caller.is_told_within(5ms)) caller.say("x");
  EXPECT_THAT(caller.hear(), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpBodyTest, AsksForTheBodyOfAClientThatWaits) {
  open();
  Caller caller(host_->port());
  caller.say(
      "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(caller.hear_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  caller.say("hello");
  EXPECT_THAT(caller.hear(), EndsWith("\r\n\r\nhello"));
}

TEST_F(HttpBodyTest, DoesNotAskForABodyThatItRefuses) {
  open();
  const std::string answer =
      ask("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\nContent-Length: 1\r\n\r\n"),
              StartsWith("HTTP/1.1 417 "));
}

TEST_F(HttpBodyTest, HandsABodyOnInPieces) {
  open_with_pieces({}, {.body_bytes = 100 << 20});
  Caller caller(host_->port());
  const std::string body(3 << 20, 'b');
  std::thread writer([&] { caller.say(put(cat("Content-Length: ", body.size(), "\r\nConnection: close\r\n"), body)); });
  const Responder responder = kept();
  const absl::StatusOr<std::string> read = read_all();
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == body);
  responder.send(HttpResponse{200, "thanks\n"});
  writer.join();
  EXPECT_THAT(caller.hear(), EndsWith("thanks\n"));
}

TEST_F(HttpBodyTest, LeavesWithTheClientWhatNobodyAskedFor) {
  open_with_pieces({}, {.body_bytes = 1 << 30, .answer = Duration::zero()});
  Caller caller(host_->port());
  caller.say(put("Content-Length: 1000000000\r\n"));
  const Responder responder = kept();
  EXPECT_TRUE(becomes_free()) << "others are served meanwhile";
  responder.send(HttpResponse{409, "no, thanks\n"});
  EXPECT_THAT(caller.hear_until("no, thanks\n"), HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpBodyTest, AsksForABodyInPiecesWhenItsHandlerDoes) {
  open_with_pieces();
  Caller caller(host_->port());
  caller.say(put("Expect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n"));
  const Responder responder = kept();
  std::thread client([&] {
    EXPECT_EQ(caller.hear_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    caller.say("hello");
  });
  EXPECT_EQ(read_all().value(), "hello");
  client.join();
  responder.send(HttpResponse{200, "thanks\n"});
  EXPECT_THAT(caller.hear(), EndsWith("thanks\n"));
}

TEST_F(HttpBodyTest, AnswersBeforeTheWholeBodyHasCome) {
  open_with_pieces();
  Caller caller(host_->port());
  caller.say(put("Content-Length: 500\r\n", "begin"));
  const Responder responder = kept();
  EXPECT_EQ(read_piece().value(), "begin");
  responder.send(HttpResponse{422, "this is enough\n"});
  const std::string answer = caller.hear();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << "where the next request begins is not known";
  EXPECT_THAT(answer, EndsWith("this is enough\n"));
}

TEST_F(HttpBodyTest, TellsAHandlerWhyTheBodyEnds) {
  HttpLimits limits;
  limits.body = 300ms;
  open_with_pieces(limits, {.body_bytes = 10, .answer = Duration::zero()});
  Caller large(host_->port());
  large.say(put("Transfer-Encoding: chunked\r\n", "20\r\n01234567890123456789012345678901\r\n0\r\n\r\n"));
  kept();
  EXPECT_TRUE(absl::IsResourceExhausted(read_all().status()));
  forget_kept();
  Caller slow(host_->port());
  slow.say(put("Content-Length: 10\r\n", "01234"));
  ASSERT_TRUE(asked_.wait(2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(read_all().status()));
  Caller broken(host_->port());
  broken.say(put("Content-Length: 10\r\n", "01234"));
  ASSERT_TRUE(asked_.wait(3));
  broken.leave();
  EXPECT_TRUE(absl::IsUnavailable(read_all().status()));
  EXPECT_TRUE(cancelled_.wait());
}

TEST_F(HttpBodyTest, ReadsABodyAndStreamsItsAnswerAtTheSameTime) {
  open_with_pieces({}, {.answer = Duration::zero()});
  Caller caller(host_->port());
  caller.say(put("Transfer-Encoding: chunked\r\n", "3\r\none\r\n"));
  kept().stream({.content_type = "text/plain", .source = source_});
  EXPECT_EQ(read_piece().value(), "one");
  ASSERT_TRUE(source_->asked.wait());
  source_->give("heard one");
  caller.hear_until("heard one\r\n");
  caller.say("3\r\ntwo\r\n0\r\n\r\n");
  EXPECT_EQ(read_all().value(), "two");
  ASSERT_TRUE(source_->asked.wait(2));
  source_->give("");
  EXPECT_THAT(caller.hear(), EndsWith("0\r\n\r\n"));
}

// Two programs that see two ends of one request can be made to answer one client with what was meant for another.
TEST_F(HttpBodyTest, RefusesRequestsWithTwoEnds) {
  open();
  const std::string hidden = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::vector<std::string> attempts = {
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Content-Length: 5\r\nContent-Length: 5\r\n",
      "Content-Length: 5, 5\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: -5\r\n",
      "Content-Length: 0x5\r\n",
      "Content-Length: 5 5\r\n",
      "Content-Length:\r\n",
      "Content-Length: 99999999999999999999\r\n",
      "Content-Length : 5\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunked, chunked\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n",
      "Transfer-Encoding:\x0b"
      "chunked\r\n",
      "X: y\r\n Transfer-Encoding: chunked\r\n",
      "X: y\nTransfer-Encoding: chunked\r\n",
      "X: y\rTransfer-Encoding: chunked\r\n",
      "Host: y\r\n",
      std::string("X: a\0b\r\n", 8),
  };
  for (const std::string& attempt : attempts) {
    const std::string answer = ask(cat("POST /echo HTTP/1.1\r\nHost: x\r\n", attempt, "\r\n0\r\n\r\n", hidden));
    EXPECT_THAT(answer, testing::AnyOf(StartsWith("HTTP/1.1 400 "), StartsWith("HTTP/1.1 501 "))) << attempt;
    EXPECT_THAT(answer, Not(HasSubstr("hello\n"))) << attempt;
  }
  EXPECT_THAT(ask("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 ")) << "without a Host";
}

// A chunk is looked at when there are as many bytes as the last one has, which is the shortest.
TEST_F(HttpBodyTest, RefusesBrokenChunks) {
  open();
  for (const std::string body :
       {"x\r\nabc", "-1\r\nabc", "3\r\nabcd\r\n0\r\n\r\n", "3\nabc\n0\n\n\r\n", "ffffffffffffffffff\r\n", "\r\nabc",
        "3 \x01\r\nabc\r\n", "0\r\nContent-Length: 5\r\n\r\n"}) {
    EXPECT_THAT(ask(cat("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", body)),
                StartsWith("HTTP/1.1 400 "))
        << body;
  }
  EXPECT_THAT(
      ask(cat("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", std::string(9000, 'e'))),
      StartsWith("HTTP/1.1 400 "));
}

}  // namespace
}  // namespace hodei::api::http_body_test
