// Builds the masks of executions on a thread, so that heartbeats do not wait: a mask for 64 KiB of secrets takes tens
// of milliseconds and some megabytes. Executions with the same secrets share one mask.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "src/base/ids.h"
#include "src/worker/output/mask.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class MaskBuilder {
 public:
  static constexpr size_t kAtOnce = 1024;  // bytes of secrets that are not worth a thread

  using Secrets = std::map<std::string, std::string>;  // by name
  using SharedMask = std::shared_ptr<const Mask>;      // null: there is nothing to look for

  MaskBuilder();
  ~MaskBuilder() { stop(); }
  void start();
  void stop();

  // None: it is being made, and take() brings it.
  std::optional<SharedMask> ask(ExecutionId execution, const Secrets& secrets);

  int ready_fd() const { return ready_.get(); }
  struct Made {
    ExecutionId execution;
    SharedMask mask;
  };
  std::vector<Made> take();

 private:
  using Key = std::array<uint8_t, 32>;  // of the values: two executions may know a secret by two names
  struct Order {
    ExecutionId execution;
    Key key;
    Secrets secrets;
  };
  void run();
  SharedMask known(const Key& key) const;

  Fd ready_;
  std::thread thread_;
  std::mutex mutex_;                                // guards all below
  std::deque<Order> orders_;                        // at most one for each execution that is held
  std::map<Key, std::weak_ptr<const Mask>> masks_;  // those in use
  std::vector<Made> made_;
  bool stopping_ = false;
  std::condition_variable wake_;
};

}  // namespace hodei::worker
