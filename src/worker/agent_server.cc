// The agent's side of the server: what it hears on the stream, and what the Session makes it say.
#include "src/base/counted.h"
#include "src/base/trace.h"
#include "src/worker/agent.h"
#include "src/worker/fitness.h"
#include "src/worker/journal.h"
#include "src/worker/program_builder.h"
#include "src/worker/stream_messages.h"

namespace hodei::worker {
namespace {

// No server of the same installation would answer differently.
bool is_final(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED ||
         code == grpc::StatusCode::INVALID_ARGUMENT || code == grpc::StatusCode::UNIMPLEMENTED;
}

}  // namespace

void Agent::hear_server(Now now) {
  for (LinkEvent& event : inbox_->take()) {
    if (event.attempt != link_.attempt()) continue;  // of a connection that was given up
    if (auto* done = std::get_if<RegisterDone>(&event.what)) {
      on_registered(*done, now);
    } else if (auto* arrived = std::get_if<Arrived>(&event.what)) {
      on_arrived(arrived->message, now);
    } else if (std::holds_alternative<Written>(event.what)) {
      link_.written();
    } else {
      const std::string& why = std::get<StreamDone>(event.what).status.error_message();
      say("the stream ended; reconnecting", why.empty() ? "" : ": ", why);
      link_.abandon();
      session_.stream_closed(now);
    }
  }
}

void Agent::on_registered(RegisterDone& done, Now now) {
  const grpc::Status& status = done.status;
  if (!status.ok()) {
    link_.abandon();
    const bool may_use_token = !session_id_.empty() && !session_refused_ && !attach_->options.token.empty();
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED && may_use_token) {
      session_refused_ = true;
      return session_.stream_closed(now);
    }
    if (is_final(status.error_code())) {
      turned_away_ = true;
      return session_.turned_away("the server refused the registration: " + status.error_message());
    }
    journal(Level::Warn, "worker", "cannot register: ", status.error_message(), "; trying again");
    return session_.stream_closed(now);
  }
  if (done.response.session_id() != session_id_) {
    session_id_ = done.response.session_id();
    supervisor_.put(protocol::Registered{session_id_});
  }
  session_refused_ = false;
  registered_beat_ = std::chrono::milliseconds(done.response.heartbeat_ms());
  registered_lease_ = std::chrono::milliseconds(done.response.lease_ms());
  watched_beat_ = Duration(0);
  session_.set_timing(registered_beat_, registered_lease_);
  outgoing_.Clear();
  has_outgoing_ = false;
  link_.open_stream(session_id_);
  session_.stream_opened(now);
}

void Agent::on_arrived(v1::ServerMessage& message, Now now) {
  if (message.has_welcome()) {
    pump_.restart(static_cast<size_t>(std::max<int64_t>(message.welcome().log_window(), 0)));
    progress_.send_again();
    for (const v1::LogPosition& position : message.welcome().log_positions()) {
      if (const auto id = read_execution(position.execution_id())) {
        pump_.resume_at(*id, static_cast<uint64_t>(std::max<int64_t>(position.offset(), 0)));
      }
    }
    std::vector<ExecutionId> unknown;
    for (const std::string& text : message.welcome().unknown()) {
      if (const auto id = read_execution(text)) unknown.push_back(*id);
    }
    porter_.set_server(ServerStore(link_.channel(), session_id_));
    inputs_.set_server(link_.channel(), session_id_);
    session_.welcomed(unknown, now);
    settle(now);
    begin_sending();
    pump_.look(now);
    say("online; ", counted(session_.held_count(), "execution"), " held");
  }
  for (v1::RunJob& run : *message.mutable_run()) {
    if (std::optional<RunOrder> order = read_order(run)) session_.ordered(*order);
  }
  for (const v1::CancelExecution& cancel : message.cancel()) {
    const auto id = read_execution(cancel.execution_id());
    if (id) session_.cancel(*id, cancel.timed_out(), std::chrono::milliseconds(cancel.grace_ms()));
  }
  if (message.has_drain()) session_.drain(message.drain().stop());
  if (message.has_ack()) on_ack(message.ack());
}

