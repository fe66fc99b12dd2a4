#include "src/core/placement/roster.h"

#include <algorithm>

#include "src/base/codec.h"
#include "src/core/placement/rules/company.h"
#include "src/core/placement/rules/namespace.h"
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
  alike.made.reset();
  alike.taints_set = false;
  alike.ended = {};
  alike.end_reason.clear();
  std::string profile = encode(alike);
  if (info.made) profile += Encoder().text(info.made->ns).take();
  return profile;
}

// The rule that keeps a shape from every worker of a kind.
std::optional<size_t> rule_against(const Shape& shape, const WorkerInfo& example) {
  for (size_t i = 0; i < rules().size(); ++i) {
    if (rules()[i].name != "size" && rules()[i].rejects(shape, example)) return i;
  }
  return std::nullopt;
}

}  // namespace

void Roster::judge(WaitingShape& shape, WorkerClass& kind) {
  if (const std::optional<size_t> rule = rule_against(*shape.shape, kind.example)) {
    shape.rejected.push_back({&kind, *rule});
  } else {
    shape.eligible.push_back({&kind, fit_of(*shape.shape, kind.example)});
  }
}

WorkerClass* Roster::class_of(const WorkerInfo& info) {
  std::string profile = profile_of(info);
  std::unique_ptr<WorkerClass>& slot = classes_[profile];
  if (slot == nullptr) {
    slot = std::make_unique<WorkerClass>();
    slot->profile = std::move(profile);
    slot->ordinal = next_ordinal_++;
    slot->example = info;
    for (auto& [ordinal, shape] : shapes_by_ordinal_) judge(*shape, *slot);
    for (auto& [key, lane] : lanes_) {
      if (lane->indexed == JobId{}) continue;
      const std::vector<WaitingShape::Eligible>& eligible = lane->shape->eligible;
      if (!eligible.empty() && eligible.back().kind == slot.get() && slot->serves(*lane)) {
        slot->backlog.insert(lane.get(), lane->indexed, eligible.back().fit);
      }
    }
  }
  return slot.get();
}

bool Roster::knows_kind_of(const WorkerInfo& info) const { return classes_.contains(profile_of(info)); }

void Roster::add(LiveWorker* worker) {
  worker->kind = class_of(worker->record->info);
  if (worker->ordinal == 0) worker->ordinal = next_ordinal_++;
  worker->kind->members.insert(worker);
  ++members_;
  refresh(worker);
}

void Roster::change(LiveWorker* worker, const WorkerRecordPtr& record) {
  WorkerClass* before = worker->kind;
  leave_class(worker);
  worker->record = record;
  add(worker);
  drop_if_empty(before);
}

void Roster::remove(LiveWorker* worker) {
  WorkerClass* before = worker->kind;
  leave_class(worker);
  drop_if_empty(before);
}

void Roster::leave_class(LiveWorker* worker) {
  if (worker->listed) worker->kind->open.erase(worker);
  worker->listed = false;
  worker->kind->members.erase(worker);
  worker->kind = nullptr;
  --members_;
}

