// What a handler is given: a request as plain values, without any HTTP library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/http/named_values.h"

namespace hodei::api {

// Who sent a request.
struct Peer {
  std::string address;  // 192.0.2.1 or 2001:db8::1
  uint16_t port = 0;

  // As gRPC writes it, which is how a ReadPool tells its callers apart: ipv4:192.0.2.1:50123.
  std::string text() const;
};

// A body that is read in pieces while it arrives. What is not asked for stays with the client.
class BodySource {
 public:
  // A piece of at most kBlockBytes; empty at the end. An error ends it: the body is too large, too slow, or broken off,
  // or the request is over (CANCELLED).
  using Take = std::function<void(absl::StatusOr<std::string>)>;

  virtual ~BodySource() = default;
  // From any thread; one call at a time. `take` is called once, mostly on a thread of the host, and must not block.
  virtual void read(Take take) = 0;
};

struct HttpRequest {
  std::string method;
  std::string path;       // as it came, without the query
  std::string route;      // the pattern that matched
  Parameters parameters;  // of the path, decoded
  Parameters query;       // decoded
  HttpHeaders headers;
  Peer peer;
  std::string body;                         // whole, unless the route reads it in pieces
  std::shared_ptr<BodySource> body_source;  // of a route that does; else null
};

}  // namespace hodei::api
