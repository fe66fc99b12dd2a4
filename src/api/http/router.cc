#include "src/api/http/router.h"

#include <algorithm>
#include <map>
#include <set>

#include "src/base/status.h"

namespace hodei::api {
namespace {

using Kind = PatternPart::Kind;

// The order in which the branches of a node are tried. Of several verbs at most one matches, so they need no order.
int rank(const PatternPart& part) {
  if (part.kind == Kind::Literal) return 0;
  if (part.kind == Kind::Wildcard) return 3;
  return part.verb.empty() ? 2 : 1;
}

bool is_method(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// A parameter needs at least one character, and its verb stands behind it as it is: an escaped colon is no verb.
bool matches(const PatternPart& part, const Segment& segment) {
  if (part.kind == Kind::Literal) return segment.text == part.text;
  return segment.raw.size() > part.verb.size() && segment.raw.ends_with(part.verb);
}

// A file behind a wildcard may be looked up by its path, so a segment must not bring a separator of its own along.
std::optional<std::string> wildcard_value(const std::vector<Segment>& path, size_t from) {
  std::string out;
  for (size_t i = from; i < path.size(); ++i) {
    const std::string& text = path[i].text;
    if (text.empty() || text.find_first_of("/\\") != std::string::npos) return std::nullopt;
    out += cat(i == from ? "" : "/", text);
  }
  return out;
}

std::vector<std::string> with_implied(const std::set<std::string>& methods) {
  std::set<std::string> all = methods;
  if (all.contains("GET")) all.insert("HEAD");
  if (!all.empty()) all.insert("OPTIONS");
  return {all.begin(), all.end()};
}

}  // namespace

struct Router::Node {
  struct Branch {
    PatternPart part;
    std::unique_ptr<Node> node;
  };
  std::vector<Branch> branches;                      // by rank
  std::map<std::string, Route, std::less<>> routes;  // by method

  Node& child(const PatternPart& part) {
    auto it = std::find_if(branches.begin(), branches.end(), [&](const Branch& b) { return b.part.is_like(part); });
    if (it == branches.end()) {
      it = std::upper_bound(branches.begin(), branches.end(), rank(part),
                            [](int wanted, const Branch& b) { return wanted < rank(b.part); });
      it = branches.insert(it, {part, std::make_unique<Node>()});
    }
    return *it->node;
  }

  template <class Visit>
  void each_route(const Visit& visit) const {
    for (const auto& [method, route] : routes) visit(route);
    for (const Branch& branch : branches) branch.node->each_route(visit);
  }
};

struct Router::Search {
  std::string_view method;
  const std::vector<Segment>& path;
  const Route* found = nullptr;
  std::set<std::string> allowed;

  void look_at(const Node& node) {
    auto it = node.routes.find(method);
    if (it == node.routes.end() && method == "HEAD") it = node.routes.find("GET");
    if (it != node.routes.end()) found = &it->second;
    for (const auto& [name, route] : node.routes) allowed.insert(name);
  }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

absl::Status Router::add(std::string method, std::string_view pattern, HttpHandler handler, RouteOptions options) {
  if (!is_method(method)) {
    return absl::InvalidArgumentError(cat("route '", pattern, "': '", method, "' is not a method"));
  }
  ASSIGN_OR_RETURN(Pattern parsed, parse_pattern(pattern));
  Node* node = root_.get();
  for (const PatternPart& part : parsed.parts) node = &node->child(part);
  if (const auto old = node->routes.find(method); old != node->routes.end()) {
    return absl::AlreadyExistsError(
        cat("route '", method, " ", pattern, "' matches the same as '", method, " ", old->second.pattern.text, "'"));
  }
  node->routes.emplace(method, Route{method, std::move(parsed), std::move(handler), std::move(options)});
  return absl::OkStatus();
}

// Goes back from a branch that leads nowhere, so that `/a/b/c` does not hide `/a/{x}/d` from `/a/b/d`.
void Router::walk(const Node& node, Search& search, size_t depth) {
  if (depth == search.path.size()) return search.look_at(node);
  for (const Node::Branch& branch : node.branches) {
    if (search.found != nullptr) return;
    if (branch.part.kind == Kind::Wildcard) {
      if (wildcard_value(search.path, depth)) search.look_at(*branch.node);
    } else if (matches(branch.part, search.path[depth])) {
      walk(*branch.node, search, depth + 1);
    }
  }
}

std::variant<RouteMatch, NoRoute> Router::find(std::string_view method, const std::vector<Segment>& path) const {
  Search search{method, path};
  walk(*root_, search, 0);
  if (search.found == nullptr) return NoRoute{with_implied(search.allowed)};
  RouteMatch match{search.found, {}};
  const std::vector<PatternPart>& parts = search.found->pattern.parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == Kind::Wildcard) {
      match.parameters.add(parts[i].text, wildcard_value(path, i).value_or(""));
    } else if (parts[i].kind == Kind::Parameter) {
      match.parameters.add(parts[i].text, path[i].text.substr(0, path[i].text.size() - parts[i].verb.size()));
    }
  }
  return match;
}

std::vector<std::string> Router::methods() const {
  std::set<std::string> all;
  root_->each_route([&](const Route& route) { all.insert(route.method); });
  return with_implied(all);
}

std::vector<std::string> Router::plain_paths() const {
  std::vector<std::string> out;
  root_->each_route([&](const Route& route) {
    if (route.method == "GET" && route.pattern.is_literal()) out.push_back(route.pattern.text);
  });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hodei::api
