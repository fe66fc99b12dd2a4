// A worker that speaks the stream but starts no process: every order is answered with "started" and "succeeded" at
// once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "grpcpp/channel.h"

namespace hodei::bench {

class NoopWorker {
 public:
  // Called on gRPC's threads, also on two at once.
  struct Calls {
    std::function<void(int jobs)> ended = {};                    // their results are durable
    std::function<void(const std::string& spec)> received = {};  // once per order, before it is answered
  };

  NoopWorker(std::shared_ptr<grpc::Channel> channel, std::string id, int slots, Calls calls);
  ~NoopWorker();  // leaves for good

 private:
  class Stream;
  std::shared_ptr<grpc::Channel> channel_;
  std::string id_;
  std::string session_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace hodei::bench
