// `hodei:` URLs: the server's own store, over the worker's connection.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "src/base/ids.h"

namespace grpc {
class Channel;
}

namespace hodei::worker {

class ServerStore {
 public:
  ServerStore() = default;
  ServerStore(std::shared_ptr<grpc::Channel> channel, std::string session_id)
      : channel_(std::move(channel)), session_id_(std::move(session_id)) {}

  absl::Status fetch(const std::string& name, ExecutionId execution, int file, int64_t max_bytes,
                     const std::stop_token& stop) const;
  absl::Status send(int file, const std::string& name, ExecutionId execution, const std::stop_token& stop) const;

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::string session_id_;
};

}  // namespace hodei::worker
