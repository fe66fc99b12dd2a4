#include "tests/sim/reign.h"

#include "src/server/logs/job_ends.h"

namespace hodei::sim {
namespace {

// Small, so that everything that has a bound reaches it.
server::LogHubLimits small_limits() {
  server::LogHubLimits limits;
  limits.inbox_bytes = 8192;
  limits.group_bytes = 2048;
  limits.buffer_entries = 20;
  limits.buffer_bytes = 2048;
  limits.all_buffers_bytes = 8192;
  limits.chunk_bytes = 700;
  limits.max_behind = 6000;
  return limits;
}

}  // namespace

Reign::Reign(ServerNode& node, uint64_t life)
    : node_(node),
      life_(life),
      store_(*this),
      reader_(*this),
      log_store_(node),
      beats_(node.world()),
      hub_(log_store_, server::job_ends_from(reader_), node.world(), small_limits()),
      carrier_(links_, events_, *this),
      filler_(reader_, [this](ExecutionId execution) { return log_store_.extent(execution).next_offset; }),
      tenure_(store_, node.leadership(), node.world(), core::EngineConfig{}),
      core_(tenure_, node.world(), *this, beats_) {
  tenure_.set_address(node.name());
  carrier_.set_maker(this);
}

Reign::~Reign() {
  hub_.end_subscriptions();
  for (server::Waiting& w : inbox_) {
    if (w.reply) w.reply(absl::UnavailableError("connection lost"));
  }
}

void Reign::begin() {
  if (!core_.take_over().ok()) {
    failed_ = true;
    return;
  }
  world().trace(server(), " leads, epoch ", static_cast<uint64_t>(tenure_.epoch()));
  plan_turn(Duration(0));
  later(1s, [this] { tick_hub(); });
  node_.shared().maker->server_started(life_);
}

void Reign::later(Duration wait, std::function<void()> what) {
  world().after(wait, [&node = node_, life = life_, what = std::move(what)] {
    if (node.reign() != nullptr && node.reign()->life() == life) what();
  });
}

void Reign::when_running(std::function<void()> what) {
  if (!is_paused()) return what();
  later(node_.paused_for(), [this, what = std::move(what)] { when_running(what); });
}

void Reign::beside_the_loop(std::function<void()> what) {
  later(world().between(5us, 500us), [this, what = std::move(what)] { when_running(what); });
}

void Reign::post(core::Command command, server::ReplyTo reply) {
  // What a server hears that has been deposed, and does not know it yet, is lost with it.
  const bool leads = tenure_.epoch() == node_.shared().lease.epoch;
  if (const auto* stops = std::get_if<core::WorkerStops>(&command); stops != nullptr && leads)
    checker().lives().stop_heard(stops->worker);
  inbox_.push_back({std::move(command), std::move(reply)});
  plan_turn(world().between(20us, 300us));
}

void Reign::plan_turn(Duration wait) {
  if (turn_planned_) return;
  turn_planned_ = true;
  later(wait, [this] { run_turn(); });
}

void Reign::run_turn() {
  if (is_paused()) return later(node_.paused_for(), [this] { run_turn(); });
  std::vector<server::Waiting> commands = std::move(inbox_);
  inbox_.clear();
  // A crash inside the commit lets no reply out.
  for (server::Waiting& w : commands) {
    if (!w.reply) continue;
    w.reply = [this, reply = std::move(w.reply)](absl::StatusOr<core::Reply> r) {
      reply(node_.is_crashing() ? absl::StatusOr<core::Reply>(absl::UnavailableError("connection lost"))
                                : std::move(r));
    };
  }
  const uint64_t before = node_.shared().commits;
  turning_ = true;  // `turn_planned_` too: nothing else takes a turn meanwhile
  node_.set_on_loop(true);
  std::vector<server::Waiting> left = core_.turn(std::move(commands));
  node_.set_on_loop(false);
  turn_planned_ = turning_ = false;
  inbox_.insert(inbox_.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
  if (node_.is_crashing() || has_ended()) return node_.turn_ended();  // this is gone
  const uint64_t commits = node_.shared().commits;
  if (core_.ready() && commits != before && commits % node_.shared().faults.digest_every == 0) check_digest();
  if (!inbox_.empty()) plan_turn(world().between(20us, 300us));
  const MonoTime wake = core_.next_wakeup();
  const MonoTime now = world().now().mono;
  if (wake < wake_planned_ || wake_planned_ <= now) {
    wake_planned_ = wake;
    later(std::max(Duration(1), wake - now), [this] { plan_turn(Duration(0)); });
  }
}

void Reign::check_digest() {
  // In the middle of a commit, and behind that of a successor, memory and store differ.
  if (!core_.ready() || turning_ || tenure_.epoch() != node_.shared().lease.epoch) return;
  core::Engine fresh;
  const absl::Status loaded = node_.shared().store.load([&](const core::Write& w) { fresh.restore(w); });
  if (!loaded.ok()) world().broken("the store cannot be loaded");
  if (fresh.digest() != core_.engine()->digest()) world().broken("memory and store have drifted apart");
}

void Reign::carry_out(const core::Turn& turn, store::Epoch epoch) {
  // A batch that the store has taken may be told of later. What was not committed nobody has checked but the server.
  if (turn.writes.empty() && !turn.effects.empty() && epoch != node_.shared().lease.epoch)
    world().broken(cat(server(), " was deposed, and still tells workers what to do"));
  for (const core::Effect& effect : turn.effects) {
    if (const auto* run = std::get_if<core::RunExecution>(&effect)) {
      world().trace(server(), " sends ", to_string(run->execution), " to ", run->worker.str());
      checker().ordered(run->execution, run->worker, run->attempt);
    } else if (const auto* moved = std::get_if<core::JobMoved>(&effect)) {
      world().trace("job ", short_id(moved->job->id), " is ", core::name(moved->job->state));
    }
  }
  carrier_.carry_out(turn, epoch);
}

void Reign::forget_streams(const std::string& why) {
  if (node_.is_crashing()) return;
  carrier_.forget_streams(why);
}

void Reign::execution_lost(ExecutionId execution) {
  hub_.execution_lost(execution);
  plan_hub();
}

void Reign::plan_hub() {
  if (std::exchange(hub_planned_, true)) return;
  const bool slow = world().chance(node_.shared().faults.slow_commit);
  later(slow ? world().between(10ms, 3s) : world().between(50us, 2ms), [this] {
    when_running([this] {
      hub_planned_ = false;
      hub_.step();
      if (hub_.wants_step()) plan_hub();
    });
  });
}

void Reign::tick_hub() {
  when_running([this] {
    hub_.tick();
    plan_hub();
    later(1s, [this] { tick_hub(); });
  });
}

}  // namespace hodei::sim
