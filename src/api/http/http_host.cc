#include "src/api/http/http_host.h"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>
#include <vector>

#include "src/api/http/answer_head.h"
#include "src/api/http/connection_set.h"
#include "src/base/http/socket.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Error = boost::system::error_code;

constexpr int kThreads = 2;
constexpr Duration kAcceptAgain = 100ms;  // after a failure, such as no descriptors left

// An IPv4 client of a port that takes both is the same client.
asio::ip::address plain_address(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

// Whose connections are counted together.
std::string counted_as(const asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  asio::ip::address_v6::bytes_type bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::make_address_v6(bytes).to_string();
}

// Too many connections. This one is not read, so the answer may be lost; but most clients see it.
void turn_away(tcp::socket& socket) {
  const HttpHeaders headers = {{"Retry-After", "1"}};
  const std::string body = "too many connections; try again in a moment\n";
  const std::string text =
      head_text({503, "text/plain; charset=utf-8", headers}, {Framing::End::Length, body.size(), false}) + body;
  Error ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace

std::string Peer::text() const {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? cat("ipv6:[", address, "]:", port) : cat("ipv4:", address, ":", port);
}

struct HttpHost::Parts {
  Parts(Router router, std::vector<HttpFilter> filters, const HttpLimits& limits)
      : service{std::move(router), std::move(filters), limits}, acceptor(asio::make_strand(io)), again(io) {}

  HttpService service;  // outlives the connections, which `io` holds
  ConnectionSet connections;
  asio::io_context io;
  tcp::acceptor acceptor;
  asio::steady_timer again;
  std::vector<std::thread> threads;
  int port = 0;

  Error listen(const tcp::endpoint& endpoint);
  void accept();
  void take(tcp::socket socket);
};

Error HttpHost::Parts::listen(const tcp::endpoint& endpoint) {
  Error error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) http::keep_from_children(acceptor);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor.local_endpoint(error).port();
  return error;
}

void HttpHost::Parts::accept() {
  acceptor.async_accept(asio::make_strand(io), [this](Error error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (!error) {
      take(std::move(socket));
      return accept();
    }
    again.expires_after(kAcceptAgain);
    again.async_wait(asio::bind_executor(acceptor.get_executor(), [this](Error stopped) {
      if (!stopped && acceptor.is_open()) accept();
    }));
  });
}

void HttpHost::Parts::take(tcp::socket socket) {
  http::keep_from_children(socket);
  Error error;
  const tcp::endpoint from = socket.remote_endpoint(error);
  if (error) return;
  const asio::ip::address address = plain_address(from.address());
  std::optional<ConnectionPlace> place = ConnectionPlace::take(service.admission, counted_as(address));
  if (!place) return turn_away(socket);
  http::notice_dead_peer(socket);
  socket.set_option(tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::send_buffer_size(static_cast<int>(service.limits.send_buffer_bytes)), error);
  const auto connection = std::make_shared<Connection>(service, std::make_unique<TcpByteStream>(std::move(socket)),
                                                       Peer{address.to_string(), from.port()}, *std::move(place),
                                                       [this](const Connection* ended) { connections.remove(ended); });
  if (connections.add(connection)) connection->start();
}

absl::StatusOr<std::unique_ptr<HttpHost>> HttpHost::open(const std::string& host, int port, Router router,
                                                         HttpLimits limits, std::vector<HttpFilter> filters) {
  auto parts = std::make_unique<Parts>(std::move(router), std::move(filters), limits);
  Error error;
  tcp::resolver resolver(parts->io);
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (!error) error = parts->listen(found.begin()->endpoint());
  if (error) {
    return absl::UnavailableError(
        cat("http_listen: cannot listen on ", host, ":", port, " (", error.message(),
            "); stop what uses it, choose another with --http-listen or HTTP_PORT, or switch it off "
            "with --http-listen off"));
  }
  parts->accept();
  for (int i = 0; i < kThreads; ++i) {
    parts->threads.emplace_back([io = &parts->io] { io->run(); });
  }
  return std::unique_ptr<HttpHost>(new HttpHost(std::move(parts)));
}

HttpHost::HttpHost(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpHost::~HttpHost() { stop(); }

int HttpHost::port() const { return parts_->port; }

void HttpHost::stop() {
  if (parts_->threads.empty()) return;
  const auto stop_listening = [parts = parts_.get()] {
    Error ignored;
    parts->acceptor.close(ignored);
  };
  parts_->service.is_stopping = true;
  asio::post(parts_->acceptor.get_executor(), stop_listening);
  for (const auto& connection : parts_->connections.close()) connection->begin_stop();
  parts_->connections.wait_until_empty(parts_->service.limits.stop);
  parts_->io.stop();
  for (std::thread& thread : parts_->threads) thread.join();
  parts_->threads.clear();
  stop_listening();  // the threads may have ended before they came to it
  for (const auto& connection : parts_->connections.close()) connection->abandon();
}

}  // namespace hodei::api
