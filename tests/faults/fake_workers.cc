// Many workers in one process, each with a connection, a stream and the real agent's brain (Session), but with nothing
// behind it: an order counts as started at once and runs until it is told to finish. Starts and ends go to the ledger.
//
// usage: hodei-workers SERVER COUNT LEDGER
//
// Prints a line `online N held N finished N` whenever that has changed. A line `finish` on its standard input ends what
// is held, with success. It leaves at the end of its standard input.
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>

#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/worker/agent/stream_messages.h"
#include "src/worker/core/session.h"

namespace {

namespace v1 = hodei::v1;
using namespace hodei::worker;
using hodei::ExecutionId;
using hodei::Now;

constexpr size_t kJoiningAtOnce = 200;  // tokens are asked for in waves
constexpr auto kCallTimeout = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(20);

// What gRPC's threads hand to the one thread that owns all workers.
class Inbox {
 public:
  void put(std::function<void(Now)> event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    wake_.notify_one();
  }
  std::deque<std::function<void(Now)>> take() {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kLook, [this] { return !events_.empty(); });
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void(Now)>> events_;
};

class Ledger {
 public:
  explicit Ledger(const std::string& path) : file_(path, std::ios::app) {}
  void add(const RunOrder& order, const char* what, Now now) {
    const std::string execution = to_string(order.execution);
    file_ << execution.substr(0, execution.rfind('.')) << ' ' << execution << ' ' << order.epoch << ' ' << what << ' '
          << now.mono.us << std::endl;
  }

 private:
  std::ofstream file_;
};

class FakeWorker;

// Keeps itself alive until gRPC is done with it.
class Stream final : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::ServerMessage> {
 public:
  Stream(FakeWorker& worker, Inbox& inbox) : worker_(worker), inbox_(inbox) {}
  void start(v1::WorkerAgentService::Stub& stub, const std::string& session_id, std::shared_ptr<Stream> self);
  void write(v1::WorkerMessage message) {
    outgoing_ = std::move(message);
    StartWrite(&outgoing_);
  }
  void abandon() {
    context_.TryCancel();
    RemoveHold();
  }
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status&) override { self_.reset(); }

 private:
  FakeWorker& worker_;
  Inbox& inbox_;
  grpc::ClientContext context_;
  v1::ServerMessage incoming_;
  v1::WorkerMessage outgoing_;
  std::shared_ptr<Stream> self_;
};

