// Withdraws workers that are being created and that no job waits for any more, and fails jobs for which no worker can
// be created.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/provision/context.h"

namespace hodei::core {

class Withdrawals {
 public:
  explicit Withdrawals(const ProvisionContext& context) : context_(context) {}

  void sweep_unwanted(Turn& turn);
  void fail_unmakable(Turn& turn);
  // Withdraws a worker that does not start, to make room for one of this shape. False: there is none.
  bool yield_place(const Shape& shape, Turn& turn);

 private:
  std::vector<LiveWorker*> surplus(const Turn& turn) const;
  int64_t waiting_for(const std::string& shape, const std::string& ns, const Turn& turn) const;
  LiveWorker* stuck_in_the_way(const Shape& shape, const Turn& turn);
  bool place_is_coming(const std::string& provider) const;
  bool is_unmakable(const WaitingShape& waiting, const Turn& turn) const;

  const ProvisionContext& context_;
};

}  // namespace hodei::core
