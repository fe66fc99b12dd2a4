#include "tests/sim/server_node.h"

#include "tests/sim/worker_node.h"

namespace hodei::sim {
namespace {

// A copy that shares nothing with the first: the engine fills in the numbers of specs.
core::Command repeated(const core::Command& command) {
  core::Command copy = command;
  if (auto* submit = std::get_if<core::Submit>(&copy)) {
    for (core::NewJob& job : submit->jobs) job.spec = std::make_shared<core::SpecRow>(*job.spec);
  }
  return copy;
}

WorkerNode& worker_at(StreamEnd& end) { return static_cast<WorkerNode&>(end); }

}  // namespace

// The memory store with a disk that fails and a power cord that is pulled.
class ServerNode::FaultyStore final : public store::Store {
 public:
  explicit FaultyStore(ServerNode& node) : node_(node) {}

  absl::StatusOr<store::Epoch> new_epoch() override {
    if (is_away()) return absl::UnavailableError("simulated outage");
    return node_.store_.new_epoch();
  }
  absl::StatusOr<store::Epoch> epoch() override {
    if (is_away()) return absl::UnavailableError("simulated outage");
    return node_.store_.epoch();
  }
  absl::StatusOr<store::BatchNo> last_batch() override { return node_.store_.last_batch(); }
  absl::Status load(const store::LoadVisitor& visit) override { return node_.store_.load(visit); }

  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override {
    World& world = node_.world_;
    const MonoTime decided = world.now().mono;
    node_.wait_for_disk(node_.commit_time());
    // Or somebody pulled the cord while it waited.
    const bool crash = node_.crash_now_ || world.chance(node_.faults_.crash_in_commit);
    const bool fails = world.chance(node_.faults_.commit_fails) || is_away();
    const bool applied = (!crash && !fails) || world.chance(0.5);
    if (applied) {
      const absl::Status done = node_.store_.commit(writes, epoch, batch);
      if (!done.ok()) {
        world.broken(cat("commit refused: ", std::string(done.message())));
        return done;
      }
      ++node_.commits_;
      node_.checker_.committed(writes, decided);
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
  bool is_away() const { return node_.world_.elapsed() < node_.store_away_until_; }

  ServerNode& node_;
};

ServerNode::ServerNode(World& world, Checker& checker, Network& network, ServerFaults faults)
    : world_(world),
      checker_(checker),
      network_(network),
      faults_(faults),
      faulty_(std::make_unique<FaultyStore>(*this)) {}

ServerNode::~ServerNode() = default;

void ServerNode::start() {
  lease_.until = MonoTime{0};  // the lock of a server that died is free
  leadership_ = std::make_unique<store::MemoryLeadership>(lease_, *faulty_, world_);
  tenure_ = std::make_unique<server::Tenure>(*faulty_, *leadership_, world_, core::EngineConfig{});
  beats_ = std::make_unique<server::Heartbeats>(world_);
  core_ = std::make_unique<server::LoopCore>(*tenure_, world_, *this, *beats_);
  if (!core_->take_over().ok()) world_.broken("the server could not load");
  world_.trace("server up, epoch ", static_cast<uint64_t>(tenure_->epoch()));
  plan_turn(Duration(0));
  if (maker_ != nullptr) maker_->server_started();
}

void ServerNode::stop_faults() {
  const uint64_t digest_every = faults_.digest_every;
  faults_ = {};
  faults_.digest_every = digest_every;
  faults_.call_lost = faults_.call_repeated = 0;
  store_away_until_ = Duration(0);
}

Duration ServerNode::commit_time() {
  if (world_.chance(faults_.stuck_commit)) return world_.between(5s, 70s);
  return world_.chance(faults_.slow_commit) ? world_.between(10ms, 3s) : world_.between(20us, 2ms);
}

void ServerNode::wait_for_disk(Duration length) {
  if (length > 1s) world_.trace("a commit takes ", length.count() / 1000, " ms");
  in_commit_ = true;
  for (const Duration until = world_.elapsed() + length; world_.ok() && !crash_now_ && world_.step(until);) {
  }
  in_commit_ = false;
}

void ServerNode::crash(Duration down_for) {
  if (!up()) return;
  if (in_commit_) {
    crash_now_ = true;  // the loop that waits for its disk falls with it
    return;
  }
  world_.trace("server down for ", down_for.count() / 1000, " ms");
  // What the next life loads must be what this one knew. In the middle of a commit it knew more than the disk.
  if (!crash_now_ && core_->ready()) check_digest();
  ++life_;
  checker_.lives().server_died();
  core_ = nullptr;
  crash_now_ = false;
  turn_planned_ = false;
  wake_planned_ = kNever;
  paused_until_ = store_away_until_ = Duration(0);
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

void ServerNode::lose_store(Duration length) {
  if (!up()) return;
  world_.trace("the store is away for ", length.count() / 1000, " ms");
  store_away_until_ = world_.elapsed() + length;
}

void ServerNode::call(const std::string& caller, core::Command command, server::ReplyTo reply) {
  // The call and its answer each travel, and each may be lost; the caller then waits for its own deadline.
  auto answered = std::make_shared<bool>(false);
  const auto give_up = [this, answered, reply] {
    if (std::exchange(*answered, true)) return;
    world_.after(world_.between(100ms, 10s), [reply] { reply(absl::UnavailableError("no answer in time")); });
  };
  const auto once = [this, caller, answered, give_up, reply](absl::StatusOr<core::Reply> r) {
    if (*answered) return;
    if (world_.chance(faults_.call_lost) || network_.is_cut(caller, Towards::Caller)) return give_up();
    *answered = true;
    world_.after(network_.latency(), [reply, r = std::move(r)] { reply(r); });
  };
  if (world_.chance(faults_.call_lost) || network_.is_cut(caller, Towards::Server)) return give_up();
  // The real call makes a new token each time.
  const bool may_repeat = !std::holds_alternative<core::MakeOtp>(command);
  const int copies = may_repeat && world_.chance(faults_.call_repeated) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    world_.after(network_.latency(),
                 [this, command = i == 0 ? command : repeated(command), once] { post(command, once); });
  }
}

void ServerNode::unregister(const std::string& caller, Hash128 session, core::UnregisterWorker bye) {
  if (world_.chance(faults_.call_lost) || network_.is_cut(caller, Towards::Server)) return;
  world_.after(network_.latency(), [this, session, bye = std::move(bye)] {
    if (!up() || core_->engine() == nullptr) return;
    const auto& workers = core_->engine()->modules().fleet.workers.all();
    const auto worker = workers.find(bye.worker);
    if (worker == workers.end() || worker->second->record->session != session) return;
    world_.after(network_.latency(), [this, bye] { post(bye, nullptr); });
  });
}

void ServerNode::deliver(core::Command command) { post(std::move(command), nullptr); }

void ServerNode::stream_opened(uint64_t stream) {
  if (up()) beats_->open(stream);
}

void ServerNode::stream_ended(const core::CloseStream& close) {
  if (up()) beats_->close(close.stream);
  deliver(close);
}

void ServerNode::beat(const core::Heartbeat& beat) {
  if (!up()) return;
  if (world_.elapsed() < paused_until_) {
    // The whole process stands still, its other threads too.
    return world_.after(paused_until_ - world_.elapsed(), [this, beat, life = life_] {
      if (life == life_) this->beat(beat);
    });
  }
  if (!beats_->take(beat)) return network_.break_stream(beat.stream);
  network_.to_worker(beat.stream,
                     [beat](StreamEnd& end) { worker_at(end).heartbeat_acked(beat.stream, MonoTime{beat.sent_us}); });
}

void ServerNode::post(core::Command command, server::ReplyTo reply) {
  if (!up()) {
    if (reply) reply(absl::UnavailableError("server down"));
    return;
  }
  if (const auto* stops = std::get_if<core::WorkerStops>(&command)) checker_.lives().stop_heard(stops->worker);
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
  turn_planned_ = true;  // nothing else takes a turn meanwhile
  std::vector<server::Waiting> left = core_->turn(std::move(commands));
  turn_planned_ = false;
  inbox_.insert(inbox_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
  if (crash_now_) {
    crash(world_.between(10ms, 5s));
    return;
  }
  if (core_->ready() && commits_ != before && commits_ % faults_.digest_every == 0) check_digest();
  if (!inbox_.empty()) plan_turn(world_.between(20us, 300us));
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

void ServerNode::carry_out(const core::Turn& turn, store::Epoch) {
  for (const core::Effect& effect : turn.effects) {
    std::visit(
        [this](const auto& e) {
          using E = std::decay_t<decltype(e)>;
          if constexpr (std::is_same_v<E, core::RunExecution>) {
            world_.trace("server sends ", to_string(e.execution), " to ", e.worker.str());
            checker_.ordered(e.execution, e.worker, e.attempt);
            network_.to_worker(e.stream, [e, spec = spec_of(e.execution.job)](StreamEnd& end) {
              worker_at(end).ordered(e.stream, e.execution, e.attempt, spec);
            });
          } else if constexpr (std::is_same_v<E, core::CancelExecution>) {
            network_.to_worker(
                e.stream, [e](StreamEnd& end) { worker_at(end).cancel(e.stream, e.execution, e.timed_out, e.grace); });
          } else if constexpr (std::is_same_v<E, core::AckResult>) {
            network_.to_worker(e.stream, [e](StreamEnd& end) { worker_at(end).result_acked(e.stream, e.execution); });
          } else if constexpr (std::is_same_v<E, core::WelcomeWorker>) {
            network_.to_worker(e.stream, [e](StreamEnd& end) { worker_at(end).welcomed(e.stream, e.unknown); });
          } else if constexpr (std::is_same_v<E, core::TellDrain>) {
            network_.to_worker(e.stream, [e](StreamEnd& end) { worker_at(end).drain(e.stream, !e.is_over); });
          } else if constexpr (std::is_same_v<E, core::NoteStop>) {
            network_.to_worker(e.stream, [e](StreamEnd& end) { worker_at(end).stop_noted(e.stream); });
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
  maker_->server_started();  // what it said is forgotten too
}

std::string ServerNode::why_it_waits(JobId job) {
  absl::StatusOr<core::Reply> reply = absl::UnknownError("");
  post(core::Question(core::ExplainJob{job}), [&reply](absl::StatusOr<core::Reply> r) { reply = std::move(r); });
  while (absl::IsUnknown(reply.status()) && world_.step(world_.elapsed() + 10s)) {
  }
  if (!reply.ok()) return std::string(reply.status().message());
  const auto& why = std::get<core::Explanation>(*reply);
  std::string out =
      cat(core::name(why.state), ": ", why.waiting_for, "; unblocked by ", why.unblock, "; ", why.provisioning);
  for (const core::Candidate& c : why.candidates)
    out += cat("; ", c.worker.str(), c.fits ? " fits" : cat(" ", c.rule, ": ", c.reason));
  for (const core::ProviderCandidate& c : why.providers)
    out += cat("; ", c.name, c.fits ? " could" : cat(" ", c.reason));
  return out;
}

std::string ServerNode::spec_of(JobId job) {
  const auto specs = store_.specs({job});
  if (specs.ok() && specs->size() == 1) return specs->front()->bytes;
  world_.broken(cat("the spec of ", short_id(job), " is not stored"));
  return "";
}

std::map<JobId, core::JobState> ServerNode::outcomes() const {
  std::map<JobId, core::JobState> out;
  for (const auto& [id, done] : store_.tables().done) out[id] = done.job->state;
  return out;
}

}  // namespace hodei::sim
