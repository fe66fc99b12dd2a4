// Serializes the calls about one worker. Calls about different workers do not wait for each other.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

namespace hodei::providers::firecracker {

class Turns {
 public:
  class Turn {
   public:
    Turn(Turns& turns, const std::string& worker) : turns_(turns), worker_(worker) {
      std::unique_lock lock(turns_.mutex_);
      turns_.freed_.wait(lock, [this] { return !turns_.taken_.contains(worker_); });
      turns_.taken_.insert(worker_);
    }
    ~Turn() {
      {
        const std::lock_guard lock(turns_.mutex_);
        turns_.taken_.erase(worker_);
      }
      turns_.freed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
    std::string worker_;
  };

  bool is_taken(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    return taken_.contains(worker);
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::set<std::string> taken_;
};

}  // namespace hodei::providers::firecracker