void Roster::drop_if_empty(WorkerClass* kind) {
  if (!kind->members.empty()) return;
  const auto of_kind = [kind](const auto& entry) { return entry.kind == kind; };
  for (auto& [ordinal, shape] : shapes_by_ordinal_) {
    std::erase_if(shape->eligible, of_kind);
    std::erase_if(shape->rejected, of_kind);
  }
  const std::string profile = kind->profile;
  classes_.erase(profile);
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

WaitingShape* Roster::waiting(const ShapePtr& shape) {
  std::unique_ptr<WaitingShape>& slot = shapes_[shape->encoded];
  if (slot == nullptr) {
    slot = std::make_unique<WaitingShape>();
    slot->shape = shape;
    slot->ordinal = next_ordinal_++;
    for (auto& [profile, kind] : classes_) judge(*slot, *kind);
    shapes_by_ordinal_[slot->ordinal] = slot.get();
  }
  return slot.get();
}

Lane* Roster::lane(Priority priority, const Namespace& ns, const ShapePtr& shape) {
  Tenant* owner = tenant(ns);
  WaitingShape* entry = waiting(shape);
  std::unique_ptr<Lane>& slot = lanes_[LaneKey{static_cast<uint8_t>(priority), owner->ordinal, entry->ordinal}];
  if (slot == nullptr) {
    slot = std::make_unique<Lane>();
    slot->priority = priority;
    slot->tenant = owner;
    slot->shape = entry;
    ++owner->all_lanes;
    if (entry->lanes.empty()) company_shapes_ += !entry->shape->company.empty();
    entry->lanes.push_back(slot.get());
    if (entry->idle_since != 0) idle_.erase(std::exchange(entry->idle_since, 0));
  }
  return slot.get();
}

void Roster::drop_if_idle(Lane* lane) {
  if (!lane->jobs.empty() || lane->parked > 0) return;
  if (lane->stale) std::erase(stale_, lane);
  index(lane);
  WaitingShape* shape = lane->shape;
  std::erase(shape->lanes, lane);
  Tenant* owner = lane->tenant;
  lanes_.erase(lane->key());
  --owner->all_lanes;
  rest_if_idle(owner);
  if (!shape->lanes.empty()) return;
  company_shapes_ -= !shape->shape->company.empty();
  // Jobs that are placed as they come would have every worker judged again and again.
  shape->idle_since = ++idle_count_;
  idle_[shape->idle_since] = shape;
  if (idle_.size() <= kMaxIdleShapes) return;
  WaitingShape* oldest = idle_.begin()->second;
  idle_.erase(idle_.begin());
  shapes_by_ordinal_.erase(oldest->ordinal);
  const ShapePtr keep = oldest->shape;
  shapes_.erase(keep->encoded);
}

void Roster::index(Lane* lane) {
  lane->stale = false;
  const JobId first = lane->first();
  if (first == lane->indexed) return;
  for (const WaitingShape::Eligible& e : lane->shape->eligible) {
    if (!e.kind->serves(*lane)) continue;
    if (lane->indexed != JobId{}) e.kind->backlog.erase(lane, lane->indexed);
    if (first != JobId{}) e.kind->backlog.insert(lane, first, e.fit);
  }
  lane->indexed = first;
}

void Roster::index_stale() {
  for (Lane* lane : stale_) index(lane);
  stale_.clear();
}

void Roster::note_first(Lane* lane) {
  if (lane->stale || lane->first() == lane->indexed) return;
  lane->stale = true;
  stale_.push_back(lane);
}

const WaitingShape* Roster::shape(Ordinal ordinal) const {
  const auto it = shapes_by_ordinal_.find(ordinal);
  return it == shapes_by_ordinal_.end() ? nullptr : it->second;
}

void Roster::each_lane(const std::function<void(const Lane&)>& visit) const {
  for (const auto& [key, lane] : lanes_) visit(*lane);
}

ShapePtr Roster::shared(const ShapePtr& shape) const {
  const auto it = shapes_.find(shape->encoded);
  return it == shapes_.end() ? shape : it->second->shape;
}

Namespace Roster::shared(const Namespace& ns) const {
  const auto it = tenants_.find(ns);
  return it == tenants_.end() ? ns : it->second->ns;
}

Lane* Roster::lane(const LaneKey& key) const {
  const auto it = lanes_.find(key);
  return it == lanes_.end() ? nullptr : it->second.get();
}

Lane* Roster::lane_after(const LaneKey& key) const {
  const auto it = lanes_.upper_bound(key);
  return it == lanes_.end() ? nullptr : it->second.get();
}

LabelsPtr Roster::shared(const LabelsPtr& labels) {
  if (labels == nullptr) return nullptr;
  if (labels_.size() >= kMaxSharedLabels) labels_.clear();
  return labels_.emplace(*labels, labels).first->second;
}

bool Roster::fits(const Lane& lane, const Fit& fit, const LiveWorker& worker) const {
  const Shape& shape = *lane.shape->shape;
  if (!worker.has_slot() || !worker.free().covers(shape.needs)) return false;
  if (worker.reserved.priority != 0 && worker.reserved.priority >= static_cast<uint8_t>(lane.priority) &&
      worker.reserved != lane.key()) {
    return false;
  }
  if (shape.company.empty()) return is_kept(worker.rank, fit, *config_);
  return !rejects_company(shape, worker) && is_kept(worker.rank, in_company(shape, fit, worker), *config_);
}

Choice Roster::best(const Lane& lane, const std::vector<WorkerId>& but_not) const {
  Choice choice;
  const WaitingShape& shape = *lane.shape;
  const bool all_differ = prefers_company(*shape.shape);
  const Fit* fit = nullptr;
  double best_total = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    if (!e.kind->serves(lane)) continue;
    for (LiveWorker* worker : e.kind->open) {
      if (!fits(lane, e.fit, *worker)) continue;
      if (!but_not.empty() && std::find(but_not.begin(), but_not.end(), worker->id()) != but_not.end()) continue;
      const double total =
          worker->rank + favour_of(all_differ ? in_company(*shape.shape, e.fit, *worker) : e.fit, *config_);
      if (choice.worker == nullptr || total > best_total ||
          (total == best_total && worker->ordinal < choice.worker->ordinal)) {
        choice.worker = worker;
        best_total = total;
        fit = &e.fit;
      }
      if (!all_differ) break;  // the rest of this class ranks lower
    }
  }
  if (choice.worker != nullptr) choice.decision = decision_for(lane, *choice.worker, *fit);
  return choice;
}

Decision Roster::decision_for(const Lane& lane, const LiveWorker& winner, const Fit& fit) const {
  Decision decision;
  decision.winner = winner.id();
  decision.score = score_of(winner, in_company(*lane.shape->shape, fit, winner), *config_);
  count_rejections(lane, decision);
  return decision;
}

void Roster::count_rejections(const Lane& lane, Decision& decision) const {
  const WaitingShape& shape = *lane.shape;
  uint32_t full = 0;
  uint32_t foreign = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    if (!e.kind->serves(lane)) {
      foreign += static_cast<uint32_t>(e.kind->members.size());
      continue;
    }
    full += static_cast<uint32_t>(e.kind->members.size() - e.kind->open.size());
  }
  decision.considered = static_cast<uint32_t>(members_);
  if (full > 0) decision.rejected.push_back({"room", full});
  if (foreign > 0) decision.rejected.push_back({std::string(kNamespaceRule), foreign});
  std::vector<uint32_t> counts(rules().size());
  for (const WaitingShape::Rejected& r : shape.rejected)
    counts[r.rule] += static_cast<uint32_t>(r.kind->members.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) decision.rejected.push_back({std::string(rules()[i].name), counts[i]});
  }
}

Lane* Roster::first_waiting(const LiveWorker& worker) {
  if (worker.kind == nullptr || !worker.available() || !worker.has_slot()) return nullptr;
  index_stale();
  return worker.kind->backlog.first(
      [&](const Lane& lane, const Fit& fit) { return admits(lane) && fits(lane, fit, worker); });
}

}  // namespace hodei::core
