#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "src/base/http/client.h"
#include "src/base/http/url.h"
#include "src/base/text.h"

namespace hodei::http::http_test {
namespace {

// Answers one connection after the other with the given bytes, and keeps what it was asked.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ScriptedServer(const std::string& path, std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url(std::string_view path) const { return cat("http://127.0.0.1:", port_, path); }
  std::vector<std::string> asked;  // read after the calls

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      asked.push_back(read_request(connection));
      if (answer == "silence") {
        char byte = 0;
        while (recv(connection, &byte, 1, 0) > 0) {
        }
      } else {
        EXPECT_GE(send(connection, answer.data(), answer.size(), MSG_NOSIGNAL), 0);
      }
      shutdown(connection, SHUT_WR);
      close(connection);
    }
  }
  static std::string read_request(int connection) {
    std::string text;
    char buffer[65536];
    while (true) {
      const size_t head = text.find("\r\n\r\n");
      const size_t length = text.find("Content-Length: ");
      if (head != std::string::npos) {
        const size_t body = length == std::string::npos ? 0 : std::stoul(text.substr(length + 16));
        if (text.size() >= head + 4 + body) return text;
      }
      const ssize_t got = recv(connection, buffer, sizeof(buffer), 0);
      if (got <= 0) return text;
      text.append(buffer, static_cast<size_t>(got));
    }
  }

  std::vector<std::string> answers_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

std::string answer(std::string_view status, std::string_view body, std::string_view headers = "") {
  return cat("HTTP/1.1 ", status, "\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n", body);
}

TEST(Url, IsTakenApart) {
  const Url url = *parse_url("https://example.org:8443/a/b?c=d#e");
  EXPECT_TRUE(url.secure);
  EXPECT_EQ(url.authority(), "example.org:8443");
  EXPECT_EQ(url.target, "/a/b?c=d");
  EXPECT_EQ(url.text(), "https://example.org:8443/a/b");
  EXPECT_EQ(parse_url("http://[::1]:80")->authority(), "[::1]");
  EXPECT_EQ(parse_url("http://[::1]:80")->target, "/");
}

TEST(Url, RefusesWhatCouldBeReadInTwoWays) {
  for (const char* wrong :
       {"ftp://a/b", "http://", "http://a:b/", "http://u:p@a/", "http://a/b c", "http://a/\r\nX: y"}) {
    EXPECT_FALSE(parse_url(wrong).ok()) << wrong;
  }
}

TEST(Url, FollowsLocationsButNeverFromHttpsToHttp) {
  const Url base = *parse_url("https://a/x/y?z");
  EXPECT_EQ(follow_location(base, "q")->target, "/x/q");
  EXPECT_EQ(follow_location(base, "/q")->target, "/q");
  EXPECT_EQ(follow_location(base, "//b/q")->text(), "https://b/q");
  EXPECT_FALSE(follow_location(base, "http://a/q").ok());
}

TEST(Client, GetsABodyWithAKnownLength) {
  ScriptedServer server({answer("200 OK", "hello", "X-Thing: 1\r\n")});
  const auto response = call({.url = server.url("/f?q=1"), .headers = {{"Range", "bytes=3-"}}});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->header("x-thing"), "1");
  EXPECT_TRUE(server.asked[0].starts_with("GET /f?q=1 HTTP/1.1\r\n")) << server.asked[0];
  EXPECT_NE(server.asked[0].find("Range: bytes=3-\r\n"), std::string::npos);
}

TEST(Client, GetsChunkedBodiesAndThoseThatEndWithTheConnection) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                         "HTTP/1.1 200 OK\r\n\r\nto the end"});
  EXPECT_EQ(call({.url = server.url("/")})->body, "abcde");
  EXPECT_EQ(call({.url = server.url("/")})->body, "to the end");
}

TEST(Client, SendsALargeBodyInPieces) {
  ScriptedServer server({answer("201 Created", "")});
  const int64_t size = 300'000;
  const auto response = call({.method = "PUT",
                              .url = server.url("/up"),
                              .body_size = size,
                              .read_body = [](int64_t offset, std::span<char> into) -> absl::StatusOr<size_t> {
                                for (char& c : into) c = static_cast<char>('a' + offset++ % 26);
                                return into.size();
                              }});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->status, 201);
  const std::string& asked = server.asked[0];
  const std::string body = asked.substr(asked.find("\r\n\r\n") + 4);
  ASSERT_EQ(body.size(), static_cast<size_t>(size));
  EXPECT_EQ(body[77'777], static_cast<char>('a' + 77'777 % 26));
}

