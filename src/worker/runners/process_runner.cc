#include "src/worker/runners/process_runner.h"

#include <algorithm>
#include <utility>

#include "src/worker/system/journal.h"

namespace hodei::worker {

ProcessRunner::ProcessRunner(SupervisorLink& supervisor, NotesByExecution& notes)
    : supervisor_(supervisor),
      notes_(notes),
      inputs_([this](protocol::Input piece) { supervisor_.put(std::move(piece)); }) {
  take_over();
}

void ProcessRunner::take_over() {
  run::Ready ready;
  for (const protocol::HeldRing& each : supervisor_.attach().held) {
    const ExecutionId execution = each.held.execution;
    held_.insert(execution);
    if (!each.notes.empty()) notes_[execution] = decode_notes(each.notes);
    if (each.has_input) inputs_.begin(execution, each.input_at);
    ready.held.push_back(
        {.held = each.held, .output = supervisor_.ring(each.ring), .output_is_complete = each.held.ended});
  }
  events_.emplace_back(std::move(ready));
}

std::vector<int> ProcessRunner::ready_fds() const { return {supervisor_.fd(), inputs_.ready_fd()}; }

void ProcessRunner::start(Launch launch) {
  const ExecutionId execution = launch.order.execution;
  const bool streams_input = launch.program.streams_input && launch.program.impossible.empty();
  held_.insert(execution);
  // The supervisor gets the order before the input of the execution.
  supervisor_.put(protocol::Start{execution, std::move(launch.program), notes_of(execution)});
  if (streams_input) inputs_.begin(execution, 0);
}

void ProcessRunner::end(ExecutionId execution, KillReason why, Duration grace, Now) {
  supervisor_.put(protocol::Kill{execution, why, grace});
}

void ProcessRunner::forget(ExecutionId execution) {
  held_.erase(execution);
  inputs_.forget(execution);
  supervisor_.put(protocol::Forget{execution});
}

void ProcessRunner::keep_notes(ExecutionId execution) {
  supervisor_.put(protocol::Keep{execution, notes_of(execution)});
}

std::string ProcessRunner::notes_of(ExecutionId execution) const {
  const auto notes = notes_.find(execution);
  return notes == notes_.end() ? std::string() : encode(notes->second);
}

void ProcessRunner::extend_lease(MonoTime until) {
  lease_until_ = until;
  supervisor_.put(protocol::ValidUntil{until});
}

void ProcessRunner::connected(const ServerAccess& server) { inputs_.set_server(server.channel, server.session_id); }

void ProcessRunner::look(Now) {
  absl::StatusOr<std::vector<protocol::Message>> received = supervisor_.receive();
  if (!received.ok()) {
    events_.emplace_back(run::Gone{std::string(received.status().message())});
    return;
  }
  for (protocol::Message& message : *received) on_message(message);
}

void ProcessRunner::on_message(protocol::Message& message) {
  if (const auto* started = std::get_if<protocol::Started>(&message)) {
    events_.emplace_back(run::Started{started->execution, started->at, started->pid, supervisor_.ring(started->ring)});
  } else if (auto* exited = std::get_if<protocol::Exited>(&message)) {
    inputs_.forget(exited->exit.execution);
    events_.emplace_back(run::Exited{exited->exit});
    events_.emplace_back(run::Ended{std::move(exited->exit)});
  } else if (const auto* pong = std::get_if<protocol::Pong>(&message)) {
    life_.answered(pong->number);
    events_.emplace_back(run::LinesDropped{pong->dropped_lines});
  } else if (auto* usage = std::get_if<protocol::UsageRead>(&message)) {
    events_.emplace_back(run::UsageRead{std::move(usage->executions)});
  } else if (const auto* taken = std::get_if<protocol::InputTaken>(&message)) {
    inputs_.taken(*taken);
  } else if (std::holds_alternative<protocol::Stop>(message)) {
    events_.emplace_back(run::StopAsked{});
  }
}

void ProcessRunner::tick(Now now) {
  inputs_.look(now.mono);
  if (now.mono < life_.gives_up_at(lease_until_)) return;
  // A supervisor that hangs cannot end the jobs when the lease ends. Then nobody else can but us.
  life_.give_up();
  if (held_.empty()) return;
  say("the supervisor is not responding and the lease has ended: killing all jobs");
  supervisor_.kill_all_jobs();
}

MonoTime ProcessRunner::next_due() const { return std::min(life_.gives_up_at(lease_until_), inputs_.next_due()); }

std::vector<run::Event> ProcessRunner::take_events() { return std::exchange(events_, {}); }

void ProcessRunner::beat(Now now, bool with_usage) {
  supervisor_.put(protocol::Ping{life_.ask(now.mono)});
  if (with_usage) supervisor_.put(protocol::AskUsage{});
}

}  // namespace hodei::worker
