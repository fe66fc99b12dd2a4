// What an agent in the simulation says to its server, and hears from it.
#include "tests/sim/worker_node.h"

namespace hodei::sim {
namespace {

core::Outcome outcome_of(worker::Outcome o) { return static_cast<core::Outcome>(o); }

}  // namespace

void WorkerNode::connect() {
  const uint64_t life = agent_life_;
  core::RegisterWorker reg;
  reg.info.id = id_;
  reg.info.slots = slots_;
  reg.info.capabilities = {"script", "shell"};
  reg.info.capacity = {8000, 16000, 100000, 0};
  reg.incarnation = incarnation();
  // boot() kills what was left on its machine, and nothing else starts there: that is a lineage.
  reg.lineage = lineage();
  reg.generation = incarnation_;
  reg.stopped = stopped_before_;
  reg.info.provider = provider_;
  if (!registered_ && !has_otp_ && provider_ != "manual") {
    // Turned away: its main process ends, and with it everything inside.
    world_.after(Duration(0), [this, life] {
      if (life == agent_life_) destroy();
    });
    return;
  }
  if (!registered_ && !has_otp_) {
    otp_ = hash128(cat(id_.str(), world_.random()));
    const core::MakeOtp make{otp_, id_};
    call(make, [this, life](absl::StatusOr<core::Reply> r) {
      if (life != agent_life_ || agent_ == nullptr) return;
      has_otp_ = r.ok();
      if (!r.ok()) ++server_;
      when_awake([this, life] {
        if (life != agent_life_) return;
        agent_->session.stream_closed(world_.now());
        act();
      });
    });
    return;
  }
  if (registered_) {
    reg.session = registered_;
  } else {
    reg.otp = otp_;
    reg.new_session = hash128(cat("session", world_.random()));
  }
  call(reg, [this, life, reg](absl::StatusOr<core::Reply> r) {
    if (life != agent_life_ || agent_ == nullptr) return;
    when_awake([this, life, reg, r] {
      if (life != agent_life_ || agent_ == nullptr) return;
      if (r.ok()) {
        if (reg.otp) token_worked(reg);
        if (!reg.session) registered_ = reg.new_session;
        open_stream();
        return;
      }
      if (absl::IsUnauthenticated(r.status())) {
        registered_.reset();
        has_otp_ = false;
      }
      ++server_;  // perhaps another one leads
      agent_->session.stream_closed(world_.now());
      act();
    });
  });
}

void WorkerNode::token_worked(core::RegisterWorker reg) {
  checker_.token_used(*reg.otp, reg.incarnation);
  // Somebody has read it on the way, and tries it too.
  if (!world_.chance(0.1)) return;
  reg.incarnation = "thief";
  reg.new_session = hash128("thief");
  world_.after(world_.between(Duration(0), 5s), [this, reg] {
    call(reg, [this, reg](absl::StatusOr<core::Reply> r) {
      if (r.ok()) checker_.token_used(*reg.otp, reg.incarnation);
    });
  });
}

void WorkerNode::open_stream() {
  if (stream_ != 0) network_.abandon(stream_);
  ServerNode& server = servers_.at(server_);
  auto end = std::make_shared<std::weak_ptr<StreamLink>>();
  stream_ = network_.open(machine_, server.name(), this, [end] {
    if (const auto link = end->lock()) link->broken();
  });
  *end = link_ = server.open_stream(id_, stream_);
  agent_->outgoing = {};
  agent_->has_outgoing = false;
  agent_->session.stream_opened(world_.now());
  if (link_.expired()) network_.break_stream(stream_);  // it has stopped leading meanwhile
  act();
}

void WorkerNode::send() {
  if (stream_ == 0) return;
  if (agent_->session.online()) {
    for (worker::LogPart& part : agent_->flow.take_output(world_.now())) {
      store::LogPiece piece{.execution = part.execution,
                            .offset = static_cast<int64_t>(part.offset),
                            .data = std::move(part.data),
                            .lost = static_cast<int64_t>(part.lost),
                            .end = part.end};
      for (const worker::Line& line : part.lines)
        piece.lines.push_back({line.length, line.stream == worker::OutputStream::Stderr, line.partial, line.time.us});
      agent_->outgoing.logs.push_back(std::move(piece));
      agent_->has_outgoing = true;
    }
    settle();
    if (agent_ == nullptr || stream_ == 0) return;
  }
  if (!std::exchange(agent_->has_outgoing, false)) return;
  network_.to_server(stream_, [link = link_, message = std::exchange(agent_->outgoing, {})] {
    if (const auto end = link.lock()) end->arrived(message);
  });
}

void WorkerNode::carry_out(const worker::SessionAction& action) {
  const auto say = [this]() -> FromWorker& {
    agent_->has_outgoing = true;
    return agent_->outgoing;
  };
  std::visit(
      [&](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, worker::Connect>) {
          connect();
        } else if constexpr (std::is_same_v<A, worker::SendHello>) {
          core::OpenStream open;
          open.session = *registered_;
          open.incarnation = incarnation();
          open.lineage = lineage();
          open.generation = incarnation_;
          open.stopping = a.stopping;
          open.lists_active = true;
          open.stopped = stopped_before_;
          for (const worker::Held& h : a.held) {
            const bool interrupted = h.ended && h.exit.outcome == worker::Outcome::Interrupted;
            open.held.push_back({h.execution, h.started, h.ended, interrupted});
          }
          say().hello = std::move(open);
        } else if constexpr (std::is_same_v<A, worker::SendStopping>) {
          say().stopping = true;
        } else if constexpr (std::is_same_v<A, worker::SendHeartbeat>) {
          say().heartbeat = core::Heartbeat{.sent_us = a.sent.us, .active = a.active};
        } else if constexpr (std::is_same_v<A, worker::SendStarted>) {
          core::Report report{id_, 0, {}, {}, {}};
          report.started.push_back({a.execution, a.at});
          say().report.started.push_back(report.started.front());
          tell_by_call(report);
        } else if constexpr (std::is_same_v<A, worker::SendResult>) {
          core::Report report{id_, 0, {}, {}, {}};
          core::ResultReport r;
          r.execution = a.exit.execution;
          r.outcome = outcome_of(a.exit.outcome);
          r.exit_code = a.exit.exit_code;
          r.signal = a.exit.signal;
          r.failure = a.exit.failure;
          r.started = a.exit.started;
          r.ended = a.exit.ended;
          r.log_bytes = a.exit.log_bytes;
          report.results.push_back(r);
          say().report.results.push_back(std::move(r));
          tell_by_call(report);
        } else if constexpr (std::is_same_v<A, worker::StartExecution>) {
          agent_->runner.start({a.order, {}});
        } else if constexpr (std::is_same_v<A, worker::KillExecution>) {
          agent_->flow.kill(a, world_.now());
        } else if constexpr (std::is_same_v<A, worker::ExtendLease>) {
          agent_->runner.extend_lease(a.until);
        } else if constexpr (std::is_same_v<A, worker::ForgetExecution>) {
          agent_->flow.forget(a.execution);
        } else if constexpr (std::is_same_v<A, worker::Leave>) {
          leave(a);
        }
      },
      action);
}

