// Threads of their own for reads of the store and for work on files. The threads of gRPC carry the streams of all
// workers: whoever made them wait for a disk would make heartbeats wait.
//
// What is done in a moment, such as looking up one job, has a lane and a thread of its own beside what may take long.
// In both lanes those who ask take turns, so that nobody waits for all that another one asks for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace hodei::server {

class ReadPool {
 public:
  using Work = std::function<void()>;
  enum class Lane : uint8_t { Long, Quick };
  // Who asks, as gRPC names a connection ("ipv4:127.0.0.1:50123"); empty: the server itself. Connections of one machine
  // differ behind the last colon.
  struct Asker {
    std::string peer;
    Lane lane = Lane::Long;
  };
  // Of each lane.
  struct Limits {
    size_t threads = 4;        // that do quick work too, and first
    size_t quick_threads = 1;  // that do nothing else
    size_t waiting = 256;      // further ones are refused
    size_t of_peer = 64;       // that wait from one connection
    size_t of_machine = 192;   // and from all connections of one machine
  };

  // `what` is for people: "reads".
  ReadPool(std::string what, Limits limits) : what_(std::move(what)), limits_(limits) {}
  ~ReadPool() { stop(); }

  void start();
  void stop();  // after all that waits

  // From any thread; never blocks. RESOURCE_EXHAUSTED: too many wait, and `work` will not be called.
  absl::Status post(const Asker& who, Work work);
  absl::Status post(Work work) { return post({}, std::move(work)); }
  // For streams, of which each has one piece of work under way at most: their number is the limit. Nothing is done once
  // the pool has stopped: the transports are closed before it.
  void post_always(Work work);

 private:
  // What waits, by who asked, each in order.
  class Line {
   public:
    size_t count() const { return count_; }
    size_t of_peer(const std::string& peer) const;
    size_t of_machine(const std::string& machine) const;
    void push(const std::string& peer, Work work);
    Work pop();  // of whose turn it is; there must be one

   private:
    std::map<std::string, std::deque<Work>> by_peer_;
    std::map<std::string, size_t> by_machine_;
    std::string last_;  // whose turn it was
    size_t count_ = 0;
  };

  void run(bool only_quick);
  absl::Status check_room(const Asker& who, const Line& lane) const;

  const std::string what_;
  const Limits limits_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable wake_quick_;  // those that do nothing else
  Line long_;
  Line quick_;
  bool stopping_ = true;
  std::vector<std::thread> threads_;
};

}  // namespace hodei::server
