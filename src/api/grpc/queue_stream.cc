#include "src/api/grpc/queue_stream.h"

#include <deque>

#include "src/api/grpc/key_conflict.h"
#include "src/api/grpc/translate.h"

namespace hodei::api {

struct QueueStream::Answers {
  std::mutex mutex;
  QueueStream* stream = nullptr;  // null: the call is over
  std::deque<v1::QueueJobResponse> queue;
  v1::QueueJobResponse current;
  size_t in_flight = 0;
  bool writing = false;
  bool reading = true;
  bool no_more_requests = false;
  bool finished = false;
  grpc::Status end_status = grpc::Status::OK;
  uint64_t open_call = 0;

  bool takes_requests() {
    const std::lock_guard lock(mutex);
    return !no_more_requests && !finished;
  }

  void push(v1::QueueJobResponse response) {
    const std::lock_guard lock(mutex);
    if (stream == nullptr) return;
    queue.push_back(std::move(response));
    go_on();
  }

  // With the mutex held: write, read or finish, whatever is possible now.
  void go_on() {
    if (finished) return;
    if (!writing && !queue.empty()) {
      current = std::move(queue.front());
      queue.pop_front();
      writing = true;
      stream->StartWrite(&current);
    }
    if (!reading && !no_more_requests && in_flight < kMaxInFlight) {
      reading = true;
      stream->StartRead(&stream->request_);
    }
    if (no_more_requests && !writing && in_flight == 0) {
      finished = true;
      stream->Finish(end_status);
    }
  }
};

QueueStream::QueueStream(server::Server& server, Prepare prepare)
    : server_(server), prepare_(std::move(prepare)), answers_(std::make_shared<Answers>()) {
  answers_->stream = this;
  StartRead(&request_);
  // What was read is answered still; nothing more is read.
  answers_->open_call = server.open_calls().add([answers = answers_](const absl::Status& why) {
    const std::lock_guard lock(answers->mutex);
    if (answers->stream == nullptr) return;
    answers->no_more_requests = true;
    answers->end_status = to_grpc(why);
    answers->go_on();
  });
}

void QueueStream::OnReadDone(bool ok) {
  if (ok && answers_->takes_requests()) take_request();
  const std::lock_guard lock(answers_->mutex);
  answers_->reading = false;
  answers_->no_more_requests = answers_->no_more_requests || !ok;
  answers_->go_on();
}

void QueueStream::take_request() {
  {
    const std::lock_guard lock(answers_->mutex);
    ++answers_->in_flight;
  }
  std::string note;
  absl::StatusOr<core::Submit> submit = prepare_(request_, &note);
  const auto answer = [answers = answers_, sequence = request_.sequence(), note](absl::StatusOr<core::Reply> reply) {
    v1::QueueJobResponse out;
    out.set_sequence(sequence);
    if (reply.ok()) {
      const core::Submitted::One& one = std::get<core::Submitted>(*reply).jobs[0];
      out.set_job_id(public_id(one.job));
      out.set_short_id(short_id(one.job));
      out.set_existing(one.existing);
      out.set_note(note.empty() || one.note.empty() ? note + one.note : note + "; " + one.note);
    } else {
      out.set_error_code(static_cast<int>(reply.status().code()));
      out.set_error_message(std::string(reply.status().message()));
    }
    answers->push(std::move(out));
  };
  if (!submit.ok()) return answer(submit.status());
  const WantedSpecs wanted = {submit->jobs[0].spec};
  server_.loop().post_bounded(std::move(*submit), [server = &server_, answer, wanted](auto reply) {
    if (!concerns_keys(reply)) return answer(std::move(reply));
    server->reads().post_always([server, answer, wanted, reply] {  // at most kMaxInFlight of them
      std::string ignored;                                         // one job: whatever there is to say is its error
      const absl::Status told = explain_keys(server->reader(), wanted, reply, &ignored);
      if (told.ok()) return answer(reply);
      answer(told);
    });
  });
}

void QueueStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(answers_->mutex);
  answers_->writing = false;
  --answers_->in_flight;
  if (!ok) {
    answers_->no_more_requests = true;
    answers_->in_flight = 0;
    answers_->queue.clear();
  }
  answers_->go_on();
}

void QueueStream::OnCancel() {
  const std::lock_guard lock(answers_->mutex);
  if (answers_->finished) return;
  answers_->finished = true;
  Finish(grpc::Status::CANCELLED);
}

void QueueStream::OnDone() {
  {
    const std::lock_guard lock(answers_->mutex);
    answers_->stream = nullptr;
  }
  server_.open_calls().remove(answers_->open_call);
  delete this;
}

}  // namespace hodei::api
