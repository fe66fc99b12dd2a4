// Which method and path lead to which handler. Pure: it reads targets that were taken apart, and knows no sockets.
//
// Of several patterns that match a path, the most specific one with the method counts, segment by segment from the
// left: a literal before a parameter with a verb, before a parameter, before a wildcard.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "src/api/http/http_request.h"
#include "src/api/http/pattern.h"
#include "src/api/http/responder.h"
#include "src/api/http/target.h"
#include "src/base/time.h"

namespace hodei::api {

// Called on a thread of the host, so it must not block: what reads the store goes to a ReadPool.
using HttpHandler = std::function<void(HttpRequest request, Responder responder)>;

// Runs before every handler, when the head of the request is there and its body is not. It may refuse the request with
// an answer, or note something in it. It must not block.
using HttpFilter = std::function<std::optional<HttpResponse>(HttpRequest&)>;

struct RouteOptions {
  enum class Body : uint8_t { Whole, InPieces };  // in pieces: the handler is called before the body has come

  Body body = Body::Whole;
  std::optional<uint64_t> body_bytes;  // else HttpLimits::body_bytes
  std::optional<Duration> answer;      // else HttpLimits::answer; zero: no limit
};

struct Route {
  std::string method;
  Pattern pattern;
  HttpHandler handler;
  RouteOptions options;
};

struct RouteMatch {
  const Route* route = nullptr;
  Parameters parameters;
};

// Nothing at this path has the method. Without any allowed method there is nothing at this path at all.
struct NoRoute {
  std::vector<std::string> allowed;
};

class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // HEAD is GET without its body, and OPTIONS is answered by the host, unless they have routes of their own.
  // ALREADY_EXISTS: another route matches the same. INVALID_ARGUMENT: the method or the pattern is not one.
  absl::Status add(std::string method, std::string_view pattern, HttpHandler handler, RouteOptions options = {});
  absl::Status get(std::string_view pattern, HttpHandler handler, RouteOptions options = {}) {
    return add("GET", pattern, std::move(handler), std::move(options));
  }

  std::variant<RouteMatch, NoRoute> find(std::string_view method, const std::vector<Segment>& path) const;

  // What may be asked of the server as a whole.
  std::vector<std::string> methods() const;
  // Paths of GET without parameters, for a hint to people.
  std::vector<std::string> plain_paths() const;

 private:
  struct Node;
  struct Search;
  static void walk(const Node& node, Search& search, size_t depth);

  std::unique_ptr<Node> root_;
};

}  // namespace hodei::api
