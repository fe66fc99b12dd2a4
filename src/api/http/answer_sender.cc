#include "src/api/http/answer_sender.h"

#include <utility>

#include "src/base/text.h"

namespace hodei::api {
namespace {

// What happens when the answer was written, or broke off. If the end of the connection is the end of the body, only a
// reset tells the client that it broke off.
std::function<void(bool)> then(const Framing& framing, AnswerSender::Done done) {
  using Next = AnswerSender::Next;
  const Next complete = framing.keep_alive ? Next::Keep : Next::Close;
  const Next broken = framing.end == Framing::End::Close ? Next::Cut : Next::Close;
  return [complete, broken, done = std::move(done)](bool is_complete) { done(is_complete ? complete : broken); };
}

}  // namespace

HttpResponse overloaded(std::string_view what) {
  return {503, cat(what, "; try again in a moment\n"), "text/plain; charset=utf-8", {{"Retry-After", "1"}}};
}

void AnswerSender::follow(const RequestHead& head, bool may_go_on) {
  keep_alive_ = may_go_on && head.keep_alive;
  may_chunk_ = head.version >= 11;
  wants_head_ = head.method == "HEAD";
}

// Where the next request begins is known only when this one has been read to its end.
bool AnswerSender::may_keep() const {
  return keep_alive_ && !wire_.service.is_stopping && wire_.feed.reader().is_complete() && !wire_.feed.has_ended();
}

void AnswerSender::send(HttpResponse response, Done done) {
  const bool with_body = has_body(response.status);
  const Framing framing{with_body ? Framing::End::Length : Framing::End::NoBody, response.body.size(), may_keep()};
  std::string head = head_text({response.status, response.content_type, response.headers}, framing);
  if (!with_body || wants_head_) response.body.clear();
  wire_.writer.write(std::move(head), std::move(response.body), then(framing, std::move(done)));
}

Framing AnswerSender::framing_of(const HttpStream& stream) const {
  Framing out{Framing::End::Close, stream.length.value_or(0), may_keep()};
  if (!has_body(stream.status)) {
    out.end = Framing::End::NoBody;
  } else if (stream.length) {
    out.end = Framing::End::Length;
  } else if (may_chunk_) {
    out.end = Framing::End::Chunks;
  } else {
    out.keep_alive = false;
  }
  return out;
}

void AnswerSender::stream(HttpStream stream, Done done) {
  if (!stream_share_.grow(1)) {
    stream.source->cancel();
    return send(overloaded("too many streams are open"), std::move(done));
  }
  const Framing framing = framing_of(stream);
  if (wants_head_ || framing.end == Framing::End::NoBody) {
    stream.source->cancel();
    const AnswerHead head{stream.status, stream.content_type, stream.headers};
    return wire_.writer.write(head_text(head, framing), {}, then(framing, std::move(done)));
  }
  pump_ = std::make_shared<StreamPump>(wire_.writer, wire_.gate, wire_.owner, wire_.service.limits,
                                       wire_.stream.executor());
  pump_->start(std::move(stream), framing, then(framing, std::move(done)));
}

void AnswerSender::cancel() {
  if (const auto pump = std::exchange(pump_, nullptr)) pump->cancel();
}

}  // namespace hodei::api
