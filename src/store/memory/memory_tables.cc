// How writes change the maps of MemoryStore: one line per kind, in the order they come. This is the plain reading of
// what a batch means; the durable stores fold first and must arrive at the same.
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
  void operator()(const PutWorker& w) const {
    t.workers[w.worker->info.id] = through_row(*w.worker, write_worker, read_worker);
  }
  void operator()(const PutExecution& w) const {
    const auto write = [&](const ShelvedExecution& shelved, RowOut& out) { write_execution(w.job, shelved, out); };
    t.shelf[{w.job, w.shelved->execution.number}] =
        std::make_shared<const ShelvedExecution>(through_row(*w.shelved, write, read_execution));
  }
  void operator()(const DropExecutions& w) const {
    t.shelf.erase(t.shelf.lower_bound({w.job, 0}), t.shelf.lower_bound({w.job, w.below}));
  }
  void operator()(const EraseJob& w) const {
    t.done.erase(w.job);
    t.specs.erase(w.job);
    t.shelf.erase(t.shelf.lower_bound({w.job, 0}), t.shelf.upper_bound({w.job, UINT32_MAX}));
  }
  void operator()(const DeleteWorker& w) const { t.workers.erase(w.worker); }
  void operator()(const PutOtp& w) const { t.otps[w.otp.token] = through_row(w.otp, write_otp, read_otp); }
  void operator()(const DeleteOtp& w) const { t.otps.erase(w.token); }
  void operator()(const PutTemplate& w) const {
    t.templates[{w.row.ns, w.row.name}] = through_row(w.row, write_template, read_template);
  }
  void operator()(const DeleteTemplate& w) const { t.templates.erase({w.ns, w.name}); }
  void operator()(const PutSetting& w) const {
    t.settings[{w.row.kind, w.row.name}] = through_row(w.row, write_setting, read_setting);
  }
  void operator()(const DeleteSetting& w) const { t.settings.erase({w.kind, w.name}); }
  void operator()(const PutSecret& w) const {
    t.secrets[{w.row.ns, w.row.name}] = through_row(w.row, write_secret, read_secret);
  }
  void operator()(const DeleteSecret& w) const { t.secrets.erase({w.ns, w.name}); }
  void operator()(const PutAudit& w) const { t.audit[w.row.number] = through_row(w.row, write_audit, read_audit); }
  void operator()(const ExpireAudit& w) const {
    if (t.audit.empty()) return;
    const uint64_t newest = t.audit.rbegin()->first;
    std::erase_if(t.audit, [&](const auto& entry) { return entry.second.at < w.before && entry.first < newest; });
  }
  void operator()(const PutKeyLimit& w) const {
    t.key_limits[{w.row.ns, w.row.key}] = through_row(w.row, write_key_limit, read_key_limit);
  }
  void operator()(const DeleteKeyLimit& w) const { t.key_limits.erase({w.ns, w.key}); }
  void operator()(const PutIdempotency& w) const {
    t.idempotency[w.row.key] = through_row(w.row, write_idempotency, read_idempotency);
  }
  void operator()(const ExpireIdempotency& w) const {
    std::erase_if(t.idempotency, [&](const auto& entry) { return entry.second.expires < w.before; });
  }
  void operator()(const DeleteIdempotency& w) const {
    const auto found = t.idempotency.find(w.key);
    if (found != t.idempotency.end() && found->second.job == w.job) t.idempotency.erase(found);
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
  for (const ExecutionId& execution : changes.shelved()) {
    if (shelf.contains(execution))
      return refused(execution.job, cat("execution ", execution.number, " is on the shelf already"));
  }
  return absl::OkStatus();
}

void MemoryTables::apply(const Write& write) { std::visit(Apply{*this}, write); }

}  // namespace hodei::store
