#include "src/providers/kubernetes/health.h"

#include "src/base/status.h"
#include "src/providers/kubernetes/json_fields.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

struct Right {
  const char* verb;
  const char* resource;
  const char* subresource;
  bool needed;  // without it nothing works; without the others something is missing
};

constexpr Right kRights[] = {
    {"create", "pods", "", true}, {"get", "pods", "", true},       {"list", "pods", "", true},
    {"delete", "pods", "", true}, {"create", "secrets", "", true}, {"delete", "secrets", "", false},
    {"watch", "pods", "", false}, {"get", "pods", "log", false},
};

std::string as_text(const Right& right) {
  return cat(right.verb, " ", right.resource, right.subresource[0] == '\0' ? "" : "/", right.subresource);
}

absl::StatusOr<bool> is_allowed(Api& api, const std::string& namespace_name, const Right& right) {
  json attributes = {{"namespace", namespace_name}, {"verb", right.verb}, {"group", ""}, {"resource", right.resource}};
  if (right.subresource[0] != '\0') attributes["subresource"] = right.subresource;
  const json review = {{"apiVersion", "authorization.k8s.io/v1"},
                       {"kind", "SelfSubjectAccessReview"},
                       {"spec", {{"resourceAttributes", attributes}}}};
  ASSIGN_OR_RETURN(
      const http::Response response,
      api.send(
          {.method = "POST", .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", .body = review.dump()}));
  RETURN_IF_ERROR(status_of(response));
  const json answer = json::parse(response.body, nullptr, false);
  return at(at(answer, "status"), "allowed") == json(true);
}

Health unhealthy(std::string reason) { return {.state = HealthState::Unhealthy, .reason = std::move(reason)}; }

}  // namespace

Health check_health(Api& api, const std::string& namespace_name) {
  const absl::StatusOr<http::Response> ready = api.send({.path = "/readyz", .patient = false});
  if (!ready.ok()) return unhealthy(std::string(ready.status().message()));
  // Some clusters hide it from all but their own; then the reviews below must do.
  if (!ready->ok() && ready->status != 403 && ready->status != 404) {
    return unhealthy(cat("the API server is not ready: ", std::string(status_of(*ready).message())));
  }
  std::string missing;
  for (const Right& right : kRights) {
    const absl::StatusOr<bool> allowed = is_allowed(api, namespace_name, right);
    if (!allowed.ok()) return unhealthy(std::string(allowed.status().message()));
    if (*allowed) continue;
    if (right.needed) {
      return unhealthy(cat("not allowed to ", as_text(right), " in namespace ", namespace_name,
                           "; deploy/kubernetes contains the required role"));
    }
    missing += cat(missing.empty() ? "" : ", ", as_text(right));
  }
  if (missing.empty()) return {.state = HealthState::Healthy};
  return {.state = HealthState::Degraded, .reason = cat("not allowed to ", missing, " in namespace ", namespace_name)};
}

}  // namespace hodei::providers::kubernetes
