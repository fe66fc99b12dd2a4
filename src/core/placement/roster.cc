#include "src/core/placement/roster.h"

#include <algorithm>

#include "src/core/placement/rules/affinity.h"
#include "src/core/placement/rules/namespace.h"
#include "src/core/placement/rules/rule.h"

namespace hodei::core {

bool Roster::fits(const Lane& lane, const Fit& fit, const LiveWorker& worker) const {
  const Shape& shape = *lane.shape->shape;
  if (!worker.has_slot() || !worker.free().covers(shape.needs)) return false;
  if (worker.reserved.priority != 0 && worker.reserved.priority >= static_cast<uint8_t>(lane.priority) &&
      worker.reserved != lane.key()) {
    return false;
  }
  if (shape.affinity.empty()) return is_kept(worker.rank, fit, *config_);
  return !rejects_affinity(shape, worker) && is_kept(worker.rank, with_affinity(shape, fit, worker), *config_);
}

Choice Roster::best(const Lane& lane, const std::vector<WorkerId>& but_not) const {
  Choice choice;
  const WaitingShape& shape = *lane.shape;
  const bool all_differ = has_preferred_affinity(*shape.shape);
  const Fit* fit = nullptr;
  double best_total = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    if (!e.kind->serves(lane)) continue;
    for (LiveWorker* worker : e.kind->open) {
      if (!fits(lane, e.fit, *worker)) continue;
      if (!but_not.empty() && std::find(but_not.begin(), but_not.end(), worker->id()) != but_not.end()) continue;
      const double total =
          worker->rank + favour_of(all_differ ? with_affinity(*shape.shape, e.fit, *worker) : e.fit, *config_);
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
  decision.score = score_of(winner, with_affinity(*lane.shape->shape, fit, winner), *config_);
  count_rejections(lane, decision);
  return decision;
}

void Roster::count_rejections(const Lane& lane, Decision& decision) const {
  const WaitingShape& shape = *lane.shape;
  uint32_t full = 0;
  uint32_t foreign = 0;
  for (const WaitingShape::Eligible& e : shape.eligible) {
    if (!e.kind->serves(lane)) {
      foreign += static_cast<uint32_t>(e.kind->members.size() - e.kind->left);
      continue;
    }
    full += static_cast<uint32_t>(e.kind->members.size() - e.kind->left - e.kind->open.size());
  }
  decision.considered = static_cast<uint32_t>(workers.workers());
  if (full > 0) decision.rejected.push_back({"room", full});
  if (foreign > 0) decision.rejected.push_back({std::string(kNamespaceRule), foreign});
  std::vector<uint32_t> counts(rules().size());
  for (const WaitingShape::Rejected& r : shape.rejected)
    counts[r.rule] += static_cast<uint32_t>(r.kind->members.size() - r.kind->left);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) decision.rejected.push_back({std::string(rules()[i].name), counts[i]});
  }
}

Lane* Roster::first_waiting(const LiveWorker& worker) {
  if (worker.kind == nullptr || !worker.available() || !worker.has_slot()) return nullptr;
  lanes.index_stale();
  return worker.kind->backlog.first(
      [&](const Lane& lane, const Fit& fit) { return admits(lane) && fits(lane, fit, worker); });
}

Lane* Roster::first_waiting_of(const Tenant& tenant) {
  if (tenant.closed()) return nullptr;
  lanes.index_stale();
  for (size_t c = kPriorities; c-- > 0;) {
    if (tenant.lanes[c] == 0) continue;
    Lane* first = nullptr;
    for (const auto& [profile, kind] : workers.all()) {
      const auto& open = kind->open;
      if (open.empty()) continue;
      Lane* lane = kind->backlog.first_of(tenant, c, [&](const Lane& candidate, const Fit& fit) {
        return admits(candidate) && std::any_of(open.begin(), open.end(), [&](const LiveWorker* worker) {
                 return fits(candidate, fit, *worker);
               });
      });
      if (lane != nullptr && (first == nullptr || lane->first() < first->first())) first = lane;
    }
    if (first != nullptr) return first;
  }
  return nullptr;
}

void Roster::set_tenant(const TenantRow& row) {
  Tenant& changed = tenants.set(row);
  for (const auto& [profile, kind] : workers.all()) kind->backlog.reorder(changed);
  changed.cpu_waiting.clear();
  changed.memory_waiting.clear();
  if (!changed.sums()) return tenants.rest_if_idle(&changed);
  for (const auto& [key, lane] : lanes.all()) {
    if (lane->tenant == &changed && !lane->jobs.empty()) changed.count_lane(lane->shape->shape->needs, true);
  }
}

LabelsPtr LabelPool::shared(const LabelsPtr& labels) {
  if (labels == nullptr) return nullptr;
  if (all_.size() >= kMost) all_.clear();
  return all_.emplace(*labels, labels).first->second;
}

}  // namespace hodei::core
