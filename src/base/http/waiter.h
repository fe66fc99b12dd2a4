// Runs one asynchronous operation of Asio at a time and waits until it ends, its deadline passes, or a stop is
// requested.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <functional>
#include <stop_token>

#include "src/base/time.h"

namespace hodei::http {

class Waiter {
 public:
  enum class Reason : uint8_t { Finished, TimedOut, Stopped };

  Waiter(std::stop_token stop, MonoTime end) : stop_(std::move(stop)), end_(end) {}

  boost::asio::io_context& io() { return io_; }
  Reason reason() const { return reason_; }

  // `start` begins the operation with the handler that it is given; `cancel` makes the operation end.
  template <class Start>
  boost::system::error_code run(Duration limit, const std::function<void()>& cancel, Start start) {
    reason_ = Reason::Finished;
    bool done = false;
    boost::system::error_code result;
    start([&](boost::system::error_code error, auto&&...) {
      result = error;
      done = true;
    });
    const MonoTime deadline = std::min(end_, clock_.now().mono + limit);
    io_.restart();
    while (!done) {
      // A requested stop is noticed between slices.
      io_.run_for(std::chrono::milliseconds(50));
      if (done || reason_ != Reason::Finished) continue;
      if (stop_.stop_requested()) reason_ = Reason::Stopped;
      if (clock_.now().mono >= deadline) reason_ = Reason::TimedOut;
      if (reason_ != Reason::Finished) cancel();
    }
    return result;
  }

 private:
  SystemClock clock_;
  boost::asio::io_context io_{1};
  std::stop_token stop_;
  MonoTime end_;
  Reason reason_ = Reason::Finished;
};

}  // namespace hodei::http
