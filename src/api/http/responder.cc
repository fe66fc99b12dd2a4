#include "src/api/http/responder.h"

#include <utility>

namespace hodei::api {

GivenAnswer::~GivenAnswer() {
  if (!answer_) return;
  const auto* stream = std::get_if<HttpStream>(&*answer_);
  if (stream != nullptr && stream->source != nullptr) stream->source->cancel();
}

HttpAnswer GivenAnswer::take() {
  HttpAnswer out = *std::move(answer_);
  answer_.reset();
  return out;
}

AnswerSlot::~AnswerSlot() {
  if (deliver_) deliver_(MakeResponse([] { return HttpResponse{500, "the server has no answer to this request\n"}; }));
}

void AnswerSlot::put(HttpAnswer answer) {
  GivenAnswer given(std::move(answer));  // nobody will ever ask the source of a second answer
  Deliver deliver;
  std::function<void()> unused;
  {
    const std::lock_guard lock(mutex_);
    deliver = std::exchange(deliver_, nullptr);
    unused = std::exchange(callback_, nullptr);
  }
  if (deliver) deliver(given.take());
}

void AnswerSlot::cancel() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return;
    cancelled_ = true;
    callback = std::exchange(callback_, nullptr);
  }
  if (callback) callback();
}

bool AnswerSlot::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void AnswerSlot::on_cancel(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!deliver_) return;  // answered
    if (!cancelled_) {
      callback_ = std::move(callback);
      return;
    }
  }
  callback();
}

void Responder::send(HttpResponse response) const {
  slot_->put(MakeResponse([response = std::move(response)]() mutable { return std::move(response); }));
}

}  // namespace hodei::api
