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
      if (life != agent_life_ || session_ == nullptr) return;
      has_otp_ = r.ok();
      when_awake([this, life] {
        if (life != agent_life_) return;
        session_->stream_closed(world_.now());
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
    if (life != agent_life_ || session_ == nullptr) return;
    when_awake([this, life, reg, r] {
      if (life != agent_life_ || session_ == nullptr) return;
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
      session_->stream_closed(world_.now());
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
  stream_ = network_.open(machine_, this, [this](uint64_t stream) {
    server_.stream_ended(core::CloseStream{id_, stream});
  });
  session_->stream_opened(world_.now());
  act();
}

void WorkerNode::carry_out(const worker::SessionAction& action) {
  const uint64_t stream = stream_;
  const auto send = [&](core::Command command) {
    network_.to_server(stream, [this, command = std::move(command)] { server_.deliver(command); });
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
          open.stream = stream;
          open.stopped = stopped_before_;
          for (const worker::Held& h : a.held) {
            const bool interrupted = h.ended && h.exit.outcome == worker::Outcome::Interrupted;
            open.held.push_back({h.execution, h.started, h.ended, interrupted});
          }
          network_.to_server(stream, [this, stream, open] {
            if (!open.stopping) checker_.lives().start_heard(id_);
            server_.call_on_stream(open, [this, stream](absl::StatusOr<core::Reply> r) {
              if (r.ok()) return server_.stream_opened(stream);
              if (absl::IsUnauthenticated(r.status())) registered_.reset();
              has_otp_ = has_otp_ && registered_.has_value();
              network_.break_stream(stream);
            });
          });
        } else if constexpr (std::is_same_v<A, worker::SendStopping>) {
          send(core::WorkerStops{id_, stream, incarnation()});
        } else if constexpr (std::is_same_v<A, worker::SendHeartbeat>) {
          core::Heartbeat beat{.worker = id_, .stream = stream, .sent_us = a.sent.us, .active = a.active};
          network_.to_server(stream, [this, beat] { server_.beat(beat); });
        } else if constexpr (std::is_same_v<A, worker::SendStarted>) {
          core::Report report{id_, stream, {}, {}, {}};
          report.started.push_back({a.execution, a.at});
          send(report);
          tell_by_call(report);
        } else if constexpr (std::is_same_v<A, worker::SendResult>) {
          core::Report report{id_, stream, {}, {}, {}};
          core::ResultReport r;
          r.execution = a.exit.execution;
          r.outcome = outcome_of(a.exit.outcome);
          r.exit_code = a.exit.exit_code;
          r.signal = a.exit.signal;
          r.failure = a.exit.failure;
          r.started = a.exit.started;
          r.ended = a.exit.ended;
          report.results.push_back(std::move(r));
          send(report);
          tell_by_call(report);
        } else if constexpr (std::is_same_v<A, worker::StartExecution>) {
          start(a.order);
        } else if constexpr (std::is_same_v<A, worker::KillExecution>) {
          keeper_->kill(a.execution, a.why, a.grace, world_.now());
        } else if constexpr (std::is_same_v<A, worker::ExtendLease>) {
          keeper_->extend_lease(a.until);
        } else if constexpr (std::is_same_v<A, worker::ForgetExecution>) {
          keeper_->forget(a.execution);
        } else if constexpr (std::is_same_v<A, worker::Leave>) {
          // Told to go: it starts over as a fresh worker under the same name. Stopped: it comes back with its session.
          world_.trace(machine_, " leaves: ", a.reason);
          if (a.for_good) {
            if (registered_) server_.unregister(machine_, *registered_, {id_, a.reason, true, incarnation()});
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
      },
      action);
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

void WorkerNode::welcomed(uint64_t stream, const std::vector<ExecutionId>& unknown) {
  when_awake([this, stream, unknown] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->welcomed(unknown, world_.now());
    for (const worker::Held& h : keeper_->inventory()) {
      if (!h.ended) continue;
      session_->log_flushed(h.execution);
      session_->log_durable(h.execution);
    }
    for (const ExecutionId& execution : refused_) session_->log_flushed(execution);
    act();
  });
}

void WorkerNode::ordered(uint64_t stream, ExecutionId execution, uint32_t attempt, std::string spec) {
  when_awake([this, stream, execution, attempt, spec = std::move(spec)] {
    if (stream != stream_ || session_ == nullptr) return;
    worker::RunOrder order;
    order.execution = execution;
    order.attempt = attempt;
    order.spec = spec;
    session_->ordered(order);
    act();
  });
}

void WorkerNode::cancel(uint64_t stream, ExecutionId execution, bool timed_out, Duration grace) {
  when_awake([this, stream, execution, timed_out, grace] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->cancel(execution, timed_out, grace);
    act();
  });
}

void WorkerNode::result_acked(uint64_t stream, ExecutionId execution) {
  when_awake([this, stream, execution] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->results_acked({execution});
    act();
  });
}

void WorkerNode::heartbeat_acked(uint64_t stream, MonoTime sent) {
  when_awake([this, stream, sent] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->heartbeat_acked(sent);
    act();
  });
}

void WorkerNode::drain(uint64_t stream, bool stop) {
  when_awake([this, stream, stop] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->drain(stop);
    act();
  });
}

void WorkerNode::stop_noted(uint64_t stream) {
  when_awake([this, stream] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->stop_noted();
    act();
  });
}

void WorkerNode::stream_broken(uint64_t stream) {
  when_awake([this, stream] {
    if (stream != stream_ || session_ == nullptr) return;
    stream_ = 0;
    session_->stream_closed(world_.now());
    act();
  });
}

}  // namespace hodei::sim
