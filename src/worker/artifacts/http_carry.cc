#include "src/worker/artifacts/http_carry.h"

#include <unistd.h>

#include <cerrno>

#include "src/base/http/client.h"
#include "src/base/status.h"
#include "src/worker/artifacts/retry.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr Duration kIdle = 60s;

// Whether another try may help is in the code: UNAVAILABLE.
absl::Status judge(const http::Response& response) {
  if (response.ok()) return absl::OkStatus();
  const std::string words = cat("the server answered ", http::describe(response));
  if (response.status == 429 || response.status >= 500) return absl::UnavailableError(words);
  return absl::FailedPreconditionError(words);
}

// The part of one download that has arrived so far, over several connections.
class Download {
 public:
  Download(const std::string& url, int file, int64_t max_bytes, const std::stop_token& stop)
      : url_(url), file_(file), max_bytes_(max_bytes), stop_(stop) {}

  int64_t received() const { return received_; }

  absl::Status attempt() {
    http::Request request{.url = url_};
    // Without a mark of the version, a continuation might belong to other content.
    if (received_ > 0 && !version_.empty()) {
      request.headers["Range"] = cat("bytes=", received_, "-");
      request.headers["If-Range"] = version_;
    }
    request.on_head = [this](const http::Response& head) { return begin(head); };
    request.on_body = [this](std::string_view piece) { return take(piece); };
    ASSIGN_OR_RETURN(const http::Response response,
                     http::call(request, {.idle_timeout = kIdle, .max_body = max_bytes_, .stop = stop_}));
    if (response.status == 416) version_.clear();  // begin again, without a range
    if (response.status == 416) return absl::UnavailableError("the server cannot send the rest of it");
    return judge(response);
  }

 private:
  absl::Status begin(const http::Response& head) {
    const bool goes_on = head.status == 206 && head.header("content-range").starts_with(cat("bytes ", received_, "-"));
    if (head.status == 206 && !goes_on)
      return absl::UnavailableError("the server sent a different range than requested");
    if (!goes_on) {
      received_ = 0;
      if (ftruncate(file_, 0) != 0) return errno_status(errno, "truncating");
    }
    version_ = head.header("etag");
    if (version_.empty() || version_.starts_with("W/")) version_ = head.header("last-modified");
    return absl::OkStatus();
  }

  absl::Status take(std::string_view piece) {
    if (received_ + static_cast<int64_t>(piece.size()) > max_bytes_) {
      return absl::ResourceExhaustedError(cat("is larger than the limit of ", max_bytes_, " bytes"));
    }
    while (!piece.empty()) {
      const ssize_t wrote = pwrite(file_, piece.data(), piece.size(), received_);
      if (wrote <= 0) return errno_status(errno, "writing");
      received_ += wrote;
      piece.remove_prefix(static_cast<size_t>(wrote));
    }
    return absl::OkStatus();
  }

  const std::string& url_;
  const int file_;
  const int64_t max_bytes_;
  const std::stop_token& stop_;
  int64_t received_ = 0;
  std::string version_;
};

}  // namespace

absl::Status fetch_http(const std::string& url, int file, int64_t max_bytes, const std::stop_token& stop) {
  Download download(url, file, max_bytes, stop);
  return with_retries(
      stop, [&] { return download.attempt(); }, [&] { return download.received(); });
}

absl::Status send_http(int file, int64_t size, const std::string& url, const std::stop_token& stop) {
  http::Request request{.method = "PUT", .url = url, .body_size = size};
  request.headers["Content-Type"] = "application/octet-stream";
  request.read_body = [file](int64_t offset, std::span<char> into) -> absl::StatusOr<size_t> {
    const ssize_t got = pread(file, into.data(), into.size(), offset);
    if (got < 0) return absl::ErrnoToStatus(errno, "reading");
    return static_cast<size_t>(got);
  };
  const auto attempt = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const http::Response response, http::call(request, {.idle_timeout = kIdle, .stop = stop}));
    return judge(response);
  };
  return with_retries(stop, attempt, [] { return 0; });
}

}  // namespace hodei::worker
