// One deadline of a connection, on its strand. Setting it again replaces it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>

#include "src/base/time.h"

namespace hodei::api {

class Deadline {
 public:
  explicit Deadline(const boost::asio::any_io_executor& strand) : timer_(strand) {}

  // `when_due` keeps alive what this deadline is a part of.
  void set(Duration limit, std::function<void()> when_due) {
    timer_.expires_after(limit);
    timer_.async_wait([this, number = ++number_, due = std::move(when_due)](boost::system::error_code stopped) {
      // A wait that is over may already be queued when the deadline is cleared.
      if (!stopped && number == number_) due();
    });
  }
  void clear() {
    ++number_;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;
  uint64_t number_ = 0;
};

}  // namespace hodei::api
