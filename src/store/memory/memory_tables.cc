// How writes change the maps of MemoryStore, in the order they come. This is the plain reading of what a batch
// means; the durable stores fold first and must arrive at the same.
#include <algorithm>

#include "src/base/text.h"
#include "src/store/job_facts.h"
#include "src/store/memory/memory_store.h"
#include "src/store/memory/row_copy.h"
#include "src/store/refusals.h"

namespace hodei::store {
namespace {

using namespace core;

struct Apply {
  MemoryTables& t;

  JobPtr stored(const JobHead& job, void (*write)(const JobHead&, RowOut&), int64_t& second) const {
    return through_row(job, write, [&](RowIn& in) { return read_job(in, t.shapes, second); });
  }

  void operator()(const PutSpec& w) const {
    t.specs[w.spec->job] = std::make_shared<const SpecRow>(through_row(*w.spec, write_spec, read_spec));
  }
  void operator()(const PutJob& w) const {
    int64_t step = 0;
    t.hot[w.job->id] = stored(*w.job, write_live, step);
  }
  void operator()(const FinishJob& w) const {
    int64_t ended = 0;
    t.hot.erase(w.job->id);
    JobPtr job = stored(*w.job, write_finished, ended);
    t.done[w.job->id] = {std::move(job), WallTime{ended}};
  }
  template <class Row>
  void operator()(const Put<Row>& w) const {
    t.of<Row>()[key_of(*w.row)] = through_columns(*w.row);
  }
  template <class Row>
  void operator()(const Erase<Row>& w) const {
    t.of<Row>().erase(w.key);
  }
  void operator()(const PutExecution& w) const {
    const auto write = [&](const ArchivedExecution& archived, RowOut& out) { write_execution(w.job, archived, out); };
    t.archived[{w.job, w.archived->execution.number}] =
        std::make_shared<const ArchivedExecution>(through_row(*w.archived, write, read_execution));
  }
  void operator()(const DropExecutions& w) const {
    t.archived.erase(t.archived.lower_bound({w.job, 0}), t.archived.lower_bound({w.job, w.below}));
  }
  void operator()(const EraseJob& w) const {
    t.done.erase(w.job);
    t.specs.erase(w.job);
    t.archived.erase(t.archived.lower_bound({w.job, 0}), t.archived.upper_bound({w.job, UINT32_MAX}));
  }
  void operator()(const ExpireAudit& w) const {
    RowMap<AuditRow>& audit = t.of<AuditRow>();
    if (audit.empty()) return;
    const uint64_t newest = audit.rbegin()->first;
    std::erase_if(audit, [&](const auto& entry) { return entry.second->at < w.before && entry.first < newest; });
  }
  void operator()(const ExpireIdempotency& w) const {
    std::erase_if(t.of<IdempotencyRow>(), [&](const auto& entry) { return entry.second->expires < w.before; });
  }
  void operator()(const EraseIdempotency& w) const {
    RowMap<IdempotencyRow>& keys = t.of<IdempotencyRow>();
    const auto found = keys.find(w.key);
    if (found != keys.end() && found->second->job == w.job) keys.erase(found);
  }
  void operator()(const PutScheduler& w) const { t.scheduler = unpack_scheduler(pack(w.config)); }
  void operator()(const PutNextJob& w) const { t.next_job = w.next; }
};

}  // namespace

absl::Status MemoryTables::check(const Batch& changes) const {
  for (const JobChange& change : changes.jobs()) {
    const auto found = hot.find(change.job);
    if (change.enters()) {
      if (specs.contains(change.job)) return already_stored(change.job);
    } else if (found == hot.end() || step_of(*found->second) > change.first_step) {
      return not_live(change);
    }
  }
  for (const JobId job : changes.erased()) {
    const auto changed = std::ranges::find(changes.jobs(), job, &JobChange::job);
    const bool is_live = changed == changes.jobs().end() ? hot.contains(job) : !changed->finished;
    if (is_live) return refused(job, "a live job is not erased");
  }
  for (const ExecutionId& execution : changes.archived()) {
    if (archived.contains(execution))
      return refused(execution.job, cat("execution ", execution.number, " is archived already"));
  }
  return absl::OkStatus();
}

void MemoryTables::apply(const Write& write) { std::visit(Apply{*this}, write); }

}  // namespace hodei::store
