#include "src/core/placement/roster.h"

#include "src/base/codec.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {
namespace {

// Everything of a worker that a rule or a fit reads, less its size: sizes are compared worker by worker.
std::string profile_of(const WorkerInfo& info) {
  WorkerInfo alike = info;
  alike.id = WorkerId();
  alike.name.clear();
  alike.version.clear();
  alike.hostname.clear();
  alike.ip.clear();
  alike.os.clear();
  alike.capacity = {};
  alike.slots = 0;
  return encode(alike);
}

bool class_takes(const Shape& shape, const WorkerInfo& example) {
  for (const Rule& rule : rules()) {
    if (rule.name != "size" && rule.rejects(shape, example)) return false;
  }
  return true;
}

}  // namespace

WorkerClass* Roster::class_of(const WorkerInfo& info) {
  std::string profile = profile_of(info);
  std::unique_ptr<WorkerClass>& slot = classes_[profile];
  if (slot == nullptr) {
    slot = std::make_unique<WorkerClass>();
    slot->profile = std::move(profile);
    slot->ordinal = next_ordinal_++;
    slot->example = info;
    for (auto& [ordinal, shape] : shapes_by_ordinal_) {
      if (class_takes(*shape->shape, info)) shape->eligible.push_back({slot.get(), fit_of(*shape->shape, info)});
    }
    for (auto& [key, lane] : lanes_) {
      if (lane->indexed == JobId{}) continue;
      for (const WaitingShape::Eligible& e : lane->shape->eligible) {
        if (e.kind == slot.get()) slot->backlog.insert(lane.get(), lane->indexed);
      }
    }
  }
  return slot.get();
}

void Roster::add(LiveWorker* worker) {
  worker->kind = class_of(worker->record->info);
  if (worker->ordinal == 0) worker->ordinal = next_ordinal_++;
  worker->kind->members.insert(worker);
  refresh(worker);
}

void Roster::remove(LiveWorker* worker) {
  if (worker->kind == nullptr) return;
  if (worker->listed) worker->kind->open.erase(worker);
  worker->listed = false;
  worker->kind->members.erase(worker);
  worker->kind = nullptr;
}

void Roster::refresh(LiveWorker* worker) {
  WorkerClass* kind = worker->kind;
  if (kind == nullptr) return;
  const bool open = worker->available() && worker->has_slot();
  const double rank = rank_of(*worker, *config_);
  if (worker->listed && open && rank == worker->rank) return;
  if (worker->listed) kind->open.erase(worker);
  worker->rank = rank;
  worker->listed = open;
  if (open) kind->open.insert(worker);
}

void Roster::refresh_all() {
  for (auto& [profile, kind] : classes_) {
    const std::vector<LiveWorker*> members(kind->members.begin(), kind->members.end());
    for (LiveWorker* worker : members) refresh(worker);
  }
}

Tenant* Roster::tenant(const std::string& ns) {
  std::unique_ptr<Tenant>& slot = tenants_[ns];
  if (slot == nullptr) {
    slot = std::make_unique<Tenant>();
    slot->ns = ns;
    slot->ordinal = next_ordinal_++;
  }
  return slot.get();
}

WaitingShape* Roster::waiting(const ShapePtr& shape) {
  std::unique_ptr<WaitingShape>& slot = shapes_[shape->encoded];
  if (slot == nullptr) {
    slot = std::make_unique<WaitingShape>();
    slot->shape = shape;
    slot->ordinal = next_ordinal_++;
    for (auto& [profile, kind] : classes_) {
      if (class_takes(*shape, kind->example)) slot->eligible.push_back({kind.get(), fit_of(*shape, kind->example)});
    }
    shapes_by_ordinal_[slot->ordinal] = slot.get();
  }
  return slot.get();
}

Lane* Roster::lane(Priority priority, const std::string& ns, const ShapePtr& shape) {
  Tenant* owner = tenant(ns);
  WaitingShape* entry = waiting(shape);
  std::unique_ptr<Lane>& slot = lanes_[{static_cast<uint8_t>(priority), owner->ordinal, entry->ordinal}];
  if (slot == nullptr) {
    slot = std::make_unique<Lane>();
    slot->priority = priority;
    slot->tenant = owner;
    slot->shape = entry;
    ++entry->lanes;
  }
  return slot.get();
}

