// Sends a streamed answer: asks its source for a piece, writes it, and asks again when the client has taken it. A
// source that has nothing to say for a while costs a heartbeat, if it has one. It lives on the connection's strand.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/api/http/answer_head.h"
#include "src/api/http/answer_writer.h"
#include "src/api/http/deadline.h"
#include "src/api/http/http_response.h"
#include "src/api/http/strand_gate.h"

namespace hodei::api {

class StreamPump : public std::enable_shared_from_this<StreamPump> {
 public:
  // True: all of it was written. False: the answer broke off, and the client must notice.
  using Done = std::function<void(bool complete)>;

  // `owner` has the writer.
  StreamPump(AnswerWriter& writer, std::shared_ptr<StrandGate> gate, std::weak_ptr<void> owner,
             const HttpLimits& limits, const boost::asio::any_io_executor& strand)
      : writer_(writer), gate_(std::move(gate)), owner_(std::move(owner)), limits_(limits), heartbeat_(strand) {}

  void start(HttpStream stream, const Framing& framing, Done done);
  // Nobody will read it any more: `done` is not called, and nothing more is written.
  void cancel();

 private:
  void ask();
  void on_piece(uint64_t number, absl::StatusOr<std::string> piece);
  void write(std::string piece, AnswerWriter::Done then);
  void await_heartbeat();
  void end();
  void finish(bool complete);

  AnswerWriter& writer_;
  const std::shared_ptr<StrandGate> gate_;
  const std::weak_ptr<void> owner_;
  const HttpLimits& limits_;
  Deadline heartbeat_;
  HttpStream stream_;
  Framing framing_;
  uint64_t left_ = 0;   // of a known length
  uint64_t asked_ = 0;  // how often; what is given for an earlier time is dropped
  Done done_;           // null: over
};

}  // namespace hodei::api
