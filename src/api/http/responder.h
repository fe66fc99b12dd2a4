// How a handler answers its request: once, from any thread, also after the host has stopped (then nobody hears it).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "src/api/http/http_response.h"

namespace hodei::api {

// An answer on its way to the client. If it gets lost, the source of a stream is told.
class GivenAnswer {
 public:
  explicit GivenAnswer(HttpAnswer answer) : answer_(std::move(answer)) {}
  ~GivenAnswer();
  GivenAnswer(const GivenAnswer&) = delete;
  GivenAnswer& operator=(const GivenAnswer&) = delete;

  HttpAnswer take();

 private:
  std::optional<HttpAnswer> answer_;  // null: taken
};

// Where the answer of one request is put. The host takes it from there, or marks it as cancelled.
class AnswerSlot {
 public:
  using Deliver = std::function<void(HttpAnswer)>;

  // `deliver` is called at most once.
  explicit AnswerSlot(Deliver deliver) : deliver_(std::move(deliver)) {}
  // A handler that drops its responder has answered too: with a 500.
  ~AnswerSlot();
  AnswerSlot(const AnswerSlot&) = delete;
  AnswerSlot& operator=(const AnswerSlot&) = delete;

  void put(HttpAnswer answer);
  void cancel();
  bool is_cancelled() const;
  void on_cancel(std::function<void()> callback);

 private:
  mutable std::mutex mutex_;  // guards all below; nothing is called while it is held
  Deliver deliver_;           // null: answered
  bool cancelled_ = false;
  std::function<void()> callback_;
};

class Responder {
 public:
  explicit Responder(std::shared_ptr<AnswerSlot> slot) : slot_(std::move(slot)) {}

  // The first answer counts.
  void send(HttpResponse response) const;
  void send(MakeResponse make) const { slot_->put(std::move(make)); }
  void stream(HttpStream stream) const { slot_->put(std::move(stream)); }

  // The client is gone, or was told that there is no answer in time, or the host stops.
  bool is_cancelled() const { return slot_->is_cancelled(); }
  // Called once when that happens before the answer, at once if it has happened; on any thread, and must not block.
  // Of a stream, PieceSource::cancel is called instead.
  void on_cancel(std::function<void()> callback) const { slot_->on_cancel(std::move(callback)); }

 private:
  std::shared_ptr<AnswerSlot> slot_;
};

}  // namespace hodei::api
