#include "src/base/http/exchange.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <vector>

#include "src/base/http/socket.h"
#include "src/base/http/tls.h"
#include "src/base/http/waiter.h"
#include "src/base/status.h"

namespace hodei::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace message = boost::beast::http;
using boost::system::error_code;
using Socket = asio::ip::tcp::socket;
using LocalSocket = asio::local::stream_protocol::socket;

constexpr size_t kPiece = 64 << 10;
constexpr size_t kLargestHead = 64 << 10;
constexpr size_t kKeptOfAFailure = 4096;  // of the body of an answer that is no success: for the message
constexpr std::string_view kUserAgent = "hodei";

class Exchange {
 public:
  Exchange(const Url& url, const Request& request, const Options& options, MonoTime end)
      : url_(url),
        request_(request),
        options_(options),
        waiter_(options.stop, end),
        socket_(waiter_.io()),
        local_(waiter_.io()) {}

  absl::StatusOr<Response> run() {
    if (!options_.unix_socket.empty()) {
      RETURN_IF_ERROR(connect_locally());
      return talk(local_);
    }
    RETURN_IF_ERROR(connect());
    if (!url_.secure) return talk(socket_);
    ASSIGN_OR_RETURN(const std::unique_ptr<asio::ssl::context> context, tls_context(options_));
    TlsStream stream(socket_, *context);
    RETURN_IF_ERROR(expect_host(stream, options_.tls.server_name.empty() ? url_.host : options_.tls.server_name));
    const error_code error = wait(options_.connect_timeout,
                                  [&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); });
    if (error) return tls_failure(error, stream);
    return talk(stream);
  }

 private:
  template <class Start>
  error_code wait(Duration limit, Start start) {
    return waiter_.run(
        limit, [this] { close(); }, start);
  }
  void close() {
    error_code ignored;
    socket_.close(ignored);
    local_.close(ignored);
  }

  absl::Status connect_locally() {
    if (url_.secure) return absl::InvalidArgumentError(cat(url_.text(), ": only http works over a unix socket"));
    sockaddr_un address;
    if (options_.unix_socket.size() >= sizeof(address.sun_path)) {
      return absl::InvalidArgumentError(cat("unix_socket: '", options_.unix_socket, "' is too long for a socket path"));
    }
    const asio::local::stream_protocol::endpoint there(options_.unix_socket);
    const error_code error = wait(options_.connect_timeout, [&](auto done) { local_.async_connect(there, done); });
    if (error == asio::error::access_denied) {
      return absl::PermissionDeniedError(cat(options_.unix_socket, ": ", error.message()));
    }
    if (error) return failure(cat("cannot connect to ", options_.unix_socket), error);
    keep_from_children(local_);
    return absl::OkStatus();
  }

  absl::Status connect() {
    asio::ip::tcp::resolver resolver(waiter_.io());
    asio::ip::tcp::resolver::results_type found;
    error_code error = waiter_.run(
        options_.connect_timeout, [&] { resolver.cancel(); },
        [&](auto done) {
          resolver.async_resolve(url_.host, url_.port, [&found, done](error_code failed, auto results) mutable {
            found = std::move(results);
            done(failed);
          });
        });
    if (error) return failure("cannot resolve the host name", error);
    error = wait(options_.connect_timeout, [&](auto done) { asio::async_connect(socket_, found, done); });
    if (error) return failure("cannot connect", error);
    keep_from_children(socket_);
    socket_.set_option(asio::ip::tcp::no_delay(true), error);
    return absl::OkStatus();
  }

  template <class Stream>
  absl::StatusOr<Response> talk(Stream& stream) {
    // A server may answer before it has read all, and close: its answer says more than our failed write.
    const absl::Status sent = send(stream);
    if (!sent.ok() && !absl::IsUnavailable(sent)) return sent;
    absl::StatusOr<Response> response = receive(stream);
    if (!response.ok() && !sent.ok()) return sent;
    return response;
  }

  template <class Stream>
  absl::Status send(Stream& stream) {
    message::request<message::buffer_body> head(message::string_to_verb(request_.method), url_.target, 11);
    if (head.method() == message::verb::unknown) head.method_string(request_.method);
    head.set(message::field::host, url_.authority());
    head.set(message::field::user_agent, kUserAgent);
    head.set(message::field::connection, "close");
    for (const auto& [name, value] : request_.headers) head.set(name, value);
    const int64_t size = request_.read_body ? request_.body_size : static_cast<int64_t>(request_.body.size());
    if (size > 0 || request_.method == "PUT" || request_.method == "POST") {
      head.content_length(static_cast<uint64_t>(size));
    }
    head.body().data = nullptr;
    head.body().more = size > 0;
    message::request_serializer<message::buffer_body> serializer(head);
    error_code error =
        wait(options_.idle_timeout, [&](auto done) { message::async_write_header(stream, serializer, done); });
    if (error) return failure("sending the request failed", error);
    std::vector<char> piece(size > 0 ? kPiece : 0);
    for (int64_t offset = 0; offset < size;) {
      ASSIGN_OR_RETURN(const size_t got, read_body(offset, piece, size));
      offset += static_cast<int64_t>(got);
      head.body() = {.data = piece.data(), .size = got, .more = offset < size};
      error = wait(options_.idle_timeout, [&](auto done) { message::async_write(stream, serializer, done); });
      if (error && error != message::error::need_buffer) {
        return failure(cat("sending the body failed after ", offset, " of ", size, " bytes"), error);
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> read_body(int64_t offset, std::vector<char>& piece, int64_t size) {
    const size_t want = std::min<size_t>(piece.size(), static_cast<size_t>(size - offset));
    if (!request_.read_body) return request_.body.copy(piece.data(), want, static_cast<size_t>(offset));
    ASSIGN_OR_RETURN(const size_t got, request_.read_body(offset, {piece.data(), want}));
    if (got == 0)
      return absl::FailedPreconditionError(
          cat("what is sent to ", url_.text(), " got shorter while it was being sent"));
    return got;
  }

  template <class Stream>
  absl::StatusOr<Response> receive(Stream& stream) {
    beast::flat_buffer buffer;
    message::response_parser<message::buffer_body> parser;
    parser.header_limit(kLargestHead);
    parser.body_limit(boost::none);
    parser.skip(request_.method == "HEAD");
    const error_code error =
        wait(options_.idle_timeout, [&](auto done) { message::async_read_header(stream, buffer, parser, done); });
    if (error) return failure("no answer", error);
    Response response{.status = static_cast<int>(parser.get().result_int())};
    for (const auto& field : parser.get()) {
      std::string name(field.name_string());
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      response.headers[name] = std::string(field.value());
    }
    if (response.ok() && response.content_length() > options_.max_body) return too_large();
    if (response.ok() && request_.on_head) RETURN_IF_ERROR(request_.on_head(response));
    RETURN_IF_ERROR(receive_body(stream, buffer, parser, response));
    return response;
  }

  template <class Stream, class Parser>
  absl::Status receive_body(Stream& stream, beast::flat_buffer& buffer, Parser& parser, Response& response) {
    std::vector<char> piece(kPiece);
    int64_t received = 0;
    while (!parser.is_done()) {
      parser.get().body() = {.data = piece.data(), .size = piece.size(), .more = true};
      const error_code error =
          wait(options_.idle_timeout, [&](auto done) { message::async_read_some(stream, buffer, parser, done); });
      const size_t got = piece.size() - parser.get().body().size;
      received += static_cast<int64_t>(got);
      if (response.ok() && received > options_.max_body) return too_large();
      RETURN_IF_ERROR(deliver({piece.data(), got}, response));
      if (error && error != message::error::need_buffer) {
        // The end of a body that is ended by the end of the connection; TLS peers often close without a word.
        if (!parser.content_length() && !parser.chunked() && is_end(error)) return absl::OkStatus();
        return failure(cat("the response ended early, after ", received, " bytes"), error);
      }
      if (!response.ok() && response.body.size() >= kKeptOfAFailure) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  static bool is_end(error_code error) {
    return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  }

  absl::Status deliver(std::string_view piece, Response& response) {
    if (piece.empty()) return absl::OkStatus();
    if (response.ok() && request_.on_body) return request_.on_body(piece);
    response.body += response.ok() ? piece : piece.substr(0, kKeptOfAFailure);
    return absl::OkStatus();
  }

  absl::Status too_large() const {
    return absl::ResourceExhaustedError(cat(url_.text(), ": larger than the limit of ", options_.max_body, " bytes"));
  }

  absl::Status failure(std::string_view what, error_code error) const {
    switch (waiter_.reason()) {
      case Waiter::Reason::Stopped: return absl::CancelledError(cat(url_.text(), ": stopped"));
      case Waiter::Reason::TimedOut: return absl::DeadlineExceededError(cat(url_.text(), ": ", what, ": timed out"));
      case Waiter::Reason::Finished: break;
    }
    return absl::UnavailableError(cat(url_.text(), ": ", what, ": ", error.message()));
  }

  absl::Status tls_failure(error_code error, TlsStream& stream) const {
    const std::string distrust = why_not_trusted(stream);
    if (distrust.empty()) return failure("TLS handshake failed", error);
    return absl::FailedPreconditionError(cat(url_.text(), ": the server's certificate is not trusted: ", distrust,
                                             "; name its CA in ca_file or SSL_CERT_FILE"));
  }

  const Url& url_;
  const Request& request_;
  const Options& options_;
  Waiter waiter_;
  Socket socket_;
  LocalSocket local_;  // instead of it, when the server is on a unix socket
};

}  // namespace

absl::StatusOr<Response> exchange(const Url& url, const Request& request, const Options& options, MonoTime end) {
  try {
    return Exchange(url, request, options, end).run();
  } catch (const std::exception& unexpected) {
    return absl::InternalError(cat(url.text(), ": ", unexpected.what()));
  }
}

std::string reason_phrase(int status) {
  return std::string(message::obsolete_reason(message::int_to_status(static_cast<unsigned>(status))));
}

}  // namespace hodei::http
