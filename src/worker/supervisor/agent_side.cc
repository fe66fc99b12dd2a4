#include "src/worker/supervisor/agent_side.h"

#include "src/base/random.h"
#include "src/base/status.h"
#include "src/base/text.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {

void AgentSide::open() {
  socket_folder_ = SocketFolder::make(parts_.state.mark(), parts_.options.state_dir);
  if (socket_folder_.socket().empty()) say("no folder for a socket: jobs cannot report progress or outputs");
  socket_secret_ = cat(random_uuid(), random_uuid());
  parts_.agent.open(parts_.machine.orphans, [this](protocol::Message& message, Now now) { on_message(message, now); });
}

MonoTime AgentSide::next_launch() const { return shutdown_.agent_left() ? kNever : parts_.agent.launch_due(); }

void AgentSide::launch_if_due(Now now) {
  if (now.mono >= next_launch() && parts_.agent.launch(now)) attach(now);
}

// Everything that the new agent must know: what is held, and the rings that its predecessor had not finished.
void AgentSide::attach(Now now) {
  parts_.rings.pool().new_agent();
  const StateFolder& state = parts_.state;
  protocol::Attach hello;
  hello.incarnation = state.incarnation();
  hello.lineage = state.lineage();
  hello.generation = state.generation();
  hello.session_id = state.session();
  hello.cgroup = parts_.machine.enclosures->cgroup();
  hello.mark = state.mark();
  hello.options = parts_.options;
  for (Held& held : parts_.keeper.inventory()) {
    const uint64_t ring = parts_.rings.of(held.execution);
    const auto notes = parts_.notes.find(held.execution);
    const InputFeeder* input = parts_.host->inputs().of(held.execution);
    hello.held.push_back({.held = std::move(held),
                          .ring = ring,
                          .notes = notes == parts_.notes.end() ? std::string() : notes->second,
                          .has_input = input != nullptr && !input->is_done(),
                          .input_at = input == nullptr ? 0 : input->given()});
  }
  hello.job_socket = socket_folder_.socket();
  hello.job_socket_secret = socket_secret_;
  hello.stopped = shutdown_.records().stopped();
  for (const protocol::HeldRing& held : hello.held) share_ring(held.ring);
  parts_.agent.put(hello, {parts_.events.output_ready_fd(), parts_.events.room_made_fd()});
  if (shutdown_.has_begun()) parts_.agent.put(protocol::Stop{});
  parts_.agent.flush(now);
}

void AgentSide::share_ring(uint64_t ring) {
  RingPool& rings = parts_.rings.pool();
  if (ring == 0 || !rings.note_shared(ring)) return;
  parts_.agent.put(protocol::RingShared{ring}, {rings.memory(ring)->fd()});
}

void AgentSide::on_message(protocol::Message& message, Now now) {
  Keeper& keeper = parts_.keeper;
  if (auto* order = std::get_if<protocol::Start>(&message)) {
    start(*order, now);
  } else if (const auto* kill = std::get_if<protocol::Kill>(&message)) {
    keeper.kill(kill->execution, kill->why, kill->grace, now);
  } else if (const auto* lease = std::get_if<protocol::ValidUntil>(&message)) {
    keeper.extend_lease(lease->until);
    shutdown_.server_was_heard(now.mono);
    shutdown_.records().server_welcomed(shutdown_.has_begun());
  } else if (const auto* forgets = std::get_if<protocol::Forget>(&message)) {
    forget(forgets->execution);
  } else if (auto* keep = std::get_if<protocol::Keep>(&message)) {
    if (keeper.holds(keep->execution)) parts_.notes[keep->execution] = std::move(keep->notes);
  } else if (const auto* ping = std::get_if<protocol::Ping>(&message)) {
    parts_.agent.put(protocol::Pong{ping->number, parts_.host->pipes().dropped_lines(parts_.host->running())});
  } else if (std::holds_alternative<protocol::AskUsage>(message)) {
    parts_.watch.measure(parts_.host->running().trees());
  } else if (const auto* input = std::get_if<protocol::Input>(&message)) {
    parts_.host->inputs().take(*input);
  } else if (const auto* registered = std::get_if<protocol::Registered>(&message)) {
    if (absl::Status stored = parts_.state.store_session(registered->session_id); !stored.ok()) {
      say("the session is not stored: ", std::string(stored.message()));
    }
  } else if (const auto* left = std::get_if<protocol::Left>(&message)) {
    journal(left->turned_away ? Level::Error : Level::Info, "worker",
            left->turned_away ? "this worker cannot join and ends: " : "the agent left: ", left->reason);
    shutdown_.agent_has_left();
    shutdown_.begin(left->turned_away ? 3 : 0, Duration(0), now);
  }
}

void AgentSide::start(protocol::Start& order, Now now) {
  offered_.emplace(order.execution, std::move(order.program));
  parts_.keeper.start(
      {.execution = order.execution, .timeout = offered_->second.timeout, .grace = offered_->second.grace}, now);
  if (!order.notes.empty() && parts_.keeper.holds(order.execution)) {
    parts_.notes.try_emplace(order.execution, std::move(order.notes));
  }
  settle(now);
  offered_.reset();
}

void AgentSide::forget(ExecutionId execution) {
  parts_.keeper.forget(execution);
  parts_.notes.erase(execution);
  shutdown_.records().forgotten(execution, shutdown_.has_begun());
}

void AgentSide::settle(Now now) {
  while (true) {
    parts_.host->check_dying(now);
    const std::vector<KeeperAction> actions = parts_.keeper.take_actions();
    if (actions.empty()) return;
    for (const KeeperAction& action : actions) carry_out(action, now);
  }
}

void AgentSide::carry_out(const KeeperAction& action, Now now) {
  if (const auto* spawn = std::get_if<Spawn>(&action)) {
    HODEI_CHECK(offered_.has_value() && offered_->first == spawn->execution);
    parts_.host->spawn(spawn->execution, std::move(offered_->second), now);
    offered_.reset();
  } else if (const auto* signal = std::get_if<SignalTree>(&action)) {
    parts_.host->signal(signal->execution, signal->kill);
  } else if (const auto* started = std::get_if<TellStarted>(&action)) {
    if (!parts_.agent.is_attached()) return;  // the next one finds it in the inventory
    const uint64_t ring = parts_.rings.of(started->execution);
    share_ring(ring);
    parts_.agent.put(protocol::Started{started->execution, started->at, started->pid, ring});
  } else if (const auto* exited = std::get_if<TellExited>(&action)) {
    parts_.agent.put(protocol::Exited{exited->exit});
  } else if (const auto* release = std::get_if<Release>(&action)) {
    parts_.rings.release(release->execution);
  }
}

void AgentSide::tell_news(Now now) {
  if (parts_.host->pipes().take_news() && parts_.agent.is_attached()) parts_.events.tell_output();
  if (parts_.agent.is_attached()) {  // the next one finds how far inputs are in the inventory
    for (protocol::InputTaken& taken : parts_.host->inputs().news()) parts_.agent.put(std::move(taken));
  }
  parts_.agent.flush(now);
}

}  // namespace hodei::worker
