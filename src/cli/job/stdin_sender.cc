#include "src/cli/job/stdin_sender.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "hodei/v1/input_service.grpc.pb.h"
#include "src/base/random.h"
#include "src/base/status.h"

namespace hodei::cli {
namespace {

constexpr size_t kReadAtOnce = 64 << 10;
constexpr size_t kPiece = 256 << 10;  // as much as the server takes in one message
constexpr int kPingEveryMs = 10'000;

std::shared_ptr<grpc::Channel> input_channel(const Address& server) {
  grpc::ChannelArguments args;
  // An input may be quiet for hours; a server that died without a word is noticed all the same.
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMs);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  args.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 500);
  if (is_loopback(server)) args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(to_string(server), grpc::InsecureChannelCredentials(), args);
}

}  // namespace

struct StdinSender::Call {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::SendInputRequest, v1::SendInputResponse>> stream;
  // Guarded by the sender's mutex.
  bool has_begun = false;  // the server has said where
  bool is_over = false;
  int64_t sent = 0;
  bool sent_end = false;
};

StdinSender::StdinSender(Session& session, std::string job_id, std::shared_ptr<InputSource> input)
    : session_(session), job_id_(std::move(job_id)), name_(random_uuid()), input_(std::move(input)) {}

void StdinSender::start() {
  reader_ = std::jthread([this] { read_input(); });
  sender_ = std::jthread([this] { send(); });
}

void StdinSender::stop() {
  stop_.request_stop();
  input_->stop();
  changed_.notify_all();
  if (reader_.joinable()) reader_.join();
  if (sender_.joinable()) sender_.join();
}

bool StdinSender::is_done() {
  const std::lock_guard lock(mutex_);
  return done_;
}

void StdinSender::read_input() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop_.get_token(), [this] { return done_ || kept_.size() < kMostKept; });
      if (done_ || stop_.stop_requested()) return;
    }
    const absl::StatusOr<std::string> bytes = input_->read(kReadAtOnce);
    if (absl::IsCancelled(bytes.status())) return;
    const std::lock_guard lock(mutex_);
    unreadable_ = !bytes.ok();
    at_end_ = bytes.ok() && bytes->empty();
    if (bytes.ok()) kept_ += *bytes;
    changed_.notify_all();
    if (!unreadable_ && !at_end_) continue;
    if (unreadable_)
      session_.note(cat("warning: ", std::string(bytes.status().message()), "; the job does not get the rest"));
    return;
  }
}

void StdinSender::acknowledged(int64_t offset) {
  if (offset <= acked_) return;
  const auto bytes = std::min<int64_t>(offset - acked_, static_cast<int64_t>(kept_.size()));
  kept_.erase(0, static_cast<size_t>(bytes));
  acked_ = offset;
}

void StdinSender::send() {
  while (true) {
    const absl::Status status = send_once();
    {
      const std::lock_guard lock(mutex_);
      if (done_ || stop_.stop_requested()) return;
    }
    if (give_up_on(status)) return;
    wait_before_next_call();
  }
}

// The follower of the output reports a server that does not answer.
bool StdinSender::give_up_on(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  if (absl::IsResourceExhausted(status)) {
    if (!std::exchange(told_full_, true))
      session_.note(cat("standard input is waiting: ", std::string(status.message())));
    return false;
  }
  const bool may_pass =
      status.ok() || Client::is_break(status) || absl::IsCancelled(status) || absl::IsInternal(status);
  if (may_pass) return false;
  session_.note(cat("warning: the job does not receive the rest of standard input: ", std::string(status.message())));
  done_ = true;
  changed_.notify_all();
  return true;
}

void StdinSender::wait_before_next_call() {
  std::unique_lock lock(mutex_);
  ++server_;
  changed_.wait_for(lock, stop_.get_token(), back_off_.next(), [] { return false; });
}

absl::Status StdinSender::send_once() {
  const std::vector<Address> servers = parse_addresses(session_.settings.text("server")).value();
  const auto stub = v1::JobInputService::NewStub(input_channel(servers[server_ % servers.size()]));
  Call call;
  const std::stop_callback on_stop(stop_.get_token(), [&call] { call.context.TryCancel(); });
  const std::string token = session_.settings.text("token");
  if (!token.empty()) call.context.AddMetadata("authorization", "Bearer " + token);
  call.context.AddMetadata("hodei-client", name_);  // so that a call after a break takes the place of the one before
  call.stream = stub->Send(&call.context);
  v1::SendInputRequest first;
  first.set_job_id(job_id_);
  if (call.stream->Write(first)) {
    std::jthread answers([this, &call] { take_answers(call); });
    if (write_pieces(call)) call.stream->WritesDone();
  }
  const grpc::Status status = call.stream->Finish();
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

void StdinSender::take_answers(Call& call) {
  v1::SendInputResponse answer;
  while (call.stream->Read(&answer)) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(was_heard_, true) && answer.offset() > 0) {
      session_.note(cat("warning: another client has sent ", answer.offset(), " bytes of standard input to job ",
                        job_id_, "; yours is not sent"));
      done_ = true;
      changed_.notify_all();
      continue;
    }
    acknowledged(answer.offset());
    if (!std::exchange(call.has_begun, true)) call.sent = acked_;
    back_off_.reset();
    done_ = done_ || answer.ended() || answer.closed();
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  call.is_over = true;
  changed_.notify_all();
}

bool StdinSender::write_pieces(Call& call) {
  while (true) {
    v1::SendInputRequest piece;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop_.get_token(), [&] {
        if (done_ || call.is_over) return true;
        const bool has_bytes = call.sent < acked_ + static_cast<int64_t>(kept_.size());
        return call.has_begun && !call.sent_end && (has_bytes || unreadable_ || at_end_);
      });
      if (stop_.stop_requested() || call.is_over) return false;
      if (done_) return true;
      call.sent = std::max(call.sent, acked_);
      piece.set_offset(call.sent);
      piece.set_data(kept_.substr(static_cast<size_t>(call.sent - acked_), kPiece));
      call.sent += static_cast<int64_t>(piece.data().size());
      const bool is_last = call.sent == acked_ + static_cast<int64_t>(kept_.size());
      piece.set_end(is_last && at_end_);
      piece.set_broken(is_last && unreadable_ && piece.data().empty());
      call.sent_end = piece.end() || piece.broken();
    }
    if (!call.stream->Write(piece)) return false;
  }
}

}  // namespace hodei::cli
