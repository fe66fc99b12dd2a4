// The store as maps in memory, for tests and the simulator: the same promises as the durable ones, deterministic, and
// faults on request. Rows pass through their column form when they are committed, as they do on disk. A copy is an
// independent snapshot (rows are shared, maps are copied).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "src/store/batch.h"
#include "src/store/row_list.h"
#include "src/store/rows.h"
#include "src/store/store.h"

namespace hodei::store {

// What a commit can suffer.
enum class CommitFault {
  DiskFull,    // RESOURCE_EXHAUSTED, nothing was written
  LostBefore,  // UNAVAILABLE, and the batch was not applied
  LostAfter,   // UNAVAILABLE, but the batch was applied
};

template <class Row>
using RowMap = std::map<core::KeyOf<Row>, std::shared_ptr<const Row>>;

// Everything that is stored, as plain maps.
struct MemoryTables {
  struct Done {
    core::JobPtr job;
    WallTime ended;
  };
  uint64_t epoch = 0;
  uint64_t batch = 0;
  std::optional<uint64_t> next_job;
  std::optional<core::SchedulerConfig> scheduler;
  std::map<JobId, std::shared_ptr<const core::SpecRow>> specs;
  std::map<JobId, core::JobPtr> hot;
  std::map<JobId, Done> done;
  std::map<ExecutionId, std::shared_ptr<const core::ArchivedExecution>> archived;
  OnePerRow<RowMap> rows;
  ShapePool shapes;  // of the jobs above, one object for equal ones

  template <class Row>
  RowMap<Row>& of() {
    return std::get<RowMap<Row>>(rows);
  }
  template <class Row>
  const RowMap<Row>& of() const {
    return std::get<RowMap<Row>>(rows);
  }

  // Checks against what is stored; changes nothing.
  absl::Status check(const Batch& changes) const;
  void apply(const core::Write& write);
};

class MemoryStore final : public Store, public Reader {
 public:
  MemoryStore() = default;
  MemoryStore(const MemoryStore& other);
  MemoryStore& operator=(const MemoryStore& other);

  absl::StatusOr<Epoch> new_epoch() override;
  absl::StatusOr<Epoch> epoch() override;
  absl::Status commit(const core::Writes& writes, Epoch epoch, BatchNo batch) override;
  absl::StatusOr<BatchNo> last_batch() override;
  absl::Status load(const LoadVisitor& visit) override;

  absl::StatusOr<JobView> job(JobId id) override;
  absl::StatusOr<JobPage> jobs(const JobQuery& query, const ReadLimit& limit) override;
  absl::StatusOr<std::vector<core::ArchivedExecution>> archived_executions(const ArchiveQuery& query) override;
  absl::StatusOr<std::vector<PrintedBytes>> printed(JobId job) override;
  absl::StatusOr<std::vector<FinishedJob>> finished(JobId above, size_t limit) override;
  absl::StatusOr<std::vector<FinishedJob>> oldest_finished(const std::string& ns, size_t limit) override;
  absl::StatusOr<std::map<std::string, int64_t>> finished_counts() override;
  absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> specs(const std::vector<JobId>& ids) override;
  absl::StatusOr<AuditPage> audit(const AuditQuery& query, const ReadLimit& limit) override;
  absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> key_owners(const std::vector<Hash128>& keys) override;
  absl::Status rows(const RowQuery& query, const std::function<void(RowIn&)>& visit) override;

  // The next commit suffers this, once. A commit that would have been refused anyway is refused as ever.
  void fail_next_commit(CommitFault fault);

  // A copy of everything, for checks.
  MemoryTables tables() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  MemoryTables tables_;
  std::optional<CommitFault> fault_;
};

}  // namespace hodei::store
