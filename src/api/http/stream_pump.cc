#include "src/api/http/stream_pump.h"

#include <utility>

namespace hodei::api {

void StreamPump::start(HttpStream stream, const Framing& framing, Done done) {
  stream_ = std::move(stream);
  framing_ = framing;
  left_ = framing.length;
  done_ = std::move(done);
  const AnswerHead head{stream_.status, stream_.content_type, stream_.headers};
  writer_.write(head_text(head, framing), {}, [this, self = shared_from_this()](bool taken) {
    if (!done_) return;
    taken ? ask() : finish(false);
  });
}

void StreamPump::cancel() {
  done_ = nullptr;
  heartbeat_.clear();
  if (const auto source = std::exchange(stream_.source, nullptr)) source->cancel();
}

void StreamPump::ask() {
  await_heartbeat();
  // The source may keep this for as long as it likes, on any thread.
  stream_.source->next(
      [gate = gate_, owner = owner_, weak = weak_from_this(), number = ++asked_](absl::StatusOr<std::string> piece) {
        gate->post([owner, weak, number, piece = std::move(piece)]() mutable {
          const std::shared_ptr<void> alive = owner.lock();
          const std::shared_ptr<StreamPump> self = weak.lock();
          if (alive && self) self->on_piece(number, std::move(piece));
        });
      });
}

void StreamPump::on_piece(uint64_t number, absl::StatusOr<std::string> piece) {
  if (!done_ || number != asked_) return;
  ++asked_;  // a source that gives twice is not heard twice
  heartbeat_.clear();
  if (!piece.ok()) return finish(false);
  if (piece->empty()) return end();
  if (framing_.end == Framing::End::Length) {
    if (piece->size() > left_) return finish(false);
    left_ -= piece->size();
  }
  write(*std::move(piece), [this, self = shared_from_this()](bool taken) {
    if (!done_) return;
    taken ? ask() : finish(false);
  });
}

void StreamPump::write(std::string piece, AnswerWriter::Done then) {
  if (framing_.end == Framing::End::Chunks) piece = chunk_text(piece);
  writer_.write(std::move(piece), {}, std::move(then));
}

void StreamPump::await_heartbeat() {
  if (stream_.heartbeat.empty() || framing_.end == Framing::End::Length) return;
  heartbeat_.set(limits_.heartbeat, [this, self = shared_from_this(), alive = owner_.lock()] {
    if (!done_) return;
    // A piece that comes meanwhile waits behind it.
    write(stream_.heartbeat, [this, self](bool taken) {
      if (done_ && !taken) finish(false);
    });
    await_heartbeat();
  });
}

void StreamPump::end() {
  stream_.source = nullptr;  // it knows that it is at its end
  if (framing_.end == Framing::End::Length) return finish(left_ == 0);
  if (framing_.end == Framing::End::Close) return finish(true);
  writer_.write(std::string(kLastChunk), {}, [this, self = shared_from_this()](bool taken) {
    if (done_) finish(taken);
  });
}

void StreamPump::finish(bool complete) {
  const std::shared_ptr<StreamPump> self = shared_from_this();
  const Done done = std::exchange(done_, nullptr);
  cancel();
  if (done) done(complete);
}

}  // namespace hodei::api
