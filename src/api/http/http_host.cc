#include "src/api/http/http_host.h"

#include <fcntl.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "src/base/status.h"
#include "src/base/version.h"

namespace hodei::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

constexpr int kThreads = 2;
constexpr size_t kReadSize = 4 << 10;

// Asio opens sockets that programs started by us would inherit.
template <class Socket>
void keep_from_children(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

// What to tell a client whose request cannot be read; nothing: it is gone.
std::optional<HttpResponse> answer_to(const Error& error) {
  if (error == http::error::end_of_stream || error == http::error::partial_message || error == beast::error::timeout)
    return std::nullopt;
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return HttpResponse{431, "the header is too large\n"};
  if (error == http::error::body_limit) return HttpResponse{413, "the body is too large\n"};
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return HttpResponse{400, cat("this is not HTTP/1.1: ", error.message(), "\n")};
  }
  return std::nullopt;
}

// One client, on a strand of its own. Kept alive by the operation that is under way.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Router& router, const HttpLimits& limits, std::atomic<size_t>& count)
      : stream_(std::move(socket)),
        timer_(stream_.get_executor()),
        router_(router),
        limits_(limits),
        count_(count),
        buffer_(limits.header_bytes + limits.body_bytes + kReadSize) {
    ++count_;
  }
  ~Connection() { --count_; }

  void start() {
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
  }

 private:
  void wait_for_request() {
    if (buffer_.size() > 0) return read_request();
    stream_.expires_after(limits_.idle);
    stream_.async_read_some(buffer_.prepare(kReadSize), [self = shared_from_this()](Error error, size_t size) {
      if (error) return;
      self->buffer_.commit(size);
      self->read_request();
    });
  }

  void read_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(limits_.header_bytes));
    parser_->body_limit(limits_.body_bytes);
    stream_.expires_after(limits_.request);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Error error, size_t) { self->on_read(error); });
  }

  void on_read(const Error& error) {
    ++number_;
    if (error) {
      const std::optional<HttpResponse> answer = answer_to(error);
      if (answer) write(*answer, false);
      return;
    }
    const http::request<http::string_body> message = parser_->release();
    keep_alive_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    const std::string target(message.target());
    const size_t question = target.find('?');
    HttpRequest request{std::string(message.method_string()), target.substr(0, question),
                        question == std::string::npos ? std::string() : target.substr(question + 1), message.body()};
    stream_.expires_never();
    timer_.expires_after(limits_.answer);
    timer_.async_wait([self = shared_from_this(), number = number_](Error stopped) {
      if (!stopped) self->respond(number, HttpResponse{503, "no answer in time; try again in a moment\n"});
    });
    router_.handle(request, [self = shared_from_this(), number = number_](std::function<HttpResponse()> make) {
      asio::post(self->stream_.get_executor(),
                 [self, number, make = std::move(make)] { self->respond(number, make()); });
    });
  }

  // The first answer to a request counts.
  void respond(uint64_t number, const HttpResponse& answer) {
    if (number != number_ || answered_ == number) return;
    answered_ = number;
    timer_.cancel();
    write(answer, keep_alive_);
  }

  void write(const HttpResponse& answer, bool keep_alive) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::server, cat("hodei/", kVersion));
    response_.set(http::field::content_type, answer.content_type);
    response_.keep_alive(keep_alive);
    response_.content_length(answer.body.size());
    if (!is_head_) response_.body() = answer.body;
    stream_.expires_after(limits_.answer);
    http::async_write(stream_, response_, [self = shared_from_this(), keep_alive](Error error, size_t) {
      if (error) return;
      if (keep_alive) return self->wait_for_request();
      Error ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  const Router& router_;
  const HttpLimits& limits_;
  std::atomic<size_t>& count_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  uint64_t number_ = 0;  // of the request at hand
  uint64_t answered_ = 0;
  bool keep_alive_ = false;
  bool is_head_ = false;
};

}  // namespace

struct HttpHost::Parts {
  Parts(Router r, HttpLimits l) : router(std::move(r)), limits(l), acceptor(io) {}

  Router router;
  HttpLimits limits;
  std::atomic<size_t> count = 0;  // outlives the connections, which `io` holds
  asio::io_context io;
  tcp::acceptor acceptor;
  std::vector<std::thread> threads;

  void accept() {
    acceptor.async_accept(asio::make_strand(io), [this](Error error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) keep_from_children(socket);
      if (!error && count < limits.connections)
        std::make_shared<Connection>(std::move(socket), router, limits, count)->start();
      accept();
    });
  }
};

absl::StatusOr<std::unique_ptr<HttpHost>> HttpHost::open(const std::string& host, int port, Router router,
                                                         HttpLimits limits) {
  auto parts = std::make_unique<Parts>(std::move(router), limits);
  const auto cannot = [&](const Error& why) {
    return absl::UnavailableError(
        cat("http_listen: cannot listen on ", host, ":", port, " (", why.message(),
            "); stop what uses it, choose another with --http-listen or HTTP_PORT, or switch it off "
            "with --http-listen off"));
  };
  Error error;
  tcp::resolver resolver(parts->io);
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error) return cannot(error);
  const tcp::endpoint endpoint = found.begin()->endpoint();
  parts->acceptor.open(endpoint.protocol(), error);
  if (!error) keep_from_children(parts->acceptor);
  if (!error) parts->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) parts->acceptor.bind(endpoint, error);
  if (!error) parts->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot(error);
  parts->accept();
  for (int i = 0; i < kThreads; ++i) {
    parts->threads.emplace_back([io = &parts->io] { io->run(); });
  }
  return std::unique_ptr<HttpHost>(new HttpHost(std::move(parts)));
}

HttpHost::HttpHost(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpHost::~HttpHost() { stop(); }

void HttpHost::stop() {
  parts_->io.stop();
  for (std::thread& thread : parts_->threads) {
    if (thread.joinable()) thread.join();
  }
}

int HttpHost::port() const { return parts_->acceptor.local_endpoint().port(); }

}  // namespace hodei::api
