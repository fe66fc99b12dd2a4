// Threads that finish the answers of calls. The loop's thread only leaves its replies here: building messages, reading
// the store and writing to connections would keep it from deciding.
//
// Replies of the quick lane are finished in the order in which they come. Answers that describe everything there is,
// such as a list of all workers, have a lane of their own, so that nobody waits for them.
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
