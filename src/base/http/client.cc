#include "src/base/http/client.h"

#include <cctype>
#include <cstdlib>

#include "src/base/clip.h"
#include "src/base/http/exchange.h"
#include "src/base/status.h"

namespace hodei::http {
namespace {

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The request that a redirect asks for: 303 always, and 301 and 302 after a POST, ask to GET what is there.
void turn_into_get(int status, Request& request) {
  const bool to_get = (status == 303 && request.method != "HEAD") || (status < 303 && request.method == "POST");
  if (!to_get) return;
  request.method = "GET";
  request.body.clear();
  request.body_size = 0;
  request.read_body = nullptr;
  request.headers.erase("Content-Type");
}

bool same_origin(const Url& a, const Url& b) { return a.secure == b.secure && a.host == b.host && a.port == b.port; }

}  // namespace

std::string Response::header(const std::string& name) const {
  const auto it = headers.find(name);
  return it == headers.end() ? std::string() : it->second;
}

int64_t Response::content_length() const {
  const std::string text = header("content-length");
  return text.empty() ? -1 : std::strtoll(text.c_str(), nullptr, 10);
}

absl::StatusOr<Response> call(const Request& original, const Options& options) {
  const SystemClock clock;
  const MonoTime end = options.total_timeout > Duration::zero() ? clock.now().mono + options.total_timeout : kNever;
  Request request = original;
  ASSIGN_OR_RETURN(Url url, parse_url(request.url));
  for (int redirects = 0;; ++redirects) {
    ASSIGN_OR_RETURN(Response response, exchange(url, request, options, end));
    if (!is_redirect(response.status)) return response;
    if (redirects == options.max_redirects) {
      return absl::UnavailableError(cat(url.text(), ": redirected more than ", options.max_redirects, " times"));
    }
    ASSIGN_OR_RETURN(const Url next, follow_location(url, response.header("location")));
    turn_into_get(response.status, request);
    // What is meant for one server is not told to another.
    if (!same_origin(url, next)) {
      request.headers.erase("Authorization");
      request.headers.erase("Cookie");
    }
    if (!options.unix_socket.empty() && !same_origin(url, next)) {
      return absl::UnavailableError(cat(url.text(), ": redirects to ", next.text(), ", away from its unix socket"));
    }
    url = next;
  }
}

std::string describe(const Response& response) {
  const std::string reason = reason_phrase(response.status);
  std::string text = cat(response.status, reason.empty() ? "" : " ", reason);
  std::string words;
  for (const char c : clip(response.body, 200)) words.push_back(std::iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
  if (!words.empty()) text += cat(": ", words);
  return text;
}

}  // namespace hodei::http
