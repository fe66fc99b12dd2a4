// One HTTP request and its response on a connection of its own. Boost.Beast is used only behind this header.
#pragma once

#include "src/base/http/client.h"
#include "src/base/http/url.h"

namespace hodei::http {

// Redirects come back as they are. `end`: no later than this.
absl::StatusOr<Response> exchange(const Url& url, const Request& request, const Options& options, MonoTime end);

std::string reason_phrase(int status);

}  // namespace hodei::http
