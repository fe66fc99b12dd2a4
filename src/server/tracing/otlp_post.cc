#include "src/server/tracing/otlp_post.h"

#include "src/base/http/client.h"
#include "src/base/http/url.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr Duration kConnectTime = 3s;
constexpr Duration kTotalTime = 10s;

// What the standard of OTLP calls worth another try.
bool is_passing(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

}  // namespace

absl::StatusOr<SpanExporter::Post> otlp_post(const std::string& endpoint) {
  std::string url = endpoint;
  while (url.ends_with('/')) url.pop_back();
  url += "/v1/traces";
  if (const auto parsed = http::parse_url(url); !parsed.ok()) {
    return bad_field("otlp_endpoint", std::string(parsed.status().message()),
                     "; set the base URL of a collector, such as http://localhost:4318");
  }
  return SpanExporter::Post([url](const std::string& json) -> absl::Status {
    http::Request request;
    request.method = "POST";
    request.url = url;
    request.headers = {{"content-type", "application/json"}};
    request.body = json;
    http::Options options;
    options.connect_timeout = kConnectTime;
    options.total_timeout = kTotalTime;
    const absl::StatusOr<http::Response> answer = http::call(request, options);
    RETURN_IF_ERROR(answer.status());
    if (answer->ok()) return absl::OkStatus();
    const std::string what = cat(url, " answers ", http::describe(*answer));
    return is_passing(answer->status) ? absl::UnavailableError(what) : absl::InvalidArgumentError(what);
  });
}

}  // namespace hodei::server
