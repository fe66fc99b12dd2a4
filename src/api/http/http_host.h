// The HTTP server: listens, reads requests within limits, asks the router, answers. It has two threads, whatever
// clients do: nothing on them blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/api/http/http_limits.h"
#include "src/api/http/router.h"

namespace hodei::api {

class HttpHost {
 public:
  // Listens at once; port 0: any that is free. Filters run in the given order.
  static absl::StatusOr<std::unique_ptr<HttpHost>> open(const std::string& host, int port, Router router,
                                                        HttpLimits limits = {}, std::vector<HttpFilter> filters = {});
  ~HttpHost();

  // Closes idle connections and streams, gives what is being answered a moment to end, then closes that too. Handlers
  // may still answer afterwards; nobody hears it.
  void stop();
  int port() const;

 private:
  struct Parts;
  explicit HttpHost(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