class FakeWorker {
 public:
  FakeWorker(const std::string& server, size_t number, Inbox& inbox, Ledger& ledger)
      : id_("fake-" + std::to_string(number)), inbox_(inbox), ledger_(ledger), session_({}, hodei::mix64(number + 1)) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);       // as the agent has it
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    channel_ = grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
    stub_ = v1::WorkerAgentService::NewStub(channel_);
  }

  // Until it works: the server may be busy.
  void ask_for_token() {
    v1::CreateOtpRequest request;
    request.set_worker_id(id_);
    call<v1::CreateOtpRequest, v1::CreateOtpResponse>(
        [](auto& stub, auto&&... rest) { stub.CreateOtp(rest...); }, request,
        [this](const grpc::Status& status, v1::CreateOtpResponse& response, Now now) {
          if (!status.ok()) return ask_for_token();
          token_ = response.token();
          session_.attached({}, now);
        });
  }

  void tick(Now now) {
    session_.tick(now);
    settle(now);
  }

  void finish_all(Now now) {
    for (auto& [execution, order] : running_) {
      ledger_.add(order, "end", now);
      session_.exited({.execution = execution, .outcome = Outcome::Succeeded, .started = now.wall, .ended = now.wall});
      session_.log_flushed(execution);
      session_.log_durable(execution);
      ended_.insert(execution);
    }
    running_.clear();
    settle(now);
  }

  bool online() const { return session_.online(); }
  size_t running() const { return running_.size(); }
  size_t finished() const { return ended_.size() - session_.held_count() + running_.size(); }

  void arrived(const Stream* from, v1::ServerMessage& message, Now now) {
    if (from != stream_.get()) return;
    if (message.has_welcome()) {
      std::vector<ExecutionId> unknown;
      for (const std::string& text : message.welcome().unknown()) {
        if (const auto execution = read_execution(text)) unknown.push_back(*execution);
      }
      session_.welcomed(unknown, now);
      for (const ExecutionId execution : ended_) session_.log_flushed(execution);
    }
    for (v1::RunJob& run : *message.mutable_run()) {
      if (const auto order = read_order(run)) session_.ordered(*order);
    }
    if (message.ack().heartbeat_sent_us() != 0) session_.heartbeat_acked({message.ack().heartbeat_sent_us()});
    std::vector<ExecutionId> results;
    for (const std::string& text : message.ack().results()) {
      if (const auto execution = read_execution(text)) results.push_back(*execution);
    }
    session_.results_acked(results);
    settle(now);
  }
  void written(const Stream* by, Now now) {
    if (by != stream_.get()) return;
    writing_ = false;
    settle(now);
  }
  void ended(const Stream* which, Now now) {
    if (which != stream_.get()) return;
    drop_stream();
    session_.stream_closed(now);
  }

 private:
  template <class Request, class Response, class Start, class Then>
  void call(Start start, const Request& request, Then then) {
    struct Call {
      grpc::ClientContext context;
      Request request;
      Response response;
    };
    auto made = std::make_shared<Call>();
    made->request = request;
    made->context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    grpc::experimental::ChannelResetConnectionBackoff(channel_.get());  // back-off is the session's business
    const std::function<void(grpc::Status)> done = [this, made, then](const grpc::Status& status) {
      inbox_.put([made, then, status](Now now) { then(status, made->response, now); });
    };
    start(*stub_->async(), &made->context, &made->request, &made->response, done);
  }

  void drop_stream() {
    if (stream_) stream_->abandon();
    stream_.reset();
    writing_ = false;
    outgoing_.Clear();
    has_outgoing_ = false;
  }

  void settle(Now now) {
    for (auto actions = session_.take_actions(); !actions.empty(); actions = session_.take_actions()) {
      for (SessionAction& action : actions) std::visit([&](auto& each) { act(each, now); }, action);
    }
    if (stream_ == nullptr || writing_ || !has_outgoing_) return;
    writing_ = true;
    has_outgoing_ = false;
    stream_->write(std::exchange(outgoing_, {}));
  }

  void act(Connect&, Now) {
    v1::RegisterRequest request;
    request.mutable_info()->set_id(id_);
    request.mutable_info()->set_name(id_);
    request.mutable_info()->set_slots(1);
    request.mutable_info()->add_capabilities("shell");
    session_id_.empty() ? request.set_auth_token(token_) : request.set_session_id(session_id_);
    request.set_incarnation(id_);
    request.set_protocol_min(1);
    request.set_protocol_max(1);
    call<v1::RegisterRequest, v1::RegisterResponse>(
        [](auto& stub, auto&&... rest) { stub.Register(rest...); }, request,
        [this](const grpc::Status& status, v1::RegisterResponse& response, Now now) {
          if (!status.ok()) {
            if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED) {
              std::cerr << "hodei-workers: " << id_ << " was turned away: " << status.error_message() << std::endl;
              std::_Exit(1);
            }
            return session_.stream_closed(now);
          }
          session_id_ = response.session_id();
          session_.set_timing(std::chrono::milliseconds(response.heartbeat_ms()),
                              std::chrono::milliseconds(response.lease_ms()));
          drop_stream();
          stream_ = std::make_shared<Stream>(*this, inbox_);
          stream_->start(*stub_, session_id_, stream_);
          session_.stream_opened(now);
          settle(now);
        });
  }
  void act(SendHello& hello, Now) { put_hello(hello, session_id_, {id_, "", 0}, out()); }
  void act(SendStopping&, Now) { out().mutable_stopping(); }
  void act(SendHeartbeat& beat, Now) {
    out().mutable_heartbeat()->set_sent_us(beat.sent.us);
    for (const ExecutionId execution : beat.active) out().mutable_heartbeat()->add_active(to_string(execution));
  }
  void act(SendStarted& started, Now) { put_started(started, out()); }
  void act(SendResult& result, Now) {
    put_log({.execution = result.exit.execution, .end = true}, out());
    put_result(result.exit, out());
  }
  void act(StartExecution& start, Now now) {
    running_[start.order.execution] = start.order;
    ledger_.add(start.order, "start", now);
    session_.started(start.order.execution, now.wall, 1);
  }
  void act(KillExecution& kill, Now now) {
    running_.erase(kill.execution);
    session_.exited({.execution = kill.execution, .outcome = Outcome::Lost, .ended = now.wall});
  }
  void act(ExtendLease&, Now) {}
  void act(ForgetExecution&, Now) {}
  void act(Leave&, Now) {}

  v1::WorkerMessage& out() {
    has_outgoing_ = true;
    return outgoing_;
  }

  const std::string id_;
  Inbox& inbox_;
  Ledger& ledger_;
  Session session_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerAgentService::Stub> stub_;
  std::shared_ptr<Stream> stream_;
  std::string token_, session_id_;
  v1::WorkerMessage outgoing_;
  bool has_outgoing_ = false;
  bool writing_ = false;
  std::map<ExecutionId, RunOrder> running_;
  std::set<ExecutionId> ended_;
};

