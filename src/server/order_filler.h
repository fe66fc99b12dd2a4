// Completes messages to workers: the carrier leaves open what would have to be read, because it works on the loop's
// thread. Used by the writer of orders on its threads; the simulator calls it directly.
#pragma once

#include <functional>
#include <vector>

#include "src/server/worker_links.h"
#include "src/store/store.h"

namespace hodei::server {

class OrderFiller {
 public:
  // Up to where the output of an execution is durable. May block.
  using DurableOffset = std::function<int64_t(ExecutionId)>;

  OrderFiller(store::Reader& reader, DurableOffset durable_offset)
      : reader_(reader), durable_offset_(std::move(durable_offset)) {}

  // Specs that are missing, with one read for all messages, and the positions of output in welcomes. A message with an
  // order whose spec cannot be read becomes `unreadable` and loses its orders. From any thread.
  void fill(const std::vector<ToWorker*>& messages) const;

 private:
  void fill_specs(const std::vector<ToWorker*>& messages) const;

  store::Reader& reader_;
  const DurableOffset durable_offset_;
};

}  // namespace hodei::server
