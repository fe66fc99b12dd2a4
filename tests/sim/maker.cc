#include "tests/sim/maker.h"

namespace hodei::sim {

size_t Maker::existing() const {
  size_t count = 0;
  for (const auto& [id, resource] : resources_) count += resource.exists;
  return count;
}

// What the server's own threads learned is lost with the server.
void Maker::tell(core::Command command, uint64_t life) {
  if (Reign* reign = servers_.reign(life)) reign->post(std::move(command), nullptr);
}

void Maker::plan() { introduce(); }

void Maker::introduce() {
  core::ProviderRow row;
  row.name = kName;
  row.type = "sim";
  row.max_workers = room_;
  servers_.call("a person", core::PutProvider{row, true}, [this](absl::StatusOr<core::Reply> reply) {
    introduced_ = reply.ok() || absl::IsAlreadyExists(reply.status());
    Reign* leader = servers_.leader();
    if (introduced_ && leader != nullptr) return server_started(leader->life());
    world_.after(1s, [this] { introduce(); });
  });
}

void Maker::server_started(uint64_t life) {
  if (!introduced_) return;
  core::ProviderFacts facts;
  facts.startup = 1s;
  world_.after(world_.between(1ms, 2s), [this, facts, life] {
    tell(core::ProviderSeen{kName, facts, core::HealthState::Healthy, ""}, life);
    count_stock(life);
  });
}

void Maker::count_stock(uint64_t life) {
  if (servers_.reign(life) == nullptr) return;
  core::Inventory stock{kName, {}};
  for (const auto& [id, resource] : resources_) {
    if (resource.exists) stock.workers.push_back({id, "handle"});
  }
  world_.after(world_.between(1ms, 3s), [this, stock, life] { tell(stock, life); });
  const uint64_t count = ++counts_;
  world_.after(60s, [this, life, count] {
    if (count == counts_) count_stock(life);
  });
}

void Maker::create(const core::CreateWorker& wish, uint64_t life) {
  const WorkerId id = wish.record->info.id;
  const Hash128 otp = hash128(cat("made ", world_.random()));
  world_.trace("maker is asked for ", id.str());
  tell(core::MakeOtp{otp, id}, life);
  const uint64_t how = honest_ ? 0 : world_.below(20);
  const Duration takes = how == 1 ? world_.between(30s, 200s) : world_.between(10ms, 5s);
  world_.after(takes, [this, id, life, how, otp] {
    switch (how) {
      case 2: return tell(core::WorkerFailed{id, core::MakingFailure::Trouble, "it is down"}, life);
      case 3: return tell(core::WorkerFailed{id, core::MakingFailure::Shape, "not like this"}, life);
      case 4:  // it says that it failed, and there is one
        tell(core::WorkerFailed{id, core::MakingFailure::Trouble, "it broke"}, life);
        return make(id, otp, life, false, true);
      case 5: return make(id, otp, life, true, false);  // there is one, and it never runs
      case 6:                                           // it takes its time, and says why
        tell(core::WorkerHeldUp{id, "no node takes it"}, life);
        return world_.after(world_.between(1s, 30s), [this, id, otp, life] { make(id, otp, life, true, true); });
      default: return make(id, otp, life, true, true);
    }
  });
}

void Maker::make(const WorkerId& id, Hash128 otp, uint64_t life, bool says_so, bool comes_up) {
  if (existing() >= room_) return tell(core::WorkerFailed{id, core::MakingFailure::Room, "full"}, life);
  Resource& resource = resources_[id];
  if (resource.node != nullptr) return;  // asked for twice
  world_.trace("maker has made ", id.str());
  resource.exists = true;
  resource.node = std::make_unique<WorkerNode>(world_, checker_, network_, servers_, id.str(), 1);
  resource.node->is_made(otp, kName);
  if (says_so) tell(core::WorkerMade{id, "handle"}, life);
  if (!comes_up) return;
  world_.after(world_.between(10ms, 2s), [this, id, life] {
    Resource& made = resources_.at(id);
    if (!made.exists) return;
    tell(core::WorkerRuns{id}, life);
    made.node->boot();
  });
}

void Maker::end(const WorkerId& id, uint64_t life) {
  world_.after(world_.between(10ms, 3s), [this, id, life] {
    const auto it = resources_.find(id);
    if (!honest_ && world_.chance(0.1)) {
      world_.trace("maker fails to destroy ", id.str());
      world_.after(world_.between(100ms, 5s), [this, id, life] {
        if (servers_.reign(life) != nullptr) end(id, life);
      });
      return;
    }
    // Now and then it says so and has not.
    const bool lies = !honest_ && world_.chance(0.05);
    if (it != resources_.end() && it->second.exists && !lies) {
      world_.trace("maker destroys ", id.str());
      it->second.exists = false;
      it->second.node->destroy();
    }
    tell(core::WorkerDestroyed{id}, life);
  });
}

}  // namespace hodei::sim
