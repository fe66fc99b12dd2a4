// Sends the answer of one request, framed as the client can read it, and says what becomes of the connection.
#pragma once

#include <functional>
#include <memory>

#include "src/api/http/answer_head.h"
#include "src/api/http/stream_pump.h"
#include "src/api/http/wire.h"

namespace hodei::api {

class AnswerSender {
 public:
  // The connection is kept for the next request, closed in good order, or cut.
  enum class Next : uint8_t { Keep, Close, Cut };
  // Keeps alive what the sender is a part of.
  using Done = std::function<void(Next)>;

  explicit AnswerSender(const Wire& wire) : wire_(wire), stream_share_(wire.service.admission.streams) {}

  // What the request asks of its answer. `may_go_on`: the connection can take another request after this one.
  void follow(const RequestHead& head, bool may_go_on);

  // One of these, once.
  void send(HttpResponse response, Done done);
  void stream(HttpStream stream, Done done);

  bool is_streaming() const { return pump_ != nullptr; }
  // Tells the source of a stream; `done` is not called.
  void cancel();

 private:
  bool may_keep() const;
  Framing framing_of(const HttpStream& stream) const;

  const Wire& wire_;
  Share stream_share_;
  std::shared_ptr<StreamPump> pump_;
  bool keep_alive_ = false;
  bool may_chunk_ = false;   // HTTP/1.0 knows no chunks
  bool wants_head_ = false;  // and nothing else
};

// An answer for now: too much is going on.
HttpResponse overloaded(std::string_view what);

}  // namespace hodei::api
