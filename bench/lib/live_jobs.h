// How many jobs a server has that have not ended yet.
#pragma once

#include <cstdint>
#include <memory>

#include "grpcpp/channel.h"

namespace hodei::bench {

class LiveJobs {
 public:
  explicit LiveJobs(std::shared_ptr<grpc::Channel> channel);

  int64_t count() const;                     // waiting and running; answered by the loop, so never too early
  bool wait_for_none(double seconds) const;  // false: there are still some
  int64_t ended_badly() const;               // 1 if any job did not succeed

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

[[noreturn]] void give_up(const std::string& what);

}  // namespace hodei::bench