TEST(Client, TellsABrokenTransferFromACompleteOne) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"});
  std::string got;
  const auto response = call({.url = server.url("/"), .on_body = [&](std::string_view piece) {
                                got += piece;
                                return absl::OkStatus();
                              }});
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
  EXPECT_EQ(got, "half");
}

TEST(Client, EndsWhenTheServerNeverAnswers) {
  ScriptedServer server({"silence", "silence"});
  const auto late = call({.url = server.url("/")}, {.idle_timeout = 100ms});
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status())) << late.status();
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = call({.url = server.url("/")}, {.stop = stop.get_token()});
  EXPECT_TRUE(absl::IsCancelled(stopped.status())) << stopped.status();
}

TEST(Client, RefusesABodyAboveTheLimitToldOrNot) {
  ScriptedServer server({answer("200 OK", "0123456789"), "HTTP/1.1 200 OK\r\n\r\n0123456789"});
  EXPECT_TRUE(absl::IsResourceExhausted(call({.url = server.url("/")}, {.max_body = 9}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(call({.url = server.url("/")}, {.max_body = 9}).status()));
}

TEST(Client, FollowsRedirectsUpToALimit) {
  const std::string again = answer("302 Found", "", "Location: /next\r\n");
  ScriptedServer server({again, answer("200 OK", "there"), again, again, again});
  EXPECT_EQ(call({.url = server.url("/")})->body, "there");
  EXPECT_FALSE(call({.url = server.url("/")}, {.max_redirects = 2}).ok());
}

TEST(Client, KeepsTheBodyOfAFailureOutOfTheStream) {
  ScriptedServer server({answer("404 Not Found", "no such thing")});
  std::string got;
  const auto response = call({.url = server.url("/"), .on_body = [&](std::string_view piece) {
                                got += piece;
                                return absl::OkStatus();
                              }});
  EXPECT_EQ(describe(*response), "404 Not Found: no such thing");
  EXPECT_EQ(got, "");
}

TEST(Client, SaysThatNobodyListens) {
  int port = 0;
  {
    ScriptedServer gone({});
    port = std::stoi(gone.url("").substr(17));
  }
  const auto response = call({.url = cat("http://127.0.0.1:", port, "/")});
  EXPECT_TRUE(absl::IsUnavailable(response.status())) << response.status();
}

class UnixSocket : public testing::Test {
 protected:
  void SetUp() override { folder_ = mkdtemp(name_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  char name_[32] = "/tmp/hodei-http-XXXXXX";
  std::string folder_;
};

TEST_F(UnixSocket, IsSpokenToAsAnyServer) {
  const std::string path = folder_ + "/socket";
  ScriptedServer server(path, {answer("302 Found", "", "Location: /next\r\n"), answer("200 OK", "there"),
                               answer("302 Found", "", "Location: http://elsewhere/\r\n")});
  const auto response = call({.url = "http://engine/first"}, {.unix_socket = path});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "there");
  EXPECT_TRUE(server.asked[0].starts_with("GET /first HTTP/1.1\r\nHost: engine\r\n")) << server.asked[0];
  EXPECT_TRUE(server.asked[1].starts_with("GET /next ")) << server.asked[1];
  EXPECT_TRUE(absl::IsUnavailable(call({.url = "http://engine/"}, {.unix_socket = path}).status()));
}

TEST_F(UnixSocket, EndsWhenTheServerNeverAnswers) {
  const std::string path = folder_ + "/socket";
  ScriptedServer server(path, {"silence"});
  const auto late = call({.url = "http://engine/"}, {.idle_timeout = 100ms, .unix_socket = path});
  EXPECT_TRUE(absl::IsDeadlineExceeded(late.status())) << late.status();
}

TEST_F(UnixSocket, IsNamedWhenItCannotBeReached) {
  const auto missing = call({.url = "http://engine/"}, {.unix_socket = folder_ + "/none"});
  EXPECT_TRUE(absl::IsUnavailable(missing.status())) << missing.status();
  EXPECT_NE(missing.status().message().find(folder_ + "/none: No such file"), std::string::npos) << missing.status();
  const auto secure = call({.url = "https://engine/"}, {.unix_socket = folder_ + "/none"});
  EXPECT_TRUE(absl::IsInvalidArgument(secure.status())) << secure.status();
  const auto endless = call({.url = "http://engine/"}, {.unix_socket = std::string(200, 'x')});
  EXPECT_TRUE(absl::IsInvalidArgument(endless.status())) << endless.status();
}

}  // namespace
}  // namespace hodei::http::http_test
