// Threads that finish the answers of calls. The loop's thread only queues its replies here, so that it spends no time
// on building messages, reading the store, or writing to connections.
//
// There are two queues with one thread each. Quick replies are finished in the order in which they arrive. Long
// answers, such as a list of all workers, have their own thread, so that quick replies do not wait for them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "src/core/answers.h"

namespace hodei::api {

using ReplyTo = std::function<void(absl::StatusOr<core::Reply>)>;

class Replies {
 public:
  enum class Lane : uint8_t { Quick, Long };

  ~Replies() { stop(); }

  void start();
  void stop();  // after all that waits

  // From any thread; never blocks. There is at most one for each call that is open, so their number is the limit.
  // While the threads do not run, a reply is given at once, by the caller.
  void answer(Lane lane, ReplyTo reply, absl::StatusOr<core::Reply> value);
  // The same for other work. While the threads do not run, nothing is done: all calls are over then.
  void post(Lane lane, std::function<void()> work);

 private:
  struct Item {
    ReplyTo reply;  // with its value
    absl::StatusOr<core::Reply> value;
    std::function<void()> work;  // or this
    void run();
  };
  // One thread, and what waits for it.
  struct Line {
    std::mutex mutex;  // guards what follows
    std::condition_variable wake;
    std::vector<Item> waiting;
    bool running = false;
    std::thread thread;
  };

  bool push(Lane lane, Item& item);  // false: the threads do not run
  static void run(Line& line);

  std::array<Line, 2> lines_;
};

}  // namespace hodei::api
