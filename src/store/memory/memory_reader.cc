// The reading half of MemoryStore.
#include <algorithm>
#include <functional>

#include "src/base/status.h"
#include "src/store/job_facts.h"
#include "src/store/memory/memory_store.h"
#include "src/store/memory/row_copy.h"
#include "src/store/read_check.h"
#include "src/store/refusals.h"

namespace hodei::store {
namespace {

JobView view_of(const MemoryTables& tables, const core::JobHead& job, WallTime ended, bool with_bytes) {
  JobView view{.head = job, .ended = ended};
  if (const auto spec = tables.specs.find(job.id); spec != tables.specs.end()) view.spec = *spec->second;
  if (!with_bytes) view.spec.bytes.clear();
  return view;
}

// Live and finished jobs merged, by number in the order of `comes_first`.
template <class Hot, class Done, class Order, class Visit>
void visit_merged(Hot hot, Hot hot_end, Done done, Done done_end, const Order& comes_first, const Visit& visit) {
  while (hot != hot_end || done != done_end) {
    const bool take_hot = done == done_end || (hot != hot_end && comes_first(hot->first, done->first));
    const bool go_on = take_hot ? visit(*hot->second, WallTime{}) : visit(*done->second.job, done->second.ended);
    if (!go_on) return;
    take_hot ? static_cast<void>(++hot) : static_cast<void>(++done);
  }
}

template <class Visit>
void by_number(const MemoryTables& tables, bool oldest_first, const Visit& visit) {
  if (oldest_first) {
    visit_merged(tables.hot.begin(), tables.hot.end(), tables.done.begin(), tables.done.end(), std::less(), visit);
  } else {
    visit_merged(tables.hot.rbegin(), tables.hot.rend(), tables.done.rbegin(), tables.done.rend(), std::greater(),
                 visit);
  }
}

}  // namespace

absl::StatusOr<JobView> MemoryStore::job(JobId id) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  if (const auto hot = tables_.hot.find(id); hot != tables_.hot.end()) {
    return view_of(tables_, *hot->second, {}, true);
  }
  if (const auto done = tables_.done.find(id); done != tables_.done.end()) {
    return view_of(tables_, *done->second.job, done->second.ended, true);
  }
  return no_such_job(id);
}

absl::StatusOr<JobPage> MemoryStore::jobs(const JobQuery& query, const ReadLimit& limit) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  JobPage out;
  bool cancelled = false;
  by_number(tables_, query.oldest_first, [&](const core::JobHead& job, WallTime ended) {
    cancelled = limit.is_cancelled && limit.is_cancelled();
    if (cancelled || out.jobs.size() == query.limit) return false;
    const bool seen = query.oldest_first ? job.id <= query.before : job.id >= query.before;
    if (number(query.before) != 0 && seen) return true;
    const bool out_of_time = limit.is_out_of_time && limit.is_out_of_time();
    if (head_matches(query, job)) {
      JobView view = view_of(tables_, job, ended, false);
      if (texts_match(query, view.spec.name, view.spec.labels)) out.jobs.push_back(std::move(view));
    }
    if (out_of_time) out.next = job.id;
    return !out_of_time;
  });
  if (cancelled) return nobody_waits();
  if (!out.jobs.empty() && out.jobs.size() == query.limit) out.next = out.jobs.back().head.id;
  return out;
}

absl::StatusOr<std::vector<core::ArchivedExecution>> MemoryStore::archived_executions(const ArchiveQuery& query) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<core::ArchivedExecution> out;
  size_t bytes = 0;
  auto at = tables_.archived.lower_bound({query.job, query.below});
  while (at != tables_.archived.begin() && out.size() < query.limit) {
    --at;
    if (at->first.job != query.job) break;
    bytes += encode(*at->second).size();
    if (!out.empty() && bytes > query.max_bytes) break;
    out.push_back(*at->second);
  }
  return out;
}

absl::StatusOr<std::vector<PrintedBytes>> MemoryStore::printed(JobId job) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<PrintedBytes> out;
  for (auto at = tables_.archived.lower_bound({job, 0}); at != tables_.archived.end() && at->first.job == job; ++at) {
    if (at->second->execution.log_bytes) out.push_back({at->first.number, *at->second->execution.log_bytes});
  }
  return out;
}

absl::StatusOr<std::vector<FinishedJob>> MemoryStore::finished(JobId above, size_t limit) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<FinishedJob> out;
  for (auto at = tables_.done.upper_bound(above); at != tables_.done.end() && out.size() < limit; ++at) {
    out.push_back({at->first, at->second.job->ns.str(), at->second.ended});
  }
  return out;
}

absl::StatusOr<std::vector<FinishedJob>> MemoryStore::oldest_finished(const std::string& ns, size_t limit) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<FinishedJob> out;
  for (auto at = tables_.done.begin(); at != tables_.done.end() && out.size() < limit; ++at) {
    if (at->second.job->ns.str() == ns) out.push_back({at->first, ns, at->second.ended});
  }
  return out;
}

absl::StatusOr<std::map<std::string, int64_t>> MemoryStore::finished_counts() {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::map<std::string, int64_t> out;
  for (const auto& [id, done] : tables_.done) ++out[done.job->ns.str()];
  return out;
}

absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> MemoryStore::specs(const std::vector<JobId>& ids) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const core::SpecRow>> out;
  for (JobId id : ids) {
    if (const auto spec = tables_.specs.find(id); spec != tables_.specs.end()) out.push_back(spec->second);
  }
  return out;
}

absl::Status MemoryStore::rows(const RowQuery& query, const std::function<void(RowIn&)>& visit) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  RowCopy wanted;
  if (query.given > 0) query.key(wanted);
  return each_row_type([&]<class Row>(std::type_identity<Row>) {
    if (query.table != &kTableOf<Row>) return absl::OkStatus();
    for (const auto& [key, row] : tables_.of<Row>()) {
      RowCopy stored_key;
      core::write_key<Row>(key, stored_key);
      if (!stored_key.starts_with(wanted)) continue;
      RowCopy stored;
      core::write_row(*row, stored);
      visit(stored);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<AuditPage> MemoryStore::audit(const AuditQuery& query, const ReadLimit& limit) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  const auto is = [](const std::string& wanted, const std::string& text) { return wanted.empty() || wanted == text; };
  AuditPage out;
  const RowMap<core::AuditRow>& all = tables_.of<core::AuditRow>();
  for (auto it = all.rbegin(); it != all.rend() && out.rows.size() < query.limit; ++it) {
    if (limit.is_cancelled && limit.is_cancelled()) return nobody_waits();
    const core::AuditRow& row = *it->second;
    if (query.before != 0 && row.number >= query.before) continue;
    if (query.since.is_set() && row.at < query.since) continue;
    if (is(query.ns, row.ns) && is(query.action, row.action) && is(query.subject, row.subject)) out.rows.push_back(row);
  }
  if (!out.rows.empty() && out.rows.size() == query.limit) out.next = out.rows.back().number;
  return out;
}

absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> MemoryStore::key_owners(const std::vector<Hash128>& keys) {
  check_may_read();
  const std::lock_guard lock(mutex_);
  std::vector<std::optional<core::KeyOwner>> out;
  const RowMap<core::IdempotencyRow>& all = tables_.of<core::IdempotencyRow>();
  for (const Hash128& key : keys) {
    const auto found = all.find(key);
    if (found == all.end())
      out.push_back(std::nullopt);
    else
      out.push_back(core::KeyOwner{found->second->job, found->second->fingerprint});
  }
  return out;
}

}  // namespace hodei::store
