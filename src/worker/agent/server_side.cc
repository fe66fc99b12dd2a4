#include "src/worker/agent/server_side.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/counted.h"
#include "src/worker/agent/stream_messages.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

// No server of the same installation would answer differently.
bool is_final(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED ||
         code == grpc::StatusCode::INVALID_ARGUMENT || code == grpc::StatusCode::UNIMPLEMENTED;
}

template <typename Texts>
std::vector<ExecutionId> read_executions(const Texts& texts) {
  std::vector<ExecutionId> out;
  for (const std::string& text : texts) {
    if (const auto id = read_execution(text)) out.push_back(*id);
  }
  return out;
}

template <typename Positions>
std::vector<OutputPosition> read_positions(const Positions& positions) {
  std::vector<OutputPosition> out;
  for (const v1::LogPosition& position : positions) {
    const auto id = read_execution(position.execution_id());
    if (id) out.push_back({*id, static_cast<uint64_t>(std::max<int64_t>(position.offset(), 0))});
  }
  return out;
}

}  // namespace

ServerSide::ServerSide(AgentParts& parts)
    : parts_(parts), inbox_(std::make_shared<LinkInbox>()), link_(inbox_), registration_(parts.supervisor.attach()) {}

void ServerSide::hear(Now now) {
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
      parts_.runner.disconnected();
      parts_.session.stream_closed(now);
    }
  }
}

void ServerSide::on_registered(RegisterDone& done, Now now) {
  const grpc::Status& status = done.status;
  if (!status.ok()) {
    link_.abandon();
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED && registration_.session_is_unknown()) {
      return parts_.session.stream_closed(now);
    }
    if (is_final(status.error_code())) {
      turned_away_ = true;
      return parts_.session.turned_away("the server refused the registration: " + status.error_message());
    }
    journal(Level::Warn, "worker", "cannot register: ", status.error_message(), "; trying again");
    return parts_.session.stream_closed(now);
  }
  if (registration_.accepted(done.response)) {
    parts_.supervisor.put(protocol::Registered{registration_.session_id()});
  }
  parts_.session.set_timing(registration_.beat(), registration_.lease());
  parts_.outgoing = {};
  link_.open_stream(registration_.session_id());
  parts_.session.stream_opened(now);
}

void ServerSide::on_arrived(v1::ServerMessage& message, Now now) {
  if (message.has_welcome()) on_welcome(message.welcome(), now);
  for (v1::RunJob& run : *message.mutable_run()) {
    if (std::optional<RunOrder> order = read_order(run)) parts_.session.ordered(*order);
  }
  for (const v1::CancelExecution& cancel : message.cancel()) {
    const auto id = read_execution(cancel.execution_id());
    if (id) parts_.session.cancel(*id, cancel.timed_out(), std::chrono::milliseconds(cancel.grace_ms()));
  }
  if (message.has_drain()) parts_.session.drain(message.drain().stop());
  if (message.has_ack()) on_ack(message.ack());
}

void ServerSide::on_welcome(const v1::Welcome& welcome, Now now) {
  parts_.reports.send_again();
  parts_.runner.connected({link_.channel(), registration_.session_id()});
  parts_.flow.welcomed(static_cast<size_t>(std::max<int64_t>(welcome.log_window(), 0)),
                       read_positions(welcome.log_positions()), read_executions(welcome.unknown()), now);
  say("online; ", counted(parts_.session.held_count(), "execution"), " held");
}

void ServerSide::on_ack(const v1::ServerAck& ack) {
  Session& session = parts_.session;
  if (ack.heartbeat_sent_us() != 0) {
    session.heartbeat_acked(MonoTime{ack.heartbeat_sent_us()});
    parts_.figures.heartbeat_acked_us = ack.heartbeat_sent_us();
  }
  const bool tells_beat = ack.heartbeat_sent_us() != 0 || ack.heartbeat_ms() > 0;
  if (tells_beat && registration_.watch(std::chrono::milliseconds(ack.heartbeat_ms()))) {
    session.set_timing(registration_.beat(), registration_.lease());
    session.beat_soon(parts_.clock.now());
  }
  parts_.flow.output_acked(read_positions(ack.logs()));
  if (ack.results_size() > 0) session.results_acked(read_executions(ack.results()));
  if (ack.stop_noted()) session.stop_noted();
  for (const std::string& word : ack.instructions()) say("the server says: ", word);
}

