#include "src/api/http/router.h"

#include "src/base/text.h"

namespace hodei::api {

void Router::get(const std::string& path, HttpHandler handler) { handlers_[path]["GET"] = std::move(handler); }

void Router::handle(const HttpRequest& request, const Respond& respond) const {
  const auto path = handlers_.find(request.path);
  if (path == handlers_.end()) {
    std::string known;
    for (const auto& [each, methods] : handlers_) known += cat(known.empty() ? "" : ", ", each);
    return respond([known] { return HttpResponse{404, cat("not found; try ", known, "\n")}; });
  }
  const auto method = path->second.find(request.method == "HEAD" ? "GET" : request.method);
  if (method == path->second.end()) {
    return respond([] { return HttpResponse{405, "method not allowed on this path\n"}; });
  }
  method->second(request, respond);
}

}  // namespace hodei::api