void Roster::drop_if_idle(Lane* lane) {
  if (!lane->jobs.empty() || lane->parked > 0) return;
  WaitingShape* shape = lane->shape;
  lanes_.erase({static_cast<uint8_t>(lane->priority), lane->tenant->ordinal, shape->ordinal});
  if (--shape->lanes > 0) return;
  shapes_by_ordinal_.erase(shape->ordinal);
  const ShapePtr keep = shape->shape;
  shapes_.erase(keep->encoded);
}

void Roster::index(Lane* lane) {
  const JobId first = lane->first();
  if (first == lane->indexed) return;
  for (const WaitingShape::Eligible& e : lane->shape->eligible) {
    if (lane->indexed != JobId{}) e.kind->backlog.erase(lane, lane->indexed);
    if (first != JobId{}) e.kind->backlog.insert(lane, first);
  }
  lane->indexed = first;
}

void Roster::enqueue(Lane* lane, JobId job) {
  const size_t c = static_cast<size_t>(lane->priority) - 1;
  // A tenant that was idle does not collect credit for it.
  if (lane->jobs.empty()) lane->tenant->pass[c] = std::max(lane->tenant->pass[c], last_pass_[c]);
  lane->jobs.insert(job);
  index(lane);
}

void Roster::dequeue(Lane* lane, JobId job) {
  lane->jobs.erase(job);
  index(lane);
}

void Roster::served(Lane* lane) {
  const size_t c = static_cast<size_t>(lane->priority) - 1;
  last_pass_[c] = lane->tenant->pass[c];
  ++lane->tenant->pass[c];
}

ShapePtr Roster::shared(const ShapePtr& shape) const {
  const auto it = shapes_.find(shape->encoded);
  return it == shapes_.end() ? shape : it->second->shape;
}

bool Roster::fits(const Shape& shape, const Fit& fit, const LiveWorker& worker) const {
  if (!worker.has_slot() || !worker.free().covers(shape.needs)) return false;
  return worker.rank + config_->affinity * fit.affinity + config_->zone * fit.zone > config_->threshold;
}

Choice Roster::best(const WaitingShape& shape) const {
  Choice choice;
  const Fit* fit = nullptr;
  double best_total = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    for (LiveWorker* worker : e.kind->open) {
      if (!fits(*shape.shape, e.fit, *worker)) continue;
      const double total = worker->rank + config_->affinity * e.fit.affinity + config_->zone * e.fit.zone;
      if (choice.worker == nullptr || total > best_total ||
          (total == best_total && worker->ordinal < choice.worker->ordinal)) {
        choice.worker = worker;
        best_total = total;
        fit = &e.fit;
      }
      break;   // the rest of this class ranks lower
    }
  }
  if (choice.worker != nullptr) choice.decision = decision_for(shape, *choice.worker, *fit);
  return choice;
}

Decision Roster::decision_for(const WaitingShape& shape, const LiveWorker& winner, const Fit& fit) const {
  Decision decision;
  decision.winner = winner.id();
  decision.score = score_of(winner, fit, *config_);
  count_rejections(shape, decision);
  return decision;
}

void Roster::count_rejections(const WaitingShape& shape, Decision& decision) const {
  uint32_t full = 0;
  uint32_t eligible_members = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    eligible_members += static_cast<uint32_t>(e.kind->members.size());
    full += static_cast<uint32_t>(e.kind->members.size() - e.kind->open.size());
  }
  uint32_t all = 0;
  for (const auto& [profile, kind] : classes_) all += static_cast<uint32_t>(kind->members.size());
  decision.considered = all;
  if (full > 0) decision.rejected.push_back({"room", full});
  if (all == eligible_members) return;
  for (const auto& [profile, kind] : classes_) {
    if (kind->members.empty()) continue;
    const std::optional<Rejection> no = first_rejection(*shape.shape, kind->example);
    if (!no || no->rule->name == "size") continue;
    const auto count = static_cast<uint32_t>(kind->members.size());
    const auto known = std::find_if(decision.rejected.begin(), decision.rejected.end(),
                                    [&](const RuleCount& r) { return r.rule == no->rule->name; });
    if (known != decision.rejected.end()) {
      known->workers += count;
    } else {
      decision.rejected.push_back({std::string(no->rule->name), count});
    }
  }
}

Lane* Roster::first_waiting(const LiveWorker& worker) const {
  if (worker.kind == nullptr || worker.kind->backlog.empty() || !worker.available() || !worker.has_slot()) return nullptr;
  return worker.kind->backlog.first([&](const Lane& lane) {
    for (const WaitingShape::Eligible& e : lane.shape->eligible) {
      if (e.kind == worker.kind) return fits(*lane.shape->shape, e.fit, worker);
    }
    return false;
  });
}

}  // namespace hodei::core