void Agent::on_ack(const v1::ServerAck& ack) {
  if (ack.heartbeat_sent_us() != 0) {
    session_.heartbeat_acked(MonoTime{ack.heartbeat_sent_us()});
    figures_.heartbeat_acked_us = ack.heartbeat_sent_us();
  }
  if (ack.heartbeat_sent_us() != 0 || ack.heartbeat_ms() > 0) beat_every(std::chrono::milliseconds(ack.heartbeat_ms()));
  for (const v1::LogPosition& position : ack.logs()) {
    const auto id = read_execution(position.execution_id());
    if (!id) continue;
    pump_.acked(*id, static_cast<uint64_t>(std::max<int64_t>(position.offset(), 0)));
    after_logs_acked(*id);
  }
  std::vector<ExecutionId> results;
  for (const std::string& text : ack.results()) {
    if (const auto id = read_execution(text)) results.push_back(*id);
  }
  if (!results.empty()) session_.results_acked(results);
  if (ack.stop_noted()) session_.stop_noted();
  for (const std::string& word : ack.instructions()) say("the server says: ", word);
}

void Agent::beat_every(Duration time) {
  if (time == watched_beat_) return;
  watched_beat_ = time;
  // Never slower than the lease needs.
  session_.set_timing(time > Duration(0) ? std::min(time, registered_beat_) : registered_beat_, registered_lease_);
  session_.beat_soon(clock_.now());
}

void Agent::after_logs_acked(ExecutionId execution) {
  if (pump_.all_acked(execution)) session_.log_durable(execution);
}

void Agent::act(Connect&, Now now) {
  // Whoever says hello is given work, and a supervisor that hangs would not start it.
  if (pings_ != pongs_) {
    say("the supervisor is not responding: not connecting");
    return session_.stream_closed(now);
  }
  v1::RegisterRequest request;
  *request.mutable_info() = worker_info(attach_->options);
  if (session_id_.empty() || session_refused_) {
    request.set_auth_token(attach_->options.token);
  } else {
    request.set_session_id(session_id_);
  }
  request.set_incarnation(attach_->incarnation);
  request.set_lineage(attach_->lineage);
  request.set_generation(attach_->generation);
  request.mutable_stopped()->Assign(attach_->stopped.begin(), attach_->stopped.end());
  request.set_protocol_min(1);
  request.set_protocol_max(1);
  link_.connect(attach_->options.servers[next_server_++ % attach_->options.servers.size()], request);
}

void Agent::act(SendHello& hello, Now) {
  put_hello(hello, session_id_, {attach_->incarnation, attach_->lineage, attach_->generation, attach_->stopped},
            outgoing_);
  outgoing_.mutable_hello()->set_status(status_of(attach_->options.state_dir));
  has_outgoing_ = true;
}

void Agent::act(SendStopping&, Now) {
  outgoing_.mutable_stopping();
  has_outgoing_ = true;
}

void Agent::act(SendHeartbeat& beat, Now now) {
  // A worker whose supervisor hangs is not alive: let the lease run out.
  if (pings_ != pongs_) return say("the supervisor is not responding: no heartbeat");
  supervisor_.put(protocol::Ping{++pings_});
  ping_sent_ = now.mono;
  const MachineLoad load = load_.read();
  figures_.cpu_load = load.cpu;
  figures_.memory_used_bytes = static_cast<uint64_t>(load.memory_used_mb) << 20;
  v1::Heartbeat& message = *outgoing_.mutable_heartbeat();
  message.set_sent_us(beat.sent.us);
  message.set_cpu_load(load.cpu);
  message.set_memory_used_mb(load.memory_used_mb);
  message.set_network_rx_bytes(load.network_rx_bytes);
  message.set_network_tx_bytes(load.network_tx_bytes);
  message.set_disk_read_bytes(load.disk_read_bytes);
  message.set_disk_write_bytes(load.disk_write_bytes);
  message.set_dropped_logs(static_cast<int64_t>(dropped_lines_));
  message.set_status(status_of(attach_->options.state_dir));
  for (const ExecutionId id : beat.active) message.add_active(to_string(id));
  if (!beat.active.empty() && usage_.is_due(now.mono, watched_beat_)) supervisor_.put(protocol::AskUsage{});
  put_usage(usage_.of(beat.active), message);
  has_outgoing_ = true;
}

