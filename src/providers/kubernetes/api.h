// Sends one REST request to the API server, with retries while the server is busy or restarting.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "src/base/http/client.h"
#include "src/providers/kubernetes/access.h"

namespace hodei::providers::kubernetes {

struct ApiRequest {
  std::string method = "GET";
  std::string path;       // with its query
  std::string body = {};  // JSON
  bool patient = true;    // false: the first answer counts, whatever it is
};

class Api {
 public:
  explicit Api(const KubernetesOptions& options) : access_(options) {}

  // An answer of any status but those that pass: throttling (429, after the time it names) and failures of the server
  // (5xx) are tried again, a credential that ran out is fetched anew. Within a limit; then the last answer counts.
  // Everything that we send may be sent twice: names are ours, deletions name a UID.
  absl::StatusOr<http::Response> send(const ApiRequest& request);

  // https://host:port
  absl::StatusOr<std::string> server_url();

  // A GET whose answer has no end: calls back when it begins, then for each line, until the server, `stop` or an error
  // of `on_line` ends it. OK when the server ended it in good order.
  absl::Status stream(const std::string& path, Duration idle, std::stop_token stop,
                      const std::function<void()>& on_begin,
                      const std::function<absl::Status(std::string_view line)>& on_line);

 private:
  absl::StatusOr<http::Response> send_once(const ApiRequest& request, Duration limit);

  Access access_;
};

// What an answer that is no success means:
//   INVALID_ARGUMENT, FAILED_PRECONDITION, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, UNAUTHENTICATED
//   RESOURCE_EXHAUSTED   a quota
//   OUT_OF_RANGE         a resourceVersion that is too old (410)
//   UNAVAILABLE          the server, or throttling
absl::Status status_of(const http::Response& response);

// The same from the fields of a Status object, which a watch brings inside.
absl::Status status_of(int code, const std::string& reason, const std::string& message);

}  // namespace hodei::providers::kubernetes
