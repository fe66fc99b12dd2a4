// A worker that speaks the stream but starts no process: every order is answered with "started" and "succeeded" at once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "grpcpp/channel.h"

namespace hodei::bench {

class NoopWorker {
 public:
  using Ended = std::function<void(int jobs)>;          // their results are durable; called on a gRPC thread
  using Received = std::function<void(int jobs)>;

  NoopWorker(std::shared_ptr<grpc::Channel> channel, const std::string& id, int slots, Ended ended, Received received = {});
  ~NoopWorker();

 private:
  class Stream;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace hodei::bench
