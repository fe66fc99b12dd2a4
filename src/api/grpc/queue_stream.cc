#include "src/api/grpc/queue_stream.h"

#include <deque>
#include <mutex>

#include "src/api/calls/jobs/key_conflict.h"
#include "src/api/grpc/status.h"

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

QueueStream::QueueStream(const JobPorts& ports, CallFacts facts)
    : ports_(ports), facts_(std::move(facts)), answers_(std::make_shared<Answers>()) {
  answers_->stream = this;
  StartRead(&request_);
  // What was read is answered still; nothing more is read.
  answers_->open_call = ports_.open_calls.add([answers = answers_](const absl::Status& why) {
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
  v1::QueueJobResponse told;
  const Call call = make_call(facts_, request_);
  absl::StatusOr<core::Submit> submit = submission_of(ports_, call, request_, &told);
  const auto answer = [answers = answers_, sequence = request_.sequence(),
                       note = told.note()](const absl::StatusOr<core::Reply>& reply) {
    v1::QueueJobResponse out;
    out.set_sequence(sequence);
    if (reply.ok()) {
      out.set_note(note);
      fill_submitted(std::get<core::Submitted>(*reply).jobs[0], &out);
    } else {
      out.set_error_code(static_cast<int>(reply.status().code()));
      out.set_error_message(std::string(reply.status().message()));
    }
    answers->push(std::move(out));
  };
  if (!submit.ok()) return answer(submit.status());
  const WantedSpecs wanted = {submit->jobs[0].spec};
  ports_.commands.post_bounded(
      call.envelope, std::move(*submit), [&stored = ports_.stored, answer, wanted](const auto& reply) {
        if (!concerns_keys(reply)) return answer(reply);
        stored.pool.post_always([&stored, answer, wanted, reply] {  // at most kMaxInFlight of them
          std::string ignored;                                      // one job: whatever there is to say is its error
          const absl::Status explained = explain_keys(stored.reader, wanted, reply, &ignored);
          if (explained.ok()) return answer(reply);
          answer(explained);
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
  ports_.open_calls.remove(answers_->open_call);
  delete this;
}

}  // namespace hodei::api
