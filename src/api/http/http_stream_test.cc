#include "src/api/http/http_host_fixture.h"
#include "src/api/http/server_sent_event.h"

namespace hodei::api::http_stream_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class HttpStreamTest : public HttpHostTest {
 protected:
  void add_download(std::optional<uint64_t> length) {
    add("GET", "/download", [this, length](const HttpRequest&, const Responder& responder) {
      responder.stream({.headers = {{"Content-Disposition", "attachment"}}, .length = length, .source = source_});
    });
  }
  void give(int time, absl::StatusOr<std::string> piece) {
    ASSERT_TRUE(source_->asked.wait(time));
    source_->give(std::move(piece));
  }
};

TEST_F(HttpStreamTest, SendsAStreamInChunks) {
  open();
  Caller caller(host_->port());
  caller.say(get("/stream"));
  give(1, "one\n");
  EXPECT_THAT(caller.hear_until("4\r\none\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  give(2, "and two\n");
  caller.hear_until("8\r\nand two\n\r\n");
  give(3, "");
  caller.hear_until("0\r\n\r\n");
  caller.say(get_once("/hello"));
  EXPECT_THAT(caller.hear(), EndsWith("hello\n")) << "the connection goes on";
  EXPECT_EQ(source_->cancelled.count(), 0) << "it came to its end by itself";
}

TEST_F(HttpStreamTest, SendsAKnownLengthAsItIs) {
  add_download(8);
  open();
  Caller caller(host_->port());
  caller.say(get("/download"));
  give(1, "1234");
  give(2, "5678");
  give(3, "");
  const std::string answer = caller.hear_until("12345678");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Disposition: attachment\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  caller.say(get_once("/hello"));
  EXPECT_THAT(caller.hear(), EndsWith("hello\n"));
}

TEST_F(HttpStreamTest, BreaksOffWhatDoesNotHaveItsLength) {
  add_download(8);
  open();
  Caller too_short(host_->port());
  too_short.say(get("/download"));
  give(1, "1234");
  give(2, "");
  EXPECT_THAT(too_short.hear(), EndsWith("1234"));
  Caller too_long(host_->port());
  too_long.say(get("/download"));
  give(3, "123456789");
  EXPECT_THAT(too_long.hear(), EndsWith("\r\n\r\n")) << "nothing that the client could take for the next answer";
  EXPECT_TRUE(source_->cancelled.wait());
}

TEST_F(HttpStreamTest, EndsAStreamToHttp10WithTheConnection) {
  open();
  Caller caller(host_->port());
  caller.say("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  give(1, "one\n");
  give(2, "");
  const std::string answer = caller.hear();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
  EXPECT_THAT(answer, EndsWith("\r\n\r\none\n"));
}

TEST_F(HttpStreamTest, ShowsTheClientThatASourceFailed) {
  open();
  Caller caller(host_->port());
  caller.say(get("/stream"));
  give(1, "one\n");
  give(2, absl::UnavailableError("the disk is gone"));
  EXPECT_THAT(caller.hear(), EndsWith("one\n\r\n")) << "no last chunk";
  Caller old(host_->port());
  old.say("GET /stream HTTP/1.0\r\n\r\n");
  give(3, "one\n");
  ASSERT_TRUE(source_->asked.wait(4));
  source_->give(absl::UnavailableError("the disk is gone"));
  EXPECT_TRUE(old.is_reset()) << "it cannot see the end in any other way";
}

TEST_F(HttpStreamTest, CancelsTheSourceOfAClientThatLeaves) {
  open();
  Caller leaves(host_->port());
  leaves.say(get("/stream"));
  ASSERT_TRUE(source_->asked.wait());
  leaves.leave();
  EXPECT_TRUE(source_->cancelled.wait()) << "while the source has nothing to say";
  source_->give("too late");
  Caller crashes(host_->port());
  crashes.say(get("/stream"));
  ASSERT_TRUE(source_->asked.wait(2));
  crashes.reset();
  EXPECT_TRUE(source_->cancelled.wait(2));
  Caller reads(host_->port());
  reads.say(get("/endless"));
  reads.hear_until("xxxx");
  reads.leave();
  EXPECT_TRUE(endless_->cancelled.wait()) << "while pieces are on their way";
}

TEST_F(HttpStreamTest, CancelsASourceThatComesWhenItsClientHasLeft) {
  open();
  Caller caller(host_->port());
  caller.say(get("/never"));
  const Responder responder = kept();
  caller.reset();
  ASSERT_TRUE(cancelled_.wait());
  responder.stream({.source = source_});
  EXPECT_TRUE(source_->cancelled.wait());
  EXPECT_EQ(source_->asked.count(), 0);
}

TEST_F(HttpStreamTest, AsksForNoMoreThanTheClientTakes) {
  HttpLimits limits;
  limits.send_buffer_bytes = 4 << 10;
  open(limits);
  Caller caller(host_->port(), 4 << 10);
  caller.say(get("/endless"));
  caller.hear_until("\r\n\r\n");
  // The client takes nothing more. The kernel's buffers take a few pieces; a hundred of them would be 1.6 MB.
  const int before = endless_->asked.count();
  for (int i = 0; i < 20; ++i) EXPECT_THAT(ask(get_once("/hello")), StartsWith("HTTP/1.1 200 "));
  EXPECT_LT(endless_->asked.count(), 100);
  for (int i = 0; i < 100; ++i) caller.hear_until("\r\n4000\r\n");
  EXPECT_GT(endless_->asked.count(), before) << "it goes on with the client";
}

TEST_F(HttpStreamTest, CutsAStreamWhoseClientReadsNothing) {
  HttpLimits limits;
  limits.write = 100ms;
  limits.send_buffer_bytes = 4 << 10;
  open(limits);
  Caller stalled(host_->port(), 4 << 10);
  Caller idle(host_->port());
  idle.say(get("/stream"));
  stalled.say(get("/endless"));
  EXPECT_TRUE(endless_->cancelled.wait());
  give(1, "still here");
  idle.hear_until("still here\r\n");
  EXPECT_EQ(source_->cancelled.count(), 0) << "a stream with nothing to send does not stall";
}

TEST_F(HttpStreamTest, SendsHeartbeatsWhileThereIsNothingToSay) {
  HttpLimits limits;
  limits.heartbeat = 20ms;
  add("GET", "/events", [this](const HttpRequest&, const Responder& responder) {
    responder.stream({.content_type = std::string(kEventStreamType),
                      .headers = {{"Cache-Control", "no-store"}},
                      .heartbeat = std::string(kEventStreamHeartbeat),
                      .source = source_});
  });
  open(limits);
  Caller caller(host_->port());
  caller.say(get("/events"));
  EXPECT_THAT(caller.hear_until("3\r\n:\n\n\r\n3\r\n:\n\n\r\n"), HasSubstr("Content-Type: text/event-stream\r\n"));
  give(1, event_text({.data = "done", .id = "7"}));
  caller.hear_until("id: 7\ndata: done\n\n\r\n");
  EXPECT_TRUE(source_->asked.wait(2));
}

TEST_F(HttpStreamTest, DropsWhatASourceGivesTwice) {
  open();
  Caller caller(host_->port());
  caller.say(get("/stream"));
  ASSERT_TRUE(source_->asked.wait());
  const PieceSource::Give give_one = source_->last();
  give_one("one");
  give_one("one more");
  give(2, "two");
  give(3, "");
  EXPECT_THAT(caller.hear_until("0\r\n\r\n"), EndsWith("\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
}

TEST(ServerSentEvent, SplitsItsDataIntoLines) {
  EXPECT_EQ(event_text({.data = "one"}), "data: one\n\n");
  EXPECT_EQ(event_text({.data = ""}), "data: \n\n");
  EXPECT_EQ(event_text({.data = "a\nb\r\nc\rd\n"}), "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
  EXPECT_EQ(event_text({.data = "x", .event = "log\ndata: y", .id = "1\r2"}), "event: logdata: y\nid: 12\ndata: x\n\n");
}

}  // namespace
}  // namespace hodei::api::http_stream_test