void Stream::start(v1::WorkerAgentService::Stub& stub, const std::string& session_id, std::shared_ptr<Stream> self) {
  self_ = std::move(self);
  context_.AddMetadata("hodei-session", session_id);
  stub.async()->WorkerStream(&context_, this);
  AddHold();  // written to from outside of reactions
  StartRead(&incoming_);
  StartCall();
}

void Stream::OnReadDone(bool ok) {
  if (!ok) return inbox_.put([this, keep = self_](Now now) { worker_.ended(this, now); });
  auto message = std::make_shared<v1::ServerMessage>(std::exchange(incoming_, {}));
  inbox_.put([this, keep = self_, message](Now now) { worker_.arrived(this, *message, now); });
  StartRead(&incoming_);
}

void Stream::OnWriteDone(bool ok) {
  if (ok) inbox_.put([this, keep = self_](Now now) { worker_.written(this, now); });
}

class Crowd {
 public:
  Crowd(const std::string& server, size_t count, const std::string& ledger) : ledger_(ledger) {
    for (size_t n = 0; n < count; ++n) workers_.push_back(std::make_unique<FakeWorker>(server, n, inbox_, ledger_));
  }

  [[noreturn]] void run() {
    std::thread([this] { listen(); }).detach();
    const hodei::SystemClock clock;
    size_t asked = 0;
    while (true) {
      for (const auto& event : inbox_.take()) event(clock.now());
      const Now now = clock.now();
      size_t online = 0, held = 0, finished = 0;
      for (const auto& worker : workers_) {
        worker->tick(now);
        online += worker->online();
        held += worker->running();
        finished += worker->finished();
      }
      for (; asked < workers_.size() && asked < online + kJoiningAtOnce; ++asked) workers_[asked]->ask_for_token();
      report(hodei::cat("online ", online, " held ", held, " finished ", finished));
    }
  }

 private:
  void listen() {
    for (std::string line; std::getline(std::cin, line);) {
      if (line != "finish") continue;
      inbox_.put([this](Now now) {
        for (const auto& worker : workers_) worker->finish_all(now);
      });
    }
    std::_Exit(0);
  }
  void report(const std::string& line) {
    if (line == said_) return;
    std::cout << line << std::endl;
    said_ = line;
  }

  Inbox inbox_;
  Ledger ledger_;
  std::vector<std::unique_ptr<FakeWorker>> workers_;
  std::string said_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SERVER COUNT LEDGER\n", argv[0]);
    return 2;
  }
  setenv("GRPC_VERBOSITY", "NONE", 0);  // what fails is seen in the numbers
  Crowd(argv[1], std::stoul(argv[2]), argv[3]).run();
}