// Told to go: it starts over as a fresh worker under the same name. Stopped: it comes back with its session.
void WorkerNode::leave(const worker::Leave& leave) {
  world_.trace(machine_, " leaves: ", leave.reason);
  if (leave.for_good) {
    if (registered_) servers_.unregister(machine_, *registered_, {id_, leave.reason, true, incarnation()});
    registered_.reset();
    has_otp_ = false;
  }
  if (provider_ != "manual") return destroy();
  if (stopping_ && processes_.empty()) {
    leave_last_words();
    return supervisor_is_gone(world_.between(1s, 5s));
  }
  kill_supervisor(world_.between(1s, 5s));
}

// Now and then the same report comes by a unary call too: twice, late, and overtaking what the stream carries. And jobs
// tell how far they are, also when nobody wants to know any more.
void WorkerNode::tell_by_call(core::Report report) {
  if (!world_.chance(0.1)) return;
  // That it stops is said on the stream, and before what comes of it.
  for (const core::ResultReport& result : report.results) {
    if (result.outcome == core::Outcome::Interrupted) return;
  }
  report.stream = 0;
  for (uint64_t copies = 1 + world_.below(2); copies > 0; --copies) {
    world_.after(world_.chance(0.2) ? world_.between(1s, 90s) : Duration(0),
                 [this, report] { call(report, [](absl::StatusOr<core::Reply>) {}); });
  }
  for (const core::StartedReport& started : report.started) {
    core::Report progress{id_, 0, {}, {{started.execution, static_cast<double>(world_.below(100)), "half way"}}, {}};
    world_.after(world_.between(Duration(0), 5s),
                 [this, progress] { call(progress, [](absl::StatusOr<core::Reply>) {}); });
  }
}

void WorkerNode::heard(uint64_t stream, const server::ToWorker& message) {
  when_awake([this, stream, message] {
    if (stream != stream_ || agent_ == nullptr) return;
    take(message);
    act();
  });
}

void WorkerNode::take(const server::ToWorker& message) {
  worker::Session& session = agent_->session;
  const auto positions = [this](const std::vector<server::LogPosition>& logs) {
    std::vector<worker::OutputPosition> out;
    for (const server::LogPosition& position : logs) {
      checker_.outputs().acknowledged(position.execution, position.offset);
      out.push_back({position.execution, static_cast<uint64_t>(position.offset)});
    }
    return out;
  };
  if (message.welcome) {
    agent_->flow.welcomed(static_cast<size_t>(message.welcome->log_window), positions(message.welcome->logs),
                          message.welcome->unknown, world_.now());
  }
  for (const server::ToWorker::Run& run : message.run) {
    worker::RunOrder order;
    order.execution = run.execution;
    order.attempt = run.attempt;
    order.spec = run.spec->bytes;
    session.ordered(order);
  }
  for (const server::ToWorker::Cancel& cancel : message.cancel)
    session.cancel(cancel.execution, cancel.timed_out, cancel.grace);
  if (message.drain) session.drain(!message.drain_is_over);
  if (message.heartbeat_sent_us != 0) session.heartbeat_acked(MonoTime{message.heartbeat_sent_us});
  agent_->flow.output_acked(positions(message.logs));
  if (!message.results.empty()) session.results_acked(message.results);
  if (message.stop_noted) session.stop_noted();
}

void WorkerNode::stream_broken(uint64_t stream) {
  when_awake([this, stream] {
    if (stream != stream_ || agent_ == nullptr) return;
    stream_ = 0;
    agent_->session.stream_closed(world_.now());
    act();
  });
}

}  // namespace hodei::sim
