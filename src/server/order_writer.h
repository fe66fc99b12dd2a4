// Threads that write what the loop has for workers. The loop only leaves a message in the queue of a stream and wakes
// one of these: they read missing specs, and the stream opens secrets and builds the message there.
//
// A stream is never worked on by two threads, so its messages keep their order. Each stream waits here at most once,
// and its own queue is bounded, so the number of open streams is the limit.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "src/server/order_filler.h"

namespace hodei::server {

// A stream with messages to write. Both functions are called on a thread of the writer, one after the other.
class OrderStream {
 public:
  virtual ~OrderStream() = default;
  // The messages that come next. They are completed before write().
  virtual std::vector<ToWorker*> take() = 0;
  // True: the stream has more, and waits again.
  virtual bool write() = 0;
};

class OrderWriter {
 public:
  static constexpr size_t kThreads = 2;
  static constexpr size_t kStreamsAtOnce = 64;  // that share one read

  explicit OrderWriter(const OrderFiller& filler) : filler_(filler) {}
  ~OrderWriter() { stop(); }

  void start();
  void stop();  // what waits is dropped: the streams are closed by then

  // From any thread; never blocks. Not again before write() has said that there is no more.
  void post(std::shared_ptr<OrderStream> stream);

 private:
  void run();
  std::vector<std::shared_ptr<OrderStream>> wait();  // empty: it is stopping
  void write(const std::vector<std::shared_ptr<OrderStream>>& streams);

  const OrderFiller& filler_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<std::shared_ptr<OrderStream>> waiting_;
  bool running_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hodei::server
