// A client for HTTP/1.1 and https: one call, one connection, on the caller's thread, always with deadlines. Bodies
// stream through callbacks, so that size costs no memory. A server may also listen on a unix socket.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::http {

struct Response {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // what was not streamed

  bool ok() const { return status >= 200 && status < 300; }
  std::string header(const std::string& name) const;  // name in lower case; empty when absent
  int64_t content_length() const;                     // -1: not told
};

struct Request {
  std::string method = "GET";
  std::string url;
  std::map<std::string, std::string> headers;

  std::string body;       // sent when there is no `read_body`
  int64_t body_size = 0;  // of what `read_body` gives
  // Fills the span from that offset on; returns how much. A redirect starts again at 0.
  std::function<absl::StatusOr<size_t>(int64_t offset, std::span<char> into)> read_body;

  // Only for answers with 2xx: first the head, then the body in pieces. An error ends the call and is its result.
  // Without `on_body` it goes to Response::body.
  std::function<absl::Status(const Response& head)> on_head;
  std::function<absl::Status(std::string_view piece)> on_body;
};

// Whom to trust and who we are, when files are not the way: all PEM, empty means none.
struct Tls {
  std::string ca_pem;           // instead of `ca_file` and the system's
  std::string certificate_pem;  // the client's own, for servers that ask for one; with its chain
  std::string key_pem;          // of that certificate
  std::string server_name;      // expected in the server's certificate; empty: the URL's host
};

struct Options {
  Tls tls;
  Duration connect_timeout = 10s;  // names, connection and TLS
  Duration idle_timeout = 30s;     // without a byte
  Duration total_timeout{0};       // 0: none
  int64_t max_body = 1 << 20;      // of an answer; larger is RESOURCE_EXHAUSTED
  int max_redirects = 5;
  std::string ca_file;      // PEM; empty: $SSL_CERT_FILE, else the system's
  std::string unix_socket;  // connect to this path; the URL's host is then only a word, and http
  std::stop_token stop;     // ends the call with CANCELLED
};

// An answer of any status is a Response. Errors are UNAVAILABLE (the connection: trying again may help),
// DEADLINE_EXCEEDED, CANCELLED, RESOURCE_EXHAUSTED, INVALID_ARGUMENT (the URL), FAILED_PRECONDITION (the certificate)
// or PERMISSION_DENIED (of the unix socket).
absl::StatusOr<Response> call(const Request& request, const Options& options = {});

// "404 Not Found: <the beginning of the body>", for people.
std::string describe(const Response& response);

}  // namespace hodei::http
