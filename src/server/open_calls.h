// The calls that stay open until something happens: streams, and unary calls that wait for an event. A server that
// stops ends them all at once, instead of waiting for what they wait for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "absl/status/status.h"

namespace hodei::server {

class OpenCalls {
 public:
  // Ends one call. From any thread, at most once; it must own what it touches, because the call may end by itself at
  // the same moment.
  using End = std::function<void(const absl::Status& why)>;

  // A call that comes while the server stops is ended before this returns. The answer is for remove().
  uint64_t add(End end);
  void remove(uint64_t call);

  // UNAVAILABLE, with a hint to come back. Final: calls that come later are ended too.
  void end_all();
  size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, End> calls_;
  uint64_t next_ = 1;
  bool stopping_ = false;
};

}  // namespace hodei::server
