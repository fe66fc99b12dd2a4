#include "tests/sim/server_node.h"

#include "tests/sim/worker_node.h"

namespace hodei::sim {

// The memory store with a disk that fails and a power cord that is pulled.
class ServerNode::FaultyStore final : public store::Store {
 public:
  explicit FaultyStore(ServerNode& node) : node_(node) {}

  absl::StatusOr<store::Epoch> new_epoch() override { return node_.store_.new_epoch(); }
  absl::StatusOr<store::BatchNo> last_batch() override { return node_.store_.last_batch(); }
  absl::Status load(const store::LoadVisitor& visit) override { return node_.store_.load(visit); }

  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override {
    World& world = node_.world_;
    const bool crash = world.chance(node_.faults_.crash_in_commit);
    const bool fails = world.chance(node_.faults_.commit_fails);
    const bool applied = (!crash && !fails) || world.chance(0.5);
    if (applied) {
      const absl::Status done = node_.store_.commit(writes, epoch, batch);
      if (!done.ok()) {
        world.broken(cat("commit refused: ", std::string(done.message())));
        return done;
      }
      ++node_.commits_;
      node_.checker_.committed(writes);
    }
    if (crash) {
      world.trace("server crashes in commit ", static_cast<uint64_t>(batch), applied ? " (applied)" : " (not applied)");
      node_.crash_now_ = true;
    } else if (fails) {
      world.trace("commit ", static_cast<uint64_t>(batch), " fails", applied ? " (applied)" : " (not applied)");
    }
    if (crash || fails) return absl::UnavailableError("simulated");
    return absl::OkStatus();
  }

