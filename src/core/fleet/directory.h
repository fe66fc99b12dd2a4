// Answers about workers.
#pragma once

#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Directory {
 public:
  explicit Directory(const Workers& workers) : workers_(workers) {}

  Answer decide(const DescribeWorkers& q, Turn& turn) const;
  Answer decide(const FindSession& q, Turn& turn) const;

 private:
  const Workers& workers_;
};

}  // namespace hodei::core
