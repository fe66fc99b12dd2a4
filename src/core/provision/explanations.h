// Explains why a worker is, or is not, being created for a job that fits on no worker.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "src/core/overview/commands.h"
#include "src/core/provision/context.h"

namespace hodei::core {

class Explanations {
 public:
  explicit Explanations(const ProvisionContext& context) : context_(context) {}

  // Job 0: one that may be submitted.
  void explain(const Shape& shape, const Namespace& ns, JobId job, const Turn& turn, Explanation& out) const;
  // As text; empty: pool and provider are known. Such a job waits, perhaps for ever: the pool or provider may yet come,
  // but more often its name is wrong.
  std::string unknown_place(const Shape& shape) const;
  absl::Status check_abilities(const Shape& shape) const;
  bool is_wanted(const LiveProvider& provider) const;  // jobs or pools need it

 private:
  void explain_making(const Shape& shape, JobId job, Explanation& out) const;

  const ProvisionContext& context_;
};

}  // namespace hodei::core