void Agent::act(SendStarted& started, Now) {
  put_started(started, outgoing_);
  has_outgoing_ = true;
}

void Agent::act(SendResult& result, Now) {
  if (const auto kept = kept_.find(result.exit.execution); kept != kept_.end()) {
    RunFacts& facts = result.exit.facts;
    facts.prepared = kept->second.prepared;
    facts.outputs = kept->second.reported;
    mask_outputs(result.exit.execution, facts);
    for (const auto& [name, value] : kept->second.secrets) facts.secrets.push_back(name);
  }
  if (const std::optional<ProgressLine> last = progress_.take_last(result.exit.execution)) {
    put_progress_of(result.exit.execution, *last);
  }
  put_result(result.exit, outgoing_);
  has_outgoing_ = true;
}

void Agent::act(StartExecution& start, Now) {
  const ExecutionId execution = start.order.execution;
  if (journal_wants(Level::Debug)) {
    const std::optional<TraceContext> trace = parse_traceparent(start.order.traceparent);
    traces_[execution] = trace ? trace_text(trace->trace) : std::string();
    journal(Level::Debug, "worker", "execution=", to_string(execution), " trace=", traces_[execution],
            " attempt=", start.order.attempt, " starts");
  }
  Program program = build_program(start.order, socket_environment(execution));
  Keepsake keepsake{.secrets = std::move(start.order.secrets)};
  protocol::Start message{execution, std::move(program), {}};
  if (stage(message, start.order, keepsake)) return ask_mask(execution);
  message.keepsake = encode(keepsake);
  if (!message.keepsake.empty()) kept_[execution] = std::move(keepsake);
  ask_mask(execution);
  order_start(std::move(message));
}

// The supervisor hears of the execution before it hears of its input.
void Agent::order_start(protocol::Start start) {
  const ExecutionId execution = start.execution;
  const bool streams_input = start.program.streams_input && start.program.impossible.empty();
  supervisor_.put(std::move(start));
  if (streams_input) inputs_.begin(execution, 0);
}

void Agent::act(KillExecution& kill, Now now) {
  if (end_staged(kill.execution, kill.why, now)) return;
  supervisor_.put(protocol::Kill{kill.execution, kill.why, kill.grace});
  // Nobody wants its output any more, and a full ring must not keep it from ending.
  if (kill.why == KillReason::LeaseExpired) pump_.discard(kill.execution);
}

void Agent::act(ExtendLease& lease, Now) {
  lease_until_ = lease.until;
  supervisor_.put(protocol::ValidUntil{lease.until});
}

void Agent::act(ForgetExecution& forget, Now) {
  pump_.forget(forget.execution);
  inputs_.forget(forget.execution);
  if (const auto kept = kept_.find(forget.execution); kept != kept_.end()) {
    if (!kept->second.folder.empty()) porter_.remove(forget.execution, kept->second.folder);
    kept_.erase(kept);
  }
  masks_.erase(forget.execution);
  std::erase(unkept_, forget.execution);
  progress_.forget(forget.execution);
  if (job_socket_) job_socket_->close_all_of(forget.execution);
  traces_.erase(forget.execution);
  supervisor_.put(protocol::Forget{forget.execution});
}

void Agent::act(Leave& leave, Now) {
  if (leave.for_good && !turned_away_) {
    const grpc::Status told =
        link_.unregister(attach_->options.worker_id, attach_->incarnation, session_id_, leave.reason);
    if (!told.ok()) say("could not unregister: ", told.error_message());
  }
  supervisor_.put(protocol::Left{leave.reason, turned_away_});
  state_ = State::Left;
}

}  // namespace hodei::worker
