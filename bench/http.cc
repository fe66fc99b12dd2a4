// How many small requests the HTTP host answers in a second, beside a bare loop of Asio that answers the same bytes
// without reading them.
//   bench-http [--connections N] [--seconds N] [--rounds N]
//   bench-http serve --port N      hosts routes of every kind on that port, for tools that attack or measure it
#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <thread>
#include <vector>

#include "bench/lib/arguments.h"
#include "bench/lib/clock.h"
#include "src/api/http/http_host.h"
#include "src/base/text.h"

namespace hodei::bench {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

const std::string kRequest = "GET /hello HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
const std::string kBody = "hello\n";
const std::string kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n" + kBody;

// Answers whatever comes; the requests of this program always arrive whole.
class BareSession : public std::enable_shared_from_this<BareSession> {
 public:
  explicit BareSession(tcp::socket socket) : socket_(std::move(socket)) {}
  void run() {
    socket_.async_read_some(asio::buffer(bytes_), [self = shared_from_this()](Error error, size_t) {
      if (error) return;
      asio::async_write(self->socket_, asio::buffer(kAnswer), [self](Error failed, size_t) {
        if (!failed) self->run();
      });
    });
  }

 private:
  tcp::socket socket_;
  char bytes_[4096] = {};
};

class BareServer {
 public:
  BareServer() {
    accept();
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~BareServer() {
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept(asio::make_strand(io_), [this](Error error, tcp::socket socket) {
      if (error) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<BareSession>(std::move(socket))->run();
      accept();
    });
  }
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, {asio::ip::make_address("127.0.0.1"), 0}};
  std::vector<std::thread> threads_;
};

// A client that sends the next request when it has the last answer.
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(asio::io_context& io, int port, std::atomic<int64_t>& count) : socket_(io), count_(count) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), static_cast<uint16_t>(port)});
    socket_.set_option(tcp::no_delay(true));
  }
  void run() {
    asio::async_write(socket_, asio::buffer(kRequest), [self = shared_from_this()](Error error, size_t) {
      if (!error) self->read();
    });
  }

 private:
  void read() {
    asio::async_read_until(socket_, asio::dynamic_buffer(heard_), kBody,
                           [self = shared_from_this()](Error error, size_t) {
                             if (error) return;
                             ++self->count_;
                             self->heard_.clear();
                             self->run();
                           });
  }
  tcp::socket socket_;
  std::atomic<int64_t>& count_;
  std::string heard_;
};

double requests_per_second(int port, int connections, double seconds) {
  std::atomic<int64_t> count = 0;
  asio::io_context io(1);
  for (int i = 0; i < connections; ++i) std::make_shared<Client>(io, port, count)->run();
  const int64_t began = mono_ns();
  io.run_for(std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
  return static_cast<double>(count) / seconds_since(began);
}

class Endless final : public api::PieceSource {
 public:
  void next(Give give) override { give(std::string(16 << 10, 'x')); }
};

class Silent final : public api::PieceSource {
 public:
  void next(Give give) override { give_ = std::move(give); }

 private:
  Give give_;
};

api::Router routes() {
  using api::HttpRequest, api::HttpResponse, api::Responder;
  api::Router router;
  const auto add = [&](const char* method, const char* pattern, api::HttpHandler handler,
                       api::RouteOptions options = {}) {
    const absl::Status added = router.add(method, pattern, std::move(handler), options);
    if (!added.ok()) fmt::print(stderr, "{}\n", std::string(added.message()));
  };
  add("GET", "/hello", [](const HttpRequest&, const Responder& r) { r.send(HttpResponse{200, kBody}); });
  add("POST", "/echo", [](HttpRequest q, const Responder& r) { r.send(HttpResponse{200, std::move(q.body)}); });
  add("GET", "/items/{id}", [](const HttpRequest& q, const Responder& r) {
    r.send(HttpResponse{200, cat(q.parameters.get("id"), "\n")});
  });
  add("GET", "/files/{path...}", [](const HttpRequest& q, const Responder& r) {
    r.send(HttpResponse{200, cat(q.parameters.get("path"), "\n")});
  });
  add("GET", "/never", [](const HttpRequest&, const Responder& r) {
    r.on_cancel([r] { r.send(HttpResponse{499, "gone\n"}); });
  });
  add("GET", "/endless",
      [](const HttpRequest&, const Responder& r) { r.stream({.source = std::make_shared<Endless>()}); });
  add("GET", "/silent", [](const HttpRequest&, const Responder& r) {
    r.stream({.content_type = "text/event-stream", .heartbeat = ":\n\n", .source = std::make_shared<Silent>()});
  });
  return router;
}

int serve(const Arguments& arguments) {
  const auto host = api::HttpHost::open("127.0.0.1", arguments.whole("port", 8090), routes());
  if (!host.ok()) return 1;
  fmt::print("listening on {}\n", (*host)->port());
  std::fflush(stdout);
  // Until standard input ends.
  while (std::getchar() != EOF) {
  }
  (*host)->stop();
  return 0;
}

int compare(const Arguments& arguments) {
  const int connections = arguments.whole("connections", 32);
  const double seconds = arguments.number("seconds", 2);
  const auto host = api::HttpHost::open("127.0.0.1", 0, routes(), {.requests_of_connection = SIZE_MAX});
  if (!host.ok()) return 1;
  const BareServer bare;
  std::vector<double> ratios;
  for (int round = 0; round < arguments.whole("rounds", 5); ++round) {
    const double limit = requests_per_second(bare.port(), connections, seconds);
    const double ours = requests_per_second((*host)->port(), connections, seconds);
    ratios.push_back(ours / limit);
    fmt::print("{:.0f} requests/s, {:.0f} by the bare loop: {:.2f}\n", ours, limit, ours / limit);
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("median ratio: {:.2f}\n", ratios[ratios.size() / 2]);
  return 0;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) {
  const hodei::bench::Arguments arguments(argc, argv);
  return arguments.command() == "serve" ? hodei::bench::serve(arguments) : hodei::bench::compare(arguments);
}
