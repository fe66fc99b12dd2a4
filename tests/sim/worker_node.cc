#include "tests/sim/worker_node.h"

#include "src/base/status.h"

namespace hodei::sim {
namespace {

thread_local std::map<WorkerId, WorkerNode*> nodes;

core::Outcome outcome_of(worker::Outcome o) { return static_cast<core::Outcome>(o); }

}  // namespace

WorkerNode::WorkerNode(World& world, Checker& checker, Network& network, ServerNode& server, std::string id, uint32_t slots)
    : world_(world), checker_(checker), network_(network), server_(server), id_(std::move(id)), slots_(slots) {
  nodes[id_] = this;
}

WorkerNode::~WorkerNode() { nodes.erase(id_); }

WorkerNode& WorkerNode::at(const WorkerId& id) { return *nodes.at(id); }

void WorkerNode::when_awake(std::function<void()> what) {
  if (world_.elapsed() >= frozen_until_) return what();
  world_.after(frozen_until_ - world_.elapsed(), std::move(what));
}

void WorkerNode::is_made(Hash128 otp, std::string provider) {
  otp_ = otp;
  has_otp_ = true;
  provider_ = std::move(provider);
}

void WorkerNode::destroy() {
  destroyed_ = true;
  ++supervisor_life_;
  ++agent_life_;
  checker_.supervisor_died(id_);
  for (const auto& [execution, process] : processes_) checker_.died(execution);
  processes_.clear();
  keeper_ = nullptr;
  session_ = nullptr;
  if (stream_ != 0) network_.abandon(stream_);
  stream_ = 0;
}

void WorkerNode::boot() {
  if (destroyed_) return;
  // The successor's first act: whatever an earlier supervisor left is killed.
  for (const auto& [execution, process] : processes_) checker_.died(execution);
  processes_.clear();
  keeper_ = std::make_unique<worker::Keeper>(worker::KeeperConfig{});
  ++incarnation_;
  world_.trace(id_.str(), " boots, incarnation ", incarnation_);
  start_agent();
}

void WorkerNode::start_agent() {
  session_ = std::make_unique<worker::Session>(worker::SessionConfig{}, world_.random());
  session_->attached(keeper_->inventory(), world_.now());
  act();
}

void WorkerNode::kill_agent(Duration down_for) {
  if (session_ == nullptr) return;
  world_.trace(id_.str(), " agent killed");
  ++agent_life_;
  session_ = nullptr;
  network_.abandon(stream_);
  stream_ = 0;
  world_.after(down_for, [this, life = supervisor_life_, agent = agent_life_] {
    if (life == supervisor_life_ && agent == agent_life_ && keeper_ != nullptr) when_awake([this, agent] {
      if (agent == agent_life_ && keeper_ != nullptr && session_ == nullptr) start_agent();
    });
  });
}

void WorkerNode::kill_supervisor(Duration down_for) {
  if (keeper_ == nullptr) return;
  world_.trace(id_.str(), " supervisor killed");
  ++supervisor_life_;
  ++agent_life_;
  checker_.supervisor_died(id_);
  keeper_ = nullptr;
  session_ = nullptr;
  network_.abandon(stream_);
  stream_ = 0;
  world_.after(down_for, [this, life = supervisor_life_] {
    when_awake([this, life] {
      if (life == supervisor_life_) boot();
    });
  });
}

void WorkerNode::freeze(Duration length) {
  if (keeper_ == nullptr || world_.elapsed() < frozen_until_) return;
  world_.trace(id_.str(), " freezes for ", length.count() / 1000, " ms");
  frozen_until_ = world_.elapsed() + length;
  for (const auto& [execution, process] : processes_) checker_.frozen(execution, true);
  world_.after(length, [this, life = supervisor_life_] {
    // The first thing the supervisor does is look at its lease: what outlived it dies before anything else happens.
    if (life == supervisor_life_ && keeper_ != nullptr) {
      keeper_->tick(world_.now());
      act_keeper();
    }
    for (const auto& [execution, process] : processes_) {
      if (!process.dying) checker_.frozen(execution, false);
    }
  });
}

void WorkerNode::cut(bool towards_server, Duration length) {
  if (stream_ != 0) network_.black_hole(stream_, towards_server, length);
}

Behaviour WorkerNode::behaviour_of(ExecutionId execution) const {
  const uint64_t r = mix64(number(execution.job) * 977 + execution.number);
  Behaviour how;
  how.runs = r % 10 < 7 ? Duration(1'000 + static_cast<int64_t>(r >> 8) % 400'000)
                        : Duration(static_cast<int64_t>((r >> 8) % 60'000'000));
  how.exit_code = (r >> 40) % 5 == 0 ? 1 : 0;
  how.ignores_term = (r >> 44) % 4 == 0;
  how.timeout = (r >> 48) % 6 == 0 ? 10s : Duration(0);
  return how;
}

void WorkerNode::connect() {
  const uint64_t life = agent_life_;
  core::RegisterWorker reg;
  reg.info.id = id_;
  reg.info.slots = slots_;
  reg.info.capabilities = {"script", "shell"};
  reg.info.capacity = {8000, 16000, 100000, 0};
  reg.incarnation = cat(incarnation_);
  // boot() kills what was left, and nothing else starts under this node: that is a lineage.
  reg.lineage = id_.str();
  reg.generation = incarnation_;
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
    server_.call(make, [this, life](absl::StatusOr<core::Reply> r) {
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
  server_.call(reg, [this, life, reg](absl::StatusOr<core::Reply> r) {
    if (life != agent_life_ || session_ == nullptr) return;
    when_awake([this, life, reg, r] {
      if (life != agent_life_ || session_ == nullptr) return;
      if (r.ok()) {
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

void WorkerNode::open_stream() {
  if (stream_ != 0) network_.abandon(stream_);
  stream_ = network_.open(this, [this](uint64_t stream) { server_.deliver(core::CloseStream{id_, stream}); });
  session_->stream_opened(world_.now());
  act();
}

void WorkerNode::act() {
  act_session();
  plan_tick();
}

void WorkerNode::act_session() {
  // Keeper and Session feed each other until both are quiet.
  for (bool more = true; more;) {
    more = false;
    if (session_ != nullptr) {
      for (const worker::SessionAction& a : session_->take_actions()) {
        carry_out(a);
        more = true;
        if (session_ == nullptr) break;
      }
    }
    if (keeper_ != nullptr) {
      for (const worker::KeeperAction& a : keeper_->take_actions()) {
        carry_out(a);
        more = true;
      }
    }
  }
}

void WorkerNode::act_keeper() { act(); }

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
          open.incarnation = cat(incarnation_);
          open.lineage = id_.str();
          open.generation = incarnation_;
          open.stopping = a.stopping;
          open.stream = stream;
          for (const worker::Held& h : a.held) open.held.push_back({h.execution, h.started, h.ended});
          network_.to_server(stream, [this, stream, open] {
            server_.call_on_stream(open, [this, stream](absl::StatusOr<core::Reply> r) {
              if (r.ok()) return;
              if (absl::IsUnauthenticated(r.status())) registered_.reset();
              has_otp_ = has_otp_ && registered_.has_value();
              network_.break_stream(stream);
            });
          });
        } else if constexpr (std::is_same_v<A, worker::SendStopping>) {
          send(core::WorkerStops{id_, stream});
        } else if constexpr (std::is_same_v<A, worker::SendHeartbeat>) {
          send(core::Heartbeat{id_, stream, a.sent.us, 0, 0, 0});
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
          keeper_->start({a.order.execution, behaviour_of(a.order.execution).timeout, 2s}, world_.now());
        } else if constexpr (std::is_same_v<A, worker::KillExecution>) {
          keeper_->kill(a.execution, a.why, a.grace, world_.now());
        } else if constexpr (std::is_same_v<A, worker::ExtendLease>) {
          keeper_->extend_lease(a.until);
        } else if constexpr (std::is_same_v<A, worker::ForgetExecution>) {
          keeper_->forget(a.execution);
        } else if constexpr (std::is_same_v<A, worker::Leave>) {
          // Told to go: it starts over as a fresh worker under the same name. Stopped: it comes back with its session.
          world_.trace(id_.str(), " leaves: ", a.reason);
          if (a.for_good) {
            const core::UnregisterWorker bye{id_, a.reason};
            server_.call(bye, [](absl::StatusOr<core::Reply>) {});
            registered_.reset();
            has_otp_ = false;
          }
          if (provider_ != "manual") return destroy();
          kill_supervisor(world_.between(1s, 5s));
        }
      },
      action);
}

// Now and then the same report comes by a unary call too: twice, late, and overtaking what the stream carries. And jobs
// tell how far they are, also when nobody wants to know any more.
void WorkerNode::tell_by_call(core::Report report) {
  if (!world_.chance(0.1)) return;
  report.stream = 0;
  for (uint64_t copies = 1 + world_.below(2); copies > 0; --copies) {
    world_.after(world_.chance(0.2) ? world_.between(1s, 90s) : Duration(0), [this, report] {
      server_.call(report, [](absl::StatusOr<core::Reply>) {});
    });
  }
  for (const core::StartedReport& started : report.started) {
    core::Report progress{id_, 0, {}, {{started.execution, static_cast<double>(world_.below(100)), "half way"}}, {}};
    world_.after(world_.between(Duration(0), 5s), [this, progress] {
      server_.call(progress, [](absl::StatusOr<core::Reply>) {});
    });
  }
}

void WorkerNode::carry_out(const worker::KeeperAction& action) {
  std::visit(
      [&](const auto& a) {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, worker::Spawn>) {
          spawn(a.execution);
        } else if constexpr (std::is_same_v<A, worker::SignalTree>) {
          const auto it = processes_.find(a.execution);
          if (it == processes_.end() || (!a.kill && it->second.how.ignores_term)) return;
          it->second.dying = true;
          const ExecutionId execution = a.execution;
          const int signal = a.kill ? 9 : 15;
          const bool frozen = world_.elapsed() < frozen_until_;
          world_.after(a.kill || frozen ? Duration(0) : world_.between(0us, 50ms),
                       [this, execution, signal] { end_process(execution, 0, signal); });
        } else if constexpr (std::is_same_v<A, worker::TellStarted>) {
          if (session_ != nullptr) session_->started(a.execution, a.at, a.pid);
        } else if constexpr (std::is_same_v<A, worker::TellExited>) {
          if (session_ != nullptr) {
            session_->exited(a.exit);
            session_->log_flushed(a.exit.execution);
            session_->log_durable(a.exit.execution);
          }
        }
      },
      action);
}

void WorkerNode::spawn(ExecutionId execution) {
  const Behaviour how = behaviour_of(execution);
  if (mix64(number(execution.job) + 31 * execution.number) % 50 == 0) {
    worker::Exit failed;
    failed.outcome = worker::Outcome::Failed;
    failed.exit_code = 127;
    failed.failure = "command_not_found";
    keeper_->spawn_failed(execution, failed, world_.now());
    return;
  }
  world_.trace(id_.str(), " starts ", to_string(execution));
  processes_[execution] = {how, false};
  checker_.started(execution);
  checker_.remembered(id_, execution);
  keeper_->spawned(execution, 100, world_.now());
  world_.after(how.runs, [this, execution, code = how.exit_code] { end_process(execution, code, 0); });
}

void WorkerNode::end_process(ExecutionId execution, int exit_code, int signal) {
  // A frozen process ends by itself only when it is thawed; a killed one dies at once.
  if (world_.elapsed() < frozen_until_ && signal == 0) {
    world_.after(frozen_until_ - world_.elapsed() + 1ms, [this, execution, exit_code] { end_process(execution, exit_code, 0); });
    return;
  }
  if (processes_.erase(execution) == 0) return;
  checker_.died(execution);
  world_.trace(id_.str(), " sees the end of ", to_string(execution), " code ", exit_code, " signal ", signal);
  if (keeper_ == nullptr) return;
  keeper_->main_exited(execution, exit_code, signal, world_.now());
  keeper_->tree_dead(execution, {}, world_.now());
  act();
}

void WorkerNode::plan_tick() {
  MonoTime at = kNever;
  if (session_ != nullptr) at = std::min(at, session_->next_deadline());
  if (keeper_ != nullptr) at = std::min(at, keeper_->next_deadline());
  if (at == kNever) return;
  const uint64_t plan = ++tick_plan_;
  world_.after(std::max(Duration(0), at - world_.now().mono), [this, plan] {
    if (plan != tick_plan_) return;
    when_awake([this] {
      if (keeper_ != nullptr) keeper_->tick(world_.now());
      act_session();
      if (session_ != nullptr) session_->tick(world_.now());
      act();
    });
  });
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
    act();
  });
}

void WorkerNode::ordered(uint64_t stream, ExecutionId execution, uint32_t attempt) {
  when_awake([this, stream, execution, attempt] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->ordered({execution, attempt, 0, ""});
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

void WorkerNode::drain(uint64_t stream) {
  when_awake([this, stream] {
    if (stream != stream_ || session_ == nullptr) return;
    session_->drain(true);
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
