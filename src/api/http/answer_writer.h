// The writing side of a connection. A client must take each block in time; else the connection is reset under it.
// It lives on the connection's strand.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "src/api/http/byte_stream.h"
#include "src/api/http/deadline.h"
#include "src/api/http/http_limits.h"

namespace hodei::api {

class AnswerWriter {
 public:
  using Done = std::function<void(bool taken)>;  // false: the connection is of no more use

  AnswerWriter(ByteStream& stream, const HttpLimits& limits)
      : stream_(stream), limits_(limits), deadline_(stream.executor()) {}

  // Kept alive by every operation that is under way.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // Writes both, one after the other. Callers wait for `done` before they write more, so at most three of them wait: an
  // interim answer, a heartbeat, and the piece that came meanwhile.
  void write(std::string first, std::string second, Done done);
  void stop();  // whatever is being written: nobody will be told

 private:
  struct Pending {
    std::string first;
    std::string second;
    Done done;
  };
  void write_block();
  void on_written(boost::system::error_code error, size_t size);

  ByteStream& stream_;
  const HttpLimits& limits_;
  Deadline deadline_;
  std::weak_ptr<void> owner_;
  std::deque<Pending> waiting_;  // the first one is being written
  size_t written_ = 0;           // of it
  bool is_writing_ = false;
};

}  // namespace hodei::api
