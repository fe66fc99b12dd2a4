#include "src/core/placement/worker_classes.h"

#include <optional>
#include <utility>
#include <vector>

#include "src/base/codec.h"
#include "src/core/placement/lanes.h"
#include "src/core/placement/rules/rule.h"
#include "src/core/placement/shapes.h"

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
  // One that cannot limit single jobs takes those whose limits are its own.
  const bool by_size = info.lacks != 0 && info.isolation != Isolation::Process;
  alike.capacity = by_size ? Amounts{info.capacity.cpu_milli, info.capacity.memory_mb, 0, 0} : Amounts{};
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

void judge(WaitingShape& shape, WorkerClass& kind) {
  if (const std::optional<size_t> rule = rule_against(*shape.shape, kind.example)) {
    shape.rejected.push_back({&kind, *rule});
  } else {
    shape.eligible.push_back({&kind, fit_of(*shape.shape, kind.example)});
  }
}

WorkerClass* WorkerClasses::at(const WorkerInfo& info) {
  std::string profile = profile_of(info);
  std::unique_ptr<WorkerClass>& slot = all_[profile];
  if (slot == nullptr) {
    slot = std::make_unique<WorkerClass>();
    slot->profile = std::move(profile);
    slot->ordinal = ordinals_.take();
    slot->example = info;
    for (const auto& [ordinal, shape] : shapes_.by_ordinal()) judge(*shape, *slot);
    for (const auto& [key, lane] : lanes_.all()) {
      if (lane->indexed == JobId{}) continue;
      const std::vector<WaitingShape::Eligible>& eligible = lane->shape->eligible;
      if (!eligible.empty() && eligible.back().kind == slot.get() && slot->serves(*lane)) {
        slot->backlog.insert(lane.get(), lane->indexed, eligible.back().fit);
      }
    }
  }
  return slot.get();
}

bool WorkerClasses::knows_kind_of(const WorkerInfo& info) const { return all_.contains(profile_of(info)); }

void WorkerClasses::add(LiveWorker* worker) {
  worker->kind = at(worker->record->info);
  if (worker->ordinal == 0) worker->ordinal = ordinals_.take();
  worker->kind->members.insert(worker);
  ++members_;
  const bool has_left = worker->record->state == WorkerState::Terminated;
  worker->kind->left += has_left;
  left_ += has_left;
  refresh(worker);
}

void WorkerClasses::change(LiveWorker* worker, const WorkerRecordPtr& record) {
  WorkerClass* before = worker->kind;
  leave_class(worker);
  worker->record = record;
  add(worker);
  drop_if_empty(before);
}

void WorkerClasses::remove(LiveWorker* worker) {
  WorkerClass* before = worker->kind;
  leave_class(worker);
  drop_if_empty(before);
}

void WorkerClasses::leave_class(LiveWorker* worker) {
  if (worker->listed) worker->kind->open.erase(worker);
  worker->listed = false;
  worker->kind->members.erase(worker);
  const bool has_left = worker->record->state == WorkerState::Terminated;
  worker->kind->left -= has_left;
  left_ -= has_left;
  worker->kind = nullptr;
  --members_;
}

void WorkerClasses::drop_if_empty(WorkerClass* kind) {
  if (!kind->members.empty()) return;
  const auto of_kind = [kind](const auto& entry) { return entry.kind == kind; };
  for (const auto& [ordinal, shape] : shapes_.by_ordinal()) {
    std::erase_if(shape->eligible, of_kind);
    std::erase_if(shape->rejected, of_kind);
  }
  const std::string profile = kind->profile;
  all_.erase(profile);
}

void WorkerClasses::refresh(LiveWorker* worker) const {
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

void WorkerClasses::refresh_all() const {
  for (const auto& [profile, kind] : all_) {
    const std::vector<LiveWorker*> members(kind->members.begin(), kind->members.end());
    for (LiveWorker* worker : members) refresh(worker);
  }
}

}  // namespace hodei::core
