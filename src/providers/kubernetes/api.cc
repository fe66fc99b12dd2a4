#include "src/providers/kubernetes/api.h"

#include <charconv>

#include "src/base/clip.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/kubernetes/json_fields.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

constexpr Duration kSendTime = 25s;  // below the limit that callers set around us
constexpr Duration kConnectTime = 5s;
constexpr int kMostTries = 8;
constexpr int kMostConnections = 3;  // to a server that does not even take them
constexpr Duration kFirstPause = 200ms;
constexpr Duration kLongestPause = 10s;
constexpr int64_t kLargestAnswer = 64 << 20;  // a page of pods
constexpr size_t kLongestLine = 4 << 20;      // more than the store of a cluster takes for one object
constexpr size_t kShownOfAMessage = 500;

bool is_passing(int status) {
  return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

// Retry-After in seconds; some servers give a date, which is as good as nothing told.
Duration told_pause(const http::Response& response, Duration otherwise) {
  const std::string told = response.header("retry-after");
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), seconds);
  if (told.empty() || error != std::errc() || end != told.data() + told.size() || seconds < 0) return otherwise;
  return std::min<Duration>(std::chrono::seconds(std::min<int64_t>(seconds, 3600)), kLongestPause);
}

http::Request request_for(const ApiRequest& request, const Login& login) {
  http::Request out;
  out.method = request.method;
  out.url = cat(login.server, request.path);
  out.headers["Accept"] = "application/json";
  if (!login.authorization.empty()) out.headers["Authorization"] = login.authorization;
  if (!request.body.empty()) out.headers["Content-Type"] = "application/json";
  out.body = request.body;
  return out;
}

http::Options options_for(const Login& login) {
  http::Options out;
  out.tls = login.tls;
  out.connect_timeout = kConnectTime;
  out.max_body = kLargestAnswer;
  out.max_redirects = 0;  // an API server does not redirect; who does wants our credentials
  return out;
}

// Lines of a stream, whatever pieces it comes in.
class Lines {
 public:
  explicit Lines(const std::function<absl::Status(std::string_view)>& on_line) : on_line_(on_line) {}

  absl::Status add(std::string_view piece) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      if (rest_.size() + std::min(end, piece.size()) > kLongestLine) {
        return absl::ResourceExhaustedError(cat("a line of the watch is longer than ", kLongestLine, " bytes"));
      }
      rest_ += piece.substr(0, end);
      if (end == std::string_view::npos) return absl::OkStatus();
      piece.remove_prefix(end + 1);
      const std::string line = std::move(rest_);
      rest_.clear();
      if (!line.empty()) RETURN_IF_ERROR(on_line_(line));
    }
    return absl::OkStatus();
  }

 private:
  const std::function<absl::Status(std::string_view)>& on_line_;
  std::string rest_;
};

bool has(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

// 403 is the answer to many questions.
absl::Status forbidden(const std::string& message) {
  if (has(message, "exceeded quota"))
    return absl::ResourceExhaustedError(cat("the namespace's quota is used up: ", message));
  if (has(message, "failed quota")) {
    return absl::FailedPreconditionError(
        cat("the namespace's quota requires limits: set --cpu and --memory on the job, or add a LimitRange to the "
            "namespace: ",
            message));
  }
  if (has(message, "violates PodSecurity") || has(message, "usage per")) return absl::FailedPreconditionError(message);
  return absl::PermissionDeniedError(cat(message, "; deploy/kubernetes contains the required role"));
}

}  // namespace

absl::StatusOr<http::Response> Api::send_once(const ApiRequest& request, Duration limit) {
  for (bool again = true;; again = false) {
    ASSIGN_OR_RETURN(const Login login, access_.login());
    http::Options options = options_for(login);
    options.total_timeout = limit;
    absl::StatusOr<http::Response> response = http::call(request_for(request, login), options);
    if (!response.ok() || response->status != 401 || !again || !access_.forget(login)) return response;
  }
}

absl::StatusOr<std::string> Api::server_url() {
  ASSIGN_OR_RETURN(const Login login, access_.login());
  return login.server;
}

absl::StatusOr<http::Response> Api::send(const ApiRequest& request) {
  const SystemClock clock;
  const MonoTime end = clock.now().mono + kSendTime;
  Duration pause = kFirstPause;
  for (int tries = 1;; ++tries) {
    absl::StatusOr<http::Response> response = send_once(request, end - clock.now().mono);
    const bool passing = response.ok() ? is_passing(response->status) : absl::IsUnavailable(response.status());
    if (!passing || !request.patient) return response;
    const Duration wait = response.ok() ? told_pause(*response, pause) : pause;
    if (tries >= (response.ok() ? kMostTries : kMostConnections) || clock.now().mono + wait >= end) return response;
    pause_for(wait);
    pause = std::min(pause * 2, kLongestPause);
  }
}

absl::Status Api::stream(const std::string& path, Duration idle, std::stop_token stop,
                         const std::function<void()>& on_begin,
                         const std::function<absl::Status(std::string_view line)>& on_line) {
  ASSIGN_OR_RETURN(const Login login, access_.login());
  Lines lines(on_line);
  http::Request request = request_for({.path = path}, login);
  request.on_head = [&on_begin](const http::Response&) {
    on_begin();
    return absl::OkStatus();
  };
  request.on_body = [&lines](std::string_view piece) { return lines.add(piece); };
  http::Options options = options_for(login);
  options.idle_timeout = idle;
  options.max_body = INT64_MAX;
  options.stop = std::move(stop);
  ASSIGN_OR_RETURN(const http::Response response, http::call(request, options));
  if (response.status == 401) access_.forget(login);
  return status_of(response);
}

absl::Status status_of(const http::Response& response) {
  if (response.ok()) return absl::OkStatus();
  const json body = json::parse(response.body, nullptr, false);
  const std::string message = text(body, "message");
  return status_of(response.status, text(body, "reason"), message.empty() ? http::describe(response) : message);
}

absl::Status status_of(int code, const std::string& reason, const std::string& full) {
  const std::string message(clip(full, kShownOfAMessage));
  switch (code) {
    case 400:
    case 405:
    case 413:
    case 415:
    case 422: return absl::InvalidArgumentError(message);
    case 401: return absl::UnauthenticatedError(cat("the API server rejected the credentials: ", message));
    case 403: return forbidden(message);
    case 404: return absl::NotFoundError(message);
    case 409: return reason == "AlreadyExists" ? absl::AlreadyExistsError(message) : absl::AbortedError(message);
    case 410: return absl::OutOfRangeError(message);
    case 429: return absl::UnavailableError(cat("the API server is throttling requests: ", message));
    default: return absl::UnavailableError(cat("the API server answers ", code, ": ", message));
  }
}

}  // namespace hodei::providers::kubernetes
