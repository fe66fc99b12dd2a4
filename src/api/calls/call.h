// A call apart from its transport: who calls, what was sent with the request, where the answer goes, and whether the
// caller still waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "src/base/hash.h"
#include "src/core/envelope.h"

namespace hodei::api {

// Whether the caller has gone away. The transport says so; a call that takes long looks, or asks to be told.
class Cancellation {
 public:
  bool is_cancelled() const { return cancelled_; }

  // `tell` is called once, from any thread, when the caller goes away; at once if that has happened already.
  void on_cancel(std::function<void()> tell) {
    {
      const std::lock_guard lock(mutex_);
      if (!cancelled_) {
        tell_ = std::move(tell);
        return;
      }
    }
    tell();
  }

  void cancel() {
    std::function<void()> tell;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      tell = std::exchange(tell_, nullptr);
    }
    if (tell) tell();
  }

 private:
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;  // guards what follows
  std::function<void()> tell_;
};

// Who may call at the address where the call came in: anybody, or only workers.
enum class Callers : uint8_t { All = 1, WorkersOnly };

// A call without its request. Made by make_call() (envelope.h), from what its transport knows.
struct Call {
  core::EnvelopePtr envelope;           // never null: namespace, who calls, ids, deadline
  std::optional<Hash128> session = {};  // the hash of the worker's session that the call names
  std::string traceparent = {};         // of the caller's trace, as it came; empty: none
  std::string client = {};              // tells the calls of one client from those of others; empty: it says nothing
  Callers callers = Callers::All;       // at the address where it came in
  std::shared_ptr<Cancellation> cancellation;  // null: it is answered at once, whether somebody waits or not

  const std::string& peer() const { return envelope->principal.source; }  // the address that it came from
};

// The answer of a unary call. Request and response live until it has been given; after that nothing of the call may be
// touched.
template <class Response>
struct Answer {
  Response* out = nullptr;
  std::function<void(const absl::Status&)> give;  // once, from any thread

  Response* operator->() const { return out; }
};

}  // namespace hodei::api
