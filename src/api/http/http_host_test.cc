#include "src/api/http/http_host.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::api::http_host_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// One connection of a client that may misbehave.
class Caller {
 public:
  explicit Caller(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Caller() { close(fd_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void say(const std::string& text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Until the connection ends.
  std::string hear() {
    std::string out;
    char bytes[4096];
    for (ssize_t got = 0; (got = recv(fd_, bytes, sizeof(bytes), 0)) > 0;) out.append(bytes, static_cast<size_t>(got));
    return out;
  }

 private:
  int fd_;
};

class HttpHostTest : public testing::Test {
 protected:
  void open(HttpLimits limits = {}) {
    Router router;
    router.get("/hello", [](const HttpRequest& r, const Respond& respond) {
      respond([query = r.query] { return HttpResponse{200, "hello " + query + "\n"}; });
    });
    router.get("/never", [this](const HttpRequest&, Respond respond) {
      kept_ = std::move(respond);
      asked_.set_value();
    });
    host_ = HttpHost::open("127.0.0.1", 0, std::move(router), limits).value();
  }
  std::string ask(const std::string& request) {
    Caller caller(host_->port());
    caller.say(request);
    return caller.hear();
  }

  std::unique_ptr<HttpHost> host_;
  Respond kept_;
  std::promise<void> asked_;
};

TEST_F(HttpHostTest, AnswersWhatTheRouterKnows) {
  open();
  const std::string answer = ask("GET /hello?a=b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, EndsWith("hello a=b\n"));
  EXPECT_THAT(ask("GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("DELETE /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpHostTest, KeepsAConnectionForTheNextRequest) {
  open();
  Caller caller(host_->port());
  caller.say("GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /hello?2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string both = caller.hear();
  EXPECT_THAT(both, HasSubstr("hello \n"));
  EXPECT_THAT(both, EndsWith("hello 2\n"));
}

TEST_F(HttpHostTest, GivesTheHeadAlone) {
  open();
  const std::string answer = ask("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpHostTest, RefusesGarbageAndWhatIsTooLarge) {
  open();
  EXPECT_THAT(ask("\x16\x03\x01 nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
}

TEST_F(HttpHostTest, GivesUpOnARequestThatNeverEnds) {
  HttpLimits limits;
  limits.request = 50ms;
  open(limits);
  EXPECT_EQ(ask("GET /hello HTTP/1.1\r\nHost"), "");
}

TEST_F(HttpHostTest, GivesUpOnAnIdleConnection) {
  HttpLimits limits;
  limits.idle = 50ms;
  open(limits);
  EXPECT_EQ(Caller(host_->port()).hear(), "");
}

TEST_F(HttpHostTest, SaysSoWhenAHandlerDoesNotAnswerAndIgnoresALateAnswer) {
  HttpLimits limits;
  limits.answer = 50ms;
  open(limits);
  EXPECT_THAT(ask("GET /never HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
  kept_([] { return HttpResponse{200, "late"}; });
  EXPECT_THAT(ask("GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpHostTest, ClosesConnectionsBeyondItsLimit) {
  HttpLimits limits;
  limits.connections = 1;
  open(limits);
  Caller first(host_->port());
  first.say("GET /hello HTTP/1.1\r\nHost: x\r\n");  // not yet a whole request
  EXPECT_EQ(Caller(host_->port()).hear(), "");
  first.say("Connection: close\r\n\r\n");
  EXPECT_THAT(first.hear(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpHostTest, LetsAHandlerAnswerAfterItStopped) {
  open();
  Caller caller(host_->port());
  caller.say("GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
  asked_.get_future().wait();
  host_->stop();
  kept_([] { return HttpResponse{}; });
  kept_ = nullptr;
}

TEST_F(HttpHostTest, NamesTheSettingWhenItsPortIsTaken) {
  open();
  const auto second = HttpHost::open("127.0.0.1", host_->port(), {});
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("http_listen"));
}

}  // namespace
}  // namespace hodei::api::http_host_test