 private:
  ServerNode& node_;
};

ServerNode::ServerNode(World& world, Checker& checker, Network& network, ServerFaults faults)
    : world_(world), checker_(checker), network_(network), faults_(faults), faulty_(std::make_unique<FaultyStore>(*this)) {}

ServerNode::~ServerNode() = default;

void ServerNode::start() {
  core_ = std::make_unique<server::LoopCore>(*faulty_, world_, *this, core::EngineConfig{});
  if (!core_->take_over().ok()) world_.broken("the server could not load");
  world_.trace("server up, epoch ", static_cast<uint64_t>(core_->epoch()));
  plan_turn(Duration(0));
  if (maker_ != nullptr) maker_->server_started();
}

void ServerNode::crash(Duration down_for) {
  if (!up()) return;
  world_.trace("server down for ", down_for.count() / 1000, " ms");
  // What the next life loads must be what this one knew. In the middle of a commit it knew more than the disk.
  if (!crash_now_ && core_->ready()) check_digest();
  ++life_;
  core_ = nullptr;
  crash_now_ = false;
  turn_planned_ = false;
  wake_planned_ = kNever;
  paused_until_ = Duration(0);
  std::vector<server::Waiting> lost = std::move(inbox_);
  inbox_.clear();
  for (server::Waiting& w : lost) {
    if (w.reply) w.reply(absl::UnavailableError("connection lost"));
  }
  network_.break_all();
  world_.after(down_for, [this] { start(); });
}

void ServerNode::pause(Duration length) {
  if (!up()) return;
  world_.trace("server pauses for ", length.count() / 1000, " ms");
  paused_until_ = world_.elapsed() + length;
}

void ServerNode::call(core::Command command, server::ReplyTo reply) {
  // The call and its answer each travel, and each may be lost.
  auto answered = std::make_shared<bool>(false);
  const auto once = [this, answered, reply = std::move(reply)](absl::StatusOr<core::Reply> r) {
    if (*answered) return;
    *answered = true;
    const bool lost = world_.chance(0.01);
    world_.after(network_.latency(), [reply, lost, r = std::move(r)] {
      reply(lost ? absl::StatusOr<core::Reply>(absl::UnavailableError("answer lost")) : r);
    });
  };
  world_.after(network_.latency(), [this, command = std::move(command), once] { post(command, once); });
}

void ServerNode::deliver(core::Command command) { post(std::move(command), nullptr); }

void ServerNode::post(core::Command command, server::ReplyTo reply) {
  if (!up()) {
    if (reply) reply(absl::UnavailableError("server down"));
    return;
  }
  inbox_.push_back({std::move(command), std::move(reply)});
  plan_turn(world_.between(20us, 300us));
}

void ServerNode::plan_turn(Duration wait) {
  if (turn_planned_) return;
  turn_planned_ = true;
  world_.after(wait, [this, life = life_] {
    if (life == life_) run_turn();
  });
}

void ServerNode::run_turn() {
  if (world_.elapsed() < paused_until_) {
    world_.after(paused_until_ - world_.elapsed(), [this, life = life_] {
      if (life == life_) run_turn();
    });
    return;
  }
  turn_planned_ = false;
  std::vector<server::Waiting> commands = std::move(inbox_);
  inbox_.clear();
  // A crash inside the commit lets no reply out.
  for (server::Waiting& w : commands) {
    if (!w.reply) continue;
    w.reply = [this, reply = std::move(w.reply)](absl::StatusOr<core::Reply> r) {
      reply(crash_now_ ? absl::StatusOr<core::Reply>(absl::UnavailableError("connection lost")) : std::move(r));
    };
  }
  const uint64_t before = commits_;
  core_->turn(std::move(commands));
  if (crash_now_) {
    crash(world_.between(10ms, 5s));
    return;
  }
  if (core_->ready() && commits_ != before && commits_ % faults_.digest_every == 0) check_digest();
  const MonoTime wake = core_->next_wakeup();
  const Duration wait = std::max(Duration(1), wake - world_.now().mono);
  if (wake < wake_planned_ || wake_planned_ <= world_.now().mono) {
    wake_planned_ = wake;
    world_.after(wait, [this, life = life_] {
      if (life == life_) plan_turn(Duration(0));
    });
  }
}

void ServerNode::check_digest() {
  core::Engine fresh;
  if (!store_.load([&](const core::Write& w) { fresh.restore(w); }).ok()) world_.broken("the store cannot be loaded");
  if (fresh.digest() != core_->engine()->digest()) world_.broken("memory and store have drifted apart");
}

void ServerNode::heartbeats(const std::vector<core::AckHeartbeat>& acks) {
  for (const core::AckHeartbeat& ack : acks) {
    network_.to_worker(ack.stream, [ack] { WorkerNode::at(ack.worker).heartbeat_acked(ack.stream, MonoTime{ack.sent_us}); });
  }
}

void ServerNode::carry_out(const core::Turn& turn, store::Epoch) {
  for (const core::Effect& effect : turn.effects) {
    std::visit(
        [this](const auto& e) {
          using E = std::decay_t<decltype(e)>;
          if constexpr (std::is_same_v<E, core::RunExecution>) {
            world_.trace("server sends ", to_string(e.execution), " to ", e.worker.str());
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).ordered(e.stream, e.execution, e.attempt); });
          } else if constexpr (std::is_same_v<E, core::CancelExecution>) {
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).cancel(e.stream, e.execution, e.timed_out, e.grace); });
          } else if constexpr (std::is_same_v<E, core::AckResult>) {
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).result_acked(e.stream, e.execution); });
          } else if constexpr (std::is_same_v<E, core::WelcomeWorker>) {
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).welcomed(e.stream, e.unknown); });
          } else if constexpr (std::is_same_v<E, core::TellDrain>) {
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).drain(e.stream); });
          } else if constexpr (std::is_same_v<E, core::NoteStop>) {
            network_.to_worker(e.stream, [e] { WorkerNode::at(e.worker).stop_noted(e.stream); });
          } else if constexpr (std::is_same_v<E, core::DropStream>) {
            network_.break_stream(e.stream);
          } else if constexpr (std::is_same_v<E, core::JobMoved>) {
            world_.trace("job ", short_id(e.job->id), " is ", core::name(e.job->state));
          } else if constexpr (std::is_same_v<E, core::CreateWorker>) {
            maker_->create(e);
          } else if constexpr (std::is_same_v<E, core::DestroyWorker>) {
            maker_->destroy(e);
          }
        },
        effect);
  }
}

void ServerNode::forget_streams(const std::string&) {
  if (crash_now_) return;
  network_.break_all();
  maker_->server_started();   // what it said is forgotten too
}

std::string ServerNode::why_it_waits(JobId job) {
  absl::StatusOr<core::Reply> reply = absl::UnknownError("");
  post(core::Question(core::ExplainJob{job}), [&reply](absl::StatusOr<core::Reply> r) { reply = std::move(r); });
  while (absl::IsUnknown(reply.status()) && world_.step(world_.elapsed() + 10s)) {
  }
  if (!reply.ok()) return std::string(reply.status().message());
  const auto& why = std::get<core::Explanation>(*reply);
  std::string out = cat(core::name(why.state), ": ", why.waiting_for, "; unblocked by ", why.unblock, "; ", why.provisioning);
  for (const core::Candidate& c : why.candidates) out += cat("; ", c.worker.str(), c.fits ? " fits" : cat(" ", c.rule, ": ", c.reason));
  for (const core::ProviderCandidate& c : why.providers) out += cat("; ", c.name, c.fits ? " could" : cat(" ", c.reason));
  return out;
}

std::map<JobId, core::JobState> ServerNode::outcomes() const {
  std::map<JobId, core::JobState> out;
  for (const auto& [id, done] : store_.tables().done) out[id] = done.job->state;
  return out;
}

}  // namespace hodei::sim
