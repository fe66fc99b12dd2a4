// For tests of the host over real sockets: a client that may misbehave, sources and handlers that a test steers, and a
// host with routes of every kind. Whatever is waited for has a deadline.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/api/http/http_host.h"
#include "src/base/text.h"

namespace hodei::api {

inline constexpr Duration kPatience = 20s;

// One connection of a client.
class Caller {
 public:
  explicit Caller(int port, int receive_buffer = 0) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    const timeval patience{kPatience / 1s, 0};
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Caller() { leave(); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // False: the host has closed the connection.
  bool say(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  bool say_byte_by_byte(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (!say(text.substr(i, 1))) return false;
    }
    return true;
  }
  // Until the host closes the connection.
  std::string hear() {
    while (hear_some()) {
    }
    return std::exchange(heard_, {});
  }
  // Up to and with that text.
  std::string hear_until(std::string_view end) {
    size_t at = 0;
    while ((at = heard_.find(end)) == std::string::npos) {
      if (!hear_some()) {
        ADD_FAILURE() << "the connection ended before '" << end << "': " << heard_;
        return std::exchange(heard_, {});
      }
    }
    std::string out = heard_.substr(0, at + end.size());
    heard_.erase(0, out.size());
    return out;
  }
  // The host has said something, or closed the connection.
  bool is_told_within(Duration limit) {
    pollfd waiting{fd_, POLLIN, 0};
    return !heard_.empty() || poll(&waiting, 1, static_cast<int>(limit / 1ms)) == 1;
  }
  // Although nothing was read of what it sent last.
  bool is_reset() {
    pollfd waiting{fd_, 0, 0};
    return poll(&waiting, 1, static_cast<int>(kPatience / 1ms)) == 1 && (waiting.revents & POLLERR) != 0;
  }
  void end_writing() { shutdown(fd_, SHUT_WR); }
  void leave() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  // As a client that crashed, or whose machine did.
  void reset() {
    const linger hard{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    leave();
  }

 private:
  bool hear_some() {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(kPatience / 1ms)) != 1) {
      ADD_FAILURE() << "nothing more was heard in time after: " << heard_;
      return false;
    }
    char bytes[16384];
    const ssize_t got = recv(fd_, bytes, sizeof(bytes), 0);
    if (got > 0) heard_.append(bytes, static_cast<size_t>(got));
    return got > 0;
  }

  int fd_;
  std::string heard_;
};

// Something that happens on another thread and is waited for.
class Signal {
 public:
  void raise() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool wait(int times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return count_ >= times; });
  }
  int count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// A stream whose pieces the test gives when it likes.
class SteeredSource final : public PieceSource {
 public:
  void next(Give give) override {
    {
      const std::lock_guard lock(mutex_);
      give_ = std::move(give);
    }
    asked.raise();
  }
  void cancel() override { cancelled.raise(); }
  // Of whoever asked last.
  Give last() {
    const std::lock_guard lock(mutex_);
    return give_;
  }
  void give(absl::StatusOr<std::string> piece) { last()(std::move(piece)); }

  Signal asked;
  Signal cancelled;

 private:
  std::mutex mutex_;
  Give give_;
};

// A stream without an end, as fast as it is taken.
class EndlessSource final : public PieceSource {
 public:
  explicit EndlessSource(size_t size) : piece_(size, 'x') {}
  void next(Give give) override {
    asked.raise();
    give(piece_);
  }
  void cancel() override { cancelled.raise(); }

  Signal asked;
  Signal cancelled;

 private:
  const std::string piece_;
};

inline std::string get(std::string_view target, std::string_view more = "") {
  return cat("GET ", target, " HTTP/1.1\r\nHost: x\r\n", more, "\r\n");
}
inline std::string get_once(std::string_view target) { return get(target, "Connection: close\r\n"); }

class HttpHostTest : public testing::Test {
 protected:
  // Routes of a test's own come first.
  void open(HttpLimits limits = {}, std::vector<HttpFilter> filters = {}) {
    add("GET", "/hello", [](const HttpRequest& r, const Responder& responder) {
      std::string words;
      for (const auto& [name, value] : r.query) words += cat(" ", name, "=", value);
      responder.send(HttpResponse{200, cat("hello", words, "\n")});
    });
    add("POST", "/echo", [](HttpRequest r, const Responder& responder) {
      responder.send(HttpResponse{200, std::move(r.body)});
    });
    add("GET", "/never", [this](const HttpRequest&, Responder responder) { keep(std::move(responder)); });
    add("GET", "/stream", [this](const HttpRequest&, const Responder& responder) {
      responder.stream({.content_type = "text/plain", .source = source_});
    });
    add("GET", "/endless", [this](const HttpRequest&, const Responder& responder) {
      responder.stream({.content_type = "text/plain", .source = endless_});
    });
    auto host = HttpHost::open("127.0.0.1", 0, std::move(router_), limits, std::move(filters));
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }
  void add(std::string method, std::string_view pattern, HttpHandler handler, RouteOptions options = {}) {
    const absl::Status added = router_.add(std::move(method), pattern, std::move(handler), std::move(options));
    EXPECT_TRUE(added.ok()) << added;
  }
  // The whole answer to a request on a connection of its own.
  std::string ask(const std::string& request) {
    Caller caller(host_->port());
    caller.say(request);
    return caller.hear();
  }
  void keep(Responder responder) {
    responder.on_cancel([this] { cancelled_.raise(); });
    {
      const std::lock_guard lock(mutex_);
      kept_.push_back(std::move(responder));
    }
    asked_.raise();
  }
  Responder kept() {
    EXPECT_TRUE(asked_.wait());
    const std::lock_guard lock(mutex_);
    return kept_.front();
  }
  void forget_kept() {
    std::deque<Responder> out;
    const std::lock_guard lock(mutex_);
    out.swap(kept_);
  }
  // Places of connections are given back a moment after the client sees the end.
  bool becomes_free() {
    const SystemClock clock;
    const MonoTime limit = clock.now().mono + kPatience;
    while (clock.now().mono < limit) {
      if (ask(get_once("/hello")).starts_with("HTTP/1.1 200 ")) return true;
    }
    return false;
  }

  Router router_;
  Signal asked_;      // a handler that does not answer
  Signal cancelled_;  // and that its client is gone
  std::shared_ptr<SteeredSource> source_ = std::make_shared<SteeredSource>();
  std::shared_ptr<EndlessSource> endless_ = std::make_shared<EndlessSource>(16 << 10);
  std::mutex mutex_;
  std::deque<Responder> kept_;
  std::unique_ptr<HttpHost> host_;  // ends first
};

}  // namespace hodei::api
