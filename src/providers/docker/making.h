// The workers that are being created now, by any thread. It prevents two threads from creating the same one, lets a
// destroy overtake a create, and counts the workers that the engine does not show yet.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

namespace hodei::providers::docker {

class Making {
 public:
  // While it lives the worker counts as being made.
  class Claim {
   public:
    Claim(Claim&& other) noexcept
        : owner_(other.owner_),
          id_(std::move(other.id_)),
          before_(std::move(other.before_)),
          stop_(std::move(other.stop_)) {
      other.owner_ = nullptr;
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
      if (owner_ != nullptr) owner_->release(id_);
    }

    // Those that were begun earlier and not yet done when this one was begun: they go first where room is short.
    const std::set<std::string>& before() const { return before_; }
    // Somebody wants its end.
    std::stop_token stop() const { return stop_; }

   private:
    friend class Making;
    Claim(Making* owner, std::string id, std::set<std::string> before, std::stop_token stop)
        : owner_(owner), id_(std::move(id)), before_(std::move(before)), stop_(std::move(stop)) {}

    Making* owner_;
    std::string id_;
    std::set<std::string> before_;
    std::stop_token stop_;
  };

  // Waits while another thread makes the same worker.
  Claim claim(const std::string& worker_id);

  bool contains(const std::string& worker_id) const;

  // Asks the thread that creates this worker to give up, and waits until it is no longer being made.
  void stop(const std::string& worker_id);

 private:
  void release(const std::string& worker_id);

  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::map<std::string, std::stop_source> now_;
};

}  // namespace hodei::providers::docker