void ServerSide::act(Connect&, Now now) {
  // Whoever says hello is given work, and a supervisor that hangs would not start it.
  if (!parts_.runner.responds()) {
    say("the supervisor is not responding: not connecting");
    return parts_.session.stream_closed(now);
  }
  link_.connect(registration_.next_server(), registration_.request());
}

void ServerSide::act(SendHello& hello, Now) {
  const protocol::Attach& attach = parts_.supervisor.attach();
  v1::WorkerMessage& message = parts_.outgoing.add();
  put_hello(hello, registration_.session_id(), {attach.incarnation, attach.lineage, attach.generation, attach.stopped},
            message);
  message.mutable_hello()->set_status(status_of(attach.options.state_dir));
}

void ServerSide::act(SendStopping&, Now) { parts_.outgoing.add().mutable_stopping(); }

void ServerSide::act(SendHeartbeat& beat, Now now) {
  // A worker whose supervisor hangs is not alive: let the lease run out.
  if (!parts_.runner.responds()) return say("the supervisor is not responding: no heartbeat");
  parts_.runner.beat(now, !beat.active.empty() && parts_.usage.is_due(now.mono, registration_.watched_beat()));
  const MachineLoad load = parts_.load.read();
  parts_.figures.cpu_load = load.cpu;
  parts_.figures.memory_used_bytes = static_cast<uint64_t>(load.memory_used_mb) << 20;
  v1::Heartbeat& message = *parts_.outgoing.add().mutable_heartbeat();
  message.set_sent_us(beat.sent.us);
  message.set_cpu_load(load.cpu);
  message.set_memory_used_mb(load.memory_used_mb);
  message.set_network_rx_bytes(load.network_rx_bytes);
  message.set_network_tx_bytes(load.network_tx_bytes);
  message.set_disk_read_bytes(load.disk_read_bytes);
  message.set_disk_write_bytes(load.disk_write_bytes);
  message.set_dropped_logs(static_cast<int64_t>(parts_.dropped_lines));
  message.set_status(status_of(parts_.options().state_dir));
  for (const ExecutionId id : beat.active) message.add_active(to_string(id));
  put_usage(parts_.usage.of(beat.active), message);
}

void ServerSide::act(SendStarted& started, Now) { put_started(started, parts_.outgoing.add()); }

void ServerSide::act(SendResult& result, Now) {
  const ExecutionId execution = result.exit.execution;
  if (const auto notes = parts_.notes.find(execution); notes != parts_.notes.end()) {
    RunFacts& facts = result.exit.facts;
    facts.prepared = notes->second.prepared;
    facts.outputs = notes->second.reported;
    parts_.masks.mask_outputs(execution, facts);
    for (const auto& [name, value] : notes->second.secrets) facts.secrets.push_back(name);
  }
  v1::WorkerMessage& message = parts_.outgoing.add();
  if (const std::optional<ProgressLine> last = parts_.reports.take_last(execution)) {
    put_progress(execution, *last, message);
  }
  put_result(result.exit, message);
}

void ServerSide::act(Leave& leave, Now) {
  const protocol::Attach& attach = parts_.supervisor.attach();
  if (leave.for_good && !turned_away_) {
    const grpc::Status told =
        link_.unregister(attach.options.worker_id, attach.incarnation, registration_.session_id(), leave.reason);
    if (!told.ok()) say("could not unregister: ", told.error_message());
  }
  parts_.supervisor.put(protocol::Left{leave.reason, turned_away_});
  has_left_ = true;
}

void ServerSide::write(Now now) {
  if (!parts_.outgoing.has_any || !link_.can_write()) return;
  link_.write(std::exchange(parts_.outgoing, {}).message);
  parts_.pace.wrote(now.mono);
}

}  // namespace hodei::worker
