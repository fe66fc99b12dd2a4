// The HTTP door: listens, reads requests within limits, asks the router, answers.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/api/http/router.h"
#include "src/base/time.h"

namespace hodei::api {

// Limits at the edge; named in docs/limits.md.
struct HttpLimits {
  size_t connections = 256;  // more are closed at once
  size_t header_bytes = 16 << 10;
  size_t body_bytes = 1 << 20;
  Duration idle = 75s;     // between two requests of a connection
  Duration request = 10s;  // from a request's first byte to its last
  Duration answer = 10s;   // for the handler, then for the answer to be taken
};

class HttpHost {
 public:
  // Listens at once; port 0: any that is free.
  static absl::StatusOr<std::unique_ptr<HttpHost>> open(const std::string& host, int port, Router router,
                                                        HttpLimits limits = {});
  ~HttpHost();

  // Handlers may still answer afterwards, as long as this object lives; nobody hears it.
  void stop();
  int port() const;

 private:
  struct Parts;
  explicit HttpHost(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api
