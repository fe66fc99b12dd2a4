#include "tests/sim/server_node.h"

#include "tests/sim/reign.h"
#include "tests/sim/stream_link.h"

namespace hodei::sim {

ServerNode::ServerNode(Shared& shared, std::string name)
    : shared_(shared), name_(std::move(name)), leadership_(*this) {}

ServerNode::~ServerNode() = default;

void ServerNode::start() {
  down_ = false;
  stand_by();
}

void ServerNode::stand_by() {
  const auto again = [this](Duration wait) {
    world().after(wait, [this, process = process_] {
      if (process == process_) stand_by();
    });
  };
  if (is_paused()) return again(paused_for());
  // Most of the time it looks first whether somebody leads.
  const absl::StatusOr<std::optional<store::Leader>> leader = leadership_.leader();
  if (!store_is_away() && reign_ == nullptr && leader.ok() && (!*leader || world().chance(0.05))) {
    reign_ = std::make_unique<Reign>(*this, ++shared_.lives);
    reign_->begin();
    if (reign_->has_ended()) reign_ = nullptr;
  }
  again(world().between(800ms, 1200ms));
}

void ServerNode::turn_ended() { crash_now_ ? crash(world().between(10ms, 5s)) : end_reign(); }

void ServerNode::end_reign() {
  world().trace(name_, " leads no more");
  checker().lives().server_died();
  const uint64_t life = reign_->life();
  network().break_all(name_);
  reign_ = nullptr;
  if (shared_.watcher != nullptr) shared_.watcher->reign_ended(life);
}

void ServerNode::stop_faults() {
  // Those of the network and the disk; what a process suffers passes by itself.
  store_away_until_ = log_disk_full_until_ = Duration(0);
}

Duration ServerNode::commit_time() {
  World& world = shared_.world;
  if (world.chance(shared_.faults.stuck_commit)) return world.between(5s, 70s);
  return world.chance(shared_.faults.slow_commit) ? world.between(10ms, 3s) : world.between(20us, 2ms);
}

void ServerNode::wait_for_disk(Duration length) {
  if (length > 1s) world().trace("a commit takes ", length.count() / 1000, " ms");
  on_loop_ = false;
  const auto wait = [this](Duration until) {
    while (world().ok() && !crash_now_ && world().step(until)) {
    }
  };
  wait(world().elapsed() + length);
  while (world().ok() && !crash_now_ && is_paused()) wait(paused_until_);
  on_loop_ = true;
}

void ServerNode::crash(Duration down_for) {
  if (down_) return;
  if (reign_ != nullptr && reign_->in_turn()) {
    crash_now_ = true;  // the loop that waits for its disk falls with it
    return;
  }
  world().trace(name_, " down for ", down_for.count() / 1000, " ms");
  // What the next life loads must be what this one knew. In the middle of a commit it knew more than the disk.
  if (reign_ != nullptr && !crash_now_ && world().ok()) reign_->check_digest();
  ++process_;
  down_ = true;
  if (reign_ != nullptr) end_reign();
  leadership_.process_died();
  crash_now_ = false;
  paused_until_ = store_away_until_ = log_disk_full_until_ = Duration(0);
  world().after(down_for, [this] { start(); });
}

void ServerNode::pause(Duration length) {
  if (down_) return;
  world().trace(name_, " pauses for ", length.count() / 1000, " ms");
  paused_until_ = world().elapsed() + length;
}

void ServerNode::lose_store(Duration length) {
  if (down_) return;
  world().trace("the store is away from ", name_, " for ", length.count() / 1000, " ms");
  store_away_until_ = world().elapsed() + length;
}

void ServerNode::fill_log_disk(Duration length) {
  if (down_) return;
  world().trace("the disk for output of ", name_, " is full for ", length.count() / 1000, " ms");
  log_disk_full_until_ = world().elapsed() + length;
}

std::shared_ptr<StreamLink> ServerNode::open_stream(const WorkerId& worker, uint64_t stream) {
  if (reign_ == nullptr) return nullptr;
  auto link = std::make_shared<StreamLink>(*reign_, worker, stream);
  link->start();
  return link;
}

}  // namespace hodei::sim
