#include <thread>
#include <vector>

#include "src/api/http/http_host_fixture.h"

namespace hodei::api::http_stop_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

class HttpStopTest : public HttpHostTest {};

TEST_F(HttpStopTest, FinishesWhatIsBeingAnswered) {
  open();
  Caller idle(host_->port());
  idle.say(get("/hello"));
  idle.hear_until("hello\n");
  Caller caller(host_->port());
  caller.say(get("/never") + get("/hello"));
  const Responder responder = kept();
  std::thread stopping([this] { host_->stop(); });
  EXPECT_EQ(idle.hear(), "") << "an idle connection is closed at once";
  responder.send(HttpResponse{200, "still answered\n"});
  const std::string answer = caller.hear();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("still answered\n"));
  caller.leave();
  stopping.join();
}

TEST_F(HttpStopTest, DoesNotWaitForHandlersForever) {
  HttpLimits limits;
  limits.stop = 50ms;
  open(limits);
  Caller caller(host_->port());
  caller.say(get("/never"));
  const Responder responder = kept();
  host_->stop();
  EXPECT_TRUE(responder.is_cancelled());
  EXPECT_EQ(cancelled_.count(), 1);
  EXPECT_EQ(caller.hear(), "");
}

TEST_F(HttpStopTest, CutsStreams) {
  open();
  Caller caller(host_->port());
  caller.say(get("/stream"));
  ASSERT_TRUE(source_->asked.wait());
  source_->give("one");
  caller.hear_until("one\r\n");
  Caller reader(host_->port());
  reader.say(get("/endless"));
  reader.hear_until("xxxx");
  host_->stop();
  EXPECT_EQ(source_->cancelled.count(), 1);
  EXPECT_EQ(endless_->cancelled.count(), 1);
  EXPECT_EQ(caller.hear(), "") << "without a last chunk: it is not complete";
}

TEST_F(HttpStopTest, LetsHandlersAnswerAfterItIsGone) {
  HttpLimits limits;
  limits.stop = 50ms;
  std::shared_ptr<BodySource> body;
  add("PUT", "/pieces",
      [&](HttpRequest request, Responder responder) {
        body = request.body_source;
        keep(std::move(responder));
      },
      {.body = RouteOptions::Body::InPieces});
  open(limits);
  Caller never(host_->port());
  never.say(get("/never"));
  Caller pieces(host_->port());
  pieces.say("PUT /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
  Caller stream(host_->port());
  stream.say(get("/stream"));
  ASSERT_TRUE(asked_.wait(2));
  ASSERT_TRUE(source_->asked.wait());
  host_.reset();
  const auto late = std::make_shared<SteeredSource>();
  kept_.front().stream({.source = late});
  EXPECT_EQ(late->cancelled.count(), 1) << "nobody will ask it";
  for (const Responder& responder : kept_) responder.send(HttpResponse{200, "nobody hears it"});
  absl::Status told;
  body->read([&](const absl::StatusOr<std::string>& piece) { told = piece.status(); });
  EXPECT_TRUE(absl::IsCancelled(told));
  source_->give("nobody reads it");
  forget_kept();
}

TEST_F(HttpStopTest, StopsWhileClientsComeAndGo) {
  HttpLimits limits;
  limits.stop = 50ms;
  open(limits);
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([port = host_->port(), i] {
      for (int n = 0; n < 50; ++n) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<uint16_t>(port));
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        const std::string request = get(i % 2 == 0 ? "/endless" : "/hello");
        if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
          send(fd, request.data(), request.size(), MSG_NOSIGNAL);
          char bytes[4096];
          recv(fd, bytes, sizeof(bytes), 0);
        }
        close(fd);
      }
    });
  }
  ASSERT_TRUE(endless_->asked.wait(10));
  host_->stop();
  for (std::thread& client : clients) client.join();
}

TEST_F(HttpStopTest, StopsTwice) {
  open();
  host_->stop();
  host_->stop();
}

}  // namespace
}  // namespace hodei::api::http_stop_test
