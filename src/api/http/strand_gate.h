// The way onto a connection's strand from any thread. It may be kept longer than the host lives: once it is closed,
// what is posted is dropped.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>

namespace hodei::api {

class StrandGate {
 public:
  explicit StrandGate(boost::asio::any_io_executor strand) : strand_(std::move(strand)) {}

  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    // Under the lock, because the strand is gone soon after close(). A post only queues.
    if (is_open_) boost::asio::post(strand_, std::move(work));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    strand_ = {};
  }

 private:
  std::mutex mutex_;  // guards all below
  bool is_open_ = true;
  boost::asio::any_io_executor strand_;
};

}  // namespace hodei::api
