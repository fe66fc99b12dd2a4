// A server stream apart from its transport: gRPC, server-sent events and forwarding pull it in the same way.
//
//   next() → Message  `out` has the next one: send it, then call next() again
//          → Wait     `wake` will be called; then call next() again
//          → End      status() says how it ended
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"

namespace hodei::api {

enum class Next : uint8_t { Message, Wait, End };

template <class Message>
class Source {
 public:
  virtual ~Source() = default;

  // Once, before the first next(). `wake` may be called from any thread, also before start() has returned, and more
  // often than needed; it only passes the word on.
  virtual void start(std::function<void()> wake) = 0;
  // One call at a time, never on the loop's thread.
  virtual Next next(Message& out) = 0;
  // After End.
  virtual absl::Status status() const = 0;
  // Whether next() may wait for a disk: then it is called on threads for files.
  virtual bool reads_files() const { return false; }
};

// A call that is refused has no source.
template <class Message>
using SourceOr = absl::StatusOr<std::shared_ptr<Source<Message>>>;

}  // namespace hodei::api
