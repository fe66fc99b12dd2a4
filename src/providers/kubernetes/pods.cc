#include "src/providers/kubernetes/pods.h"

#include "src/base/http/percent.h"
#include "src/base/status.h"
#include "src/providers/kubernetes/json_fields.h"
#include "src/providers/kubernetes/names.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

constexpr int kPage = 250;
constexpr int kMostPages = 1000;
constexpr int kMostRestarts = 3;       // of a list whose pages ran out (410)
constexpr int64_t kWatchSeconds = 50;  // short, so that a connection that died silently costs no more
constexpr Duration kWatchIdle = 65s;
constexpr int64_t kMostLogBytes = 4 << 20;

std::string version_of(const json& object) { return text(at(object, "metadata"), "resourceVersion"); }

std::string dumped(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

absl::Status fault_of_event(const json& object) {
  if (!object.is_object()) return absl::UnavailableError("the watch returned an error without a message");
  return status_of(static_cast<int>(number(object, "code")), text(object, "reason"), text(object, "message"));
}

absl::StatusOr<PodEvent> read_event(std::string_view line) {
  const json event = json::parse(line, nullptr, false);
  const json& object = at(event, "object");
  if (object.is_null()) return absl::UnavailableError("the watch returned something that is not an event");
  const std::string type = text(event, "type");
  if (type == "ERROR" || !object.is_object()) return fault_of_event(object);
  PodEvent out;
  out.resource_version = version_of(object);
  if (type == "BOOKMARK") {
    out.kind = PodEvent::Kind::Bookmark;
    return out;
  }
  out.kind = type == "DELETED" ? PodEvent::Kind::Deleted : PodEvent::Kind::Changed;
  out.pod = read_pod(object);
  return out;
}

}  // namespace

std::string Pods::path(std::string_view rest) const { return cat("/api/v1/namespaces/", namespace_, rest); }

absl::StatusOr<json> Pods::ask(const ApiRequest& request) {
  ASSIGN_OR_RETURN(const http::Response response, api_.send(request));
  RETURN_IF_ERROR(status_of(response));
  json body = json::parse(response.body, nullptr, false);
  if (!body.is_object()) return absl::UnavailableError("the API server did not answer with a JSON object");
  return body;
}

absl::StatusOr<PodView> Pods::create(const json& pod) {
  ASSIGN_OR_RETURN(const json made, ask({.method = "POST", .path = path("/pods"), .body = dumped(pod)}));
  return read_pod(made);
}

absl::StatusOr<std::optional<PodView>> Pods::get(const std::string& name) {
  const absl::StatusOr<json> found = ask({.path = path(cat("/pods/", name))});
  if (absl::IsNotFound(found.status())) return std::optional<PodView>();
  if (!found.ok()) return found.status();
  return std::optional<PodView>(read_pod(*found));
}

absl::StatusOr<PodList> Pods::list(const std::string& selector) {
  const std::string query = cat("/pods?labelSelector=", http::percent_encoded(selector), "&limit=", kPage);
  int restarts = 0;
  PodList out;
  std::string next;
  for (int pages = 0; pages < kMostPages; ++pages) {
    const absl::StatusOr<json> page =
        ask({.path = path(next.empty() ? query : cat(query, "&continue=", http::percent_encoded(next)))});
    if (absl::IsOutOfRange(page.status()) && !next.empty() && restarts++ < kMostRestarts) {
      out = {};
      next.clear();
      continue;
    }
    if (!page.ok()) return page.status();
    for (const json& pod : at(*page, "items")) out.pods.push_back(read_pod(pod));
    out.resource_version = version_of(*page);
    next = text(at(*page, "metadata"), "continue");
    if (next.empty()) return out;
  }
  return absl::ResourceExhaustedError(
      cat("the namespace has more than ", kMostPages * kPage, " pods of this provider"));
}

absl::Status Pods::remove(const std::string& name, const std::string& uid, int64_t grace_seconds) {
  const json options = {{"apiVersion", "v1"},
                        {"kind", "DeleteOptions"},
                        {"gracePeriodSeconds", grace_seconds},
                        {"propagationPolicy", "Background"},
                        {"preconditions", {{"uid", uid}}}};
  const absl::Status done =
      ask({.method = "DELETE", .path = path(cat("/pods/", name)), .body = dumped(options)}).status();
  // A conflict: the UID is not this one's any more.
  return absl::IsNotFound(done) || absl::IsAborted(done) ? absl::OkStatus() : done;
}

absl::Status Pods::create_secret(const json& secret) {
  const absl::Status done = ask({.method = "POST", .path = path("/secrets"), .body = dumped(secret)}).status();
  return absl::IsAlreadyExists(done) ? absl::OkStatus() : done;
}

absl::Status Pods::remove_secret(const std::string& name) {
  const absl::Status done = ask({.method = "DELETE", .path = path(cat("/secrets/", name))}).status();
  return absl::IsNotFound(done) ? absl::OkStatus() : done;
}

absl::StatusOr<std::string> Pods::logs(const std::string& name, const std::string& container, size_t tail) {
  const std::string query = cat("/log?container=", container, "&tailLines=", tail, "&limitBytes=", kMostLogBytes);
  ASSIGN_OR_RETURN(const http::Response response, api_.send({.path = path(cat("/pods/", name, query))}));
  if (response.status == 400) return std::string();  // "… is waiting to start"
  RETURN_IF_ERROR(status_of(response));
  return response.body;
}

absl::Status Pods::watch(const std::string& selector, const std::string& resource_version, std::stop_token stop,
                         const std::function<void()>& on_begin, const std::function<void(const PodEvent&)>& on_event) {
  const std::string query =
      cat("/pods?watch=true&allowWatchBookmarks=true&labelSelector=", http::percent_encoded(selector),
          "&resourceVersion=", http::percent_encoded(resource_version), "&timeoutSeconds=", kWatchSeconds);
  return api_.stream(path(query), kWatchIdle, std::move(stop), on_begin, [&](std::string_view line) -> absl::Status {
    ASSIGN_OR_RETURN(const PodEvent event, read_event(line));
    on_event(event);
    return absl::OkStatus();
  });
}

}  // namespace hodei::providers::kubernetes
