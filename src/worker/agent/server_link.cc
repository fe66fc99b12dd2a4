#include "src/worker/agent/server_link.h"

#include <sys/eventfd.h>

#include <chrono>
#include <fstream>
#include <map>

#include <grpcpp/channel.h>

#include "src/base/pause.h"

namespace hodei::worker {
namespace {

constexpr auto kRegisterTimeout = std::chrono::seconds(5);
constexpr auto kUnregisterTimeout = std::chrono::seconds(2);
constexpr int kMaxMessage = 8 << 20;
constexpr int kStreamWindow = 4 << 20;

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments args;
  // A server that died without a word is noticed in a few seconds, with or without traffic.
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3000);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // a ping for nearly every message
  args.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindow);
  args.SetMaxReceiveMessageSize(kMaxMessage);
  return args;
}

// One channel per server for the life of the process, and never destroyed: gRPC 1.51 aborts now and then when the last
// channel that used the callback API goes away while its polling thread looks at the queue.
std::shared_ptr<grpc::Channel> channel_to(const std::string& target) {
  static auto& channels = *new std::map<std::string, std::shared_ptr<grpc::Channel>>;
  std::shared_ptr<grpc::Channel>& channel = channels[target];
  if (!channel) {
    channel = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), channel_arguments());
  } else {
    // Back-off and jitter are the session's business.
    grpc::experimental::ChannelResetConnectionBackoff(channel.get());
  }
  return channel;
}

// An empty root has no file that says where localhost is, and no DNS server need know it.
bool hosts_file_has_localhost() {
  std::ifstream hosts("/etc/hosts");
  for (std::string line; std::getline(hosts, line);) {
    if (line.substr(0, line.find('#')).find("localhost") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

LinkInbox::LinkInbox() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void LinkInbox::put(LinkEvent event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = events_.empty();
    events_.push_back(std::move(event));
  }
  if (!first) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = ::write(wake_.get(), &one, sizeof(one));
}

std::vector<LinkEvent> LinkInbox::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

// Keeps itself alive until gRPC is done with it.
class ServerLink::Stream final : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::ServerMessage> {
 public:
  Stream(std::shared_ptr<LinkInbox> inbox, uint64_t attempt) : inbox_(std::move(inbox)), attempt_(attempt) {}

  void start(v1::WorkerAgentService::Stub& stub, const std::string& session_id, std::shared_ptr<Stream> self) {
    self_ = std::move(self);
    context_.AddMetadata("hodei-session", session_id);
    stub.async()->WorkerStream(&context_, this);
    AddHold();  // the loop writes from outside of reactions
    StartRead(&incoming_);
    StartCall();
  }
  void write(v1::WorkerMessage message) {
    outgoing_ = std::move(message);
    StartWrite(&outgoing_);
  }
  void abandon() {
    context_.TryCancel();
    RemoveHold();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return ended();
    inbox_->put({attempt_, Arrived{std::exchange(incoming_, {})}});
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    if (ok) inbox_->put({attempt_, Written{}});
  }
  void OnDone(const grpc::Status&) override { self_.reset(); }

 private:
  // The loop hears of the end now, not in OnDone: that one waits for the loop to let go.
  void ended() { inbox_->put({attempt_, StreamDone{}}); }

  std::shared_ptr<LinkInbox> inbox_;
  const uint64_t attempt_;
  grpc::ClientContext context_;
  v1::ServerMessage incoming_;
  v1::WorkerMessage outgoing_;
  std::shared_ptr<Stream> self_;
};

void ServerLink::connect(const std::string& server, const v1::RegisterRequest& request) {
  abandon();
  ++attempt_;
  channel_ = channel_to(server_target(server));
  stub_ = v1::WorkerAgentService::NewStub(channel_);
  struct Call {
    v1::RegisterRequest request;
    v1::RegisterResponse response;
  };
  auto call = std::make_shared<Call>();
  call->request = request;
  register_context_ = std::make_shared<grpc::ClientContext>();
  register_context_->set_deadline(deadline_in(kRegisterTimeout));
  stub_->async()->Register(
      register_context_.get(), &call->request, &call->response,
      [call, context = register_context_, inbox = inbox_, attempt = attempt_](grpc::Status status) {
        inbox->put({attempt, RegisterDone{std::move(status), std::move(call->response)}});
      });
}

void ServerLink::open_stream(const std::string& session_id) {
  stream_ = std::make_shared<Stream>(inbox_, attempt_);
  writing_ = false;
  stream_->start(*stub_, session_id, stream_);
}

void ServerLink::write(v1::WorkerMessage message) {
  writing_ = true;
  stream_->write(std::move(message));
}

void ServerLink::abandon() {
  if (register_context_) register_context_->TryCancel();
  register_context_.reset();
  if (stream_) stream_->abandon();
  stream_.reset();
  writing_ = false;
  ++attempt_;
}

grpc::Status ServerLink::unregister(const std::string& worker_id, const std::string& incarnation,
                                    const std::string& session_id, const std::string& reason) {
  if (!stub_) return {grpc::StatusCode::UNAVAILABLE, "never connected"};
  grpc::ClientContext context;
  context.set_deadline(deadline_in(kUnregisterTimeout));
  context.AddMetadata("hodei-session", session_id);
  v1::UnregisterWorkerRequest request;
  request.set_worker_id(worker_id);
  request.set_reason(reason);
  request.set_incarnation(incarnation);
  v1::UnregisterWorkerResponse response;
  return stub_->UnregisterWorker(&context, request, &response);
}

std::string server_target(std::string_view address) {
  for (const std::string_view scheme : {"http://", "grpc://"}) {
    if (address.starts_with(scheme)) address.remove_prefix(scheme.size());
  }
  while (address.ends_with('/')) address.remove_suffix(1);
  std::string target(address);
  const size_t colon = target.rfind(':');
  const bool has_port = colon != std::string::npos && (target[0] != '[' || target[colon - 1] == ']');
  if (!has_port) target += ":50051";
  constexpr std::string_view kLocalhost = "localhost:";
  if (!target.starts_with(kLocalhost) || hosts_file_has_localhost()) return target;
  return target.replace(0, kLocalhost.size(), "ipv4:127.0.0.1:");
}

}  // namespace hodei::worker
