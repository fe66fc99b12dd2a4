// The durable side of the engine. Two ports: Store is used by the loop alone, Reader by everybody else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/jobs/idempotency.h"
#include "src/core/rows/row.h"
#include "src/core/writes.h"
#include "src/store/tables.h"

namespace hodei::store {

enum class Epoch : uint64_t {};    // one per term of a leader; grows with every term
enum class BatchNo : uint64_t {};  // one per commit, growing by one over the life of the store

// What a restart needs. The order of calls is: scheduler and counters, the rows of each type as their descriptors say
// (all or the newest, by growing key or by another member) in the order of core::AllRows, jobs by growing number.
using LoadVisitor = std::function<void(const core::Write&)>;

class Store {
 public:
  virtual ~Store() = default;

  // Every commit with an older epoch is refused from now on. For leadership (leadership.h), which knows who may.
  virtual absl::StatusOr<Epoch> new_epoch() = 0;
  // The newest one.
  virtual absl::StatusOr<Epoch> epoch() = 0;

  // All of it or nothing, durable when it returns OK. ABORTED: another epoch holds the store. RESOURCE_EXHAUSTED: disk
  // full, nothing was written. Any other error: the outcome is unknown; ask last_batch().
  // Batches come one by one (FAILED_PRECONDITION else). A job enters with its PutSpec and PutJob in one batch; after
  // that it goes only forward (docs/semantics.md), and its end is final: a write against that is INTERNAL; nothing was
  // written.
  virtual absl::Status commit(const core::Writes& writes, Epoch epoch, BatchNo batch) = 0;

  // Its answer is final: no earlier commit may still be applied afterwards.
  virtual absl::StatusOr<BatchNo> last_batch() = 0;

  // Everything that is hot, as the writes that would build it.
  virtual absl::Status load(const LoadVisitor& visit) = 0;
};

// A job with its texts, as people see it.
struct JobView {
  core::JobHead head;
  core::SpecRow spec;  // bytes only where asked for
  WallTime ended;      // finished jobs
};

struct JobQuery {
  std::string ns;                      // empty: all
  std::vector<core::JobState> states;  // empty: all
  std::string name;                    // exactly this one; empty: any
  std::string name_contains;
  core::Labels labels;                 // all must match
  std::vector<core::LabelRule> rules;  // all must hold for the job's labels
  std::string worker;                  // ran or runs there (newest execution)
  WallTime since;                      // submitted then or later; not set: any time
  WallTime until;                      // submitted before; not set: any time
  bool oldest_first = false;
  JobId before{};  // 0: from the newest; else numbers below this one. Oldest first: from the oldest; else those above.
  size_t limit = 50;
};

// One page of a list. A page may have fewer entries than were asked for, and still not be the last.
struct JobPage {
  std::vector<JobView> jobs;
  JobId next{};  // `before` of the next page; 0: that was all
};

// How long a read may go on. A list that runs out of time gives what it has found, and where to go on.
struct ReadLimit {
  std::function<bool()> is_cancelled;    // nobody waits any more: the read ends with CANCELLED; null: never
  std::function<bool()> is_out_of_time;  // null: never
};

// Executions of a job that others have followed, newest first.
struct ArchiveQuery {
  JobId job{};
  uint32_t below = UINT32_MAX;  // numbers below this one
  size_t limit = 100;
  size_t max_bytes = SIZE_MAX;  // of all of them as stored; the first comes whatever its size
};

struct PrintedBytes {
  uint32_t execution = 0;
  int64_t bytes = 0;
};

struct AuditQuery {
  std::string ns;       // empty: all
  std::string action;   // empty: all
  std::string subject;  // empty: all
  WallTime since;       // not set: all
  uint64_t before = 0;  // 0: from the newest; else numbers below this one
  size_t limit = 100;
};

struct AuditPage {
  std::vector<core::AuditRow> rows;
  uint64_t next = 0;  // `before` of the next page; 0: that was all
};

struct FinishedJob {
  JobId job{};
  std::string ns;
  WallTime ended;
};

// Rows of one table by growing key: those whose first `given` key columns have the values that `key` writes.
struct RowQuery {
  const Table* table = nullptr;  // kTableOf<Row> of a listed row type
  size_t given = 0;
  std::function<void(core::RowOut&)> key;
};

// Committed state, read beside the loop. Every method may be called from any thread.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual absl::StatusOr<JobView> job(JobId id) = 0;  // NOT_FOUND
  virtual absl::StatusOr<JobPage> jobs(const JobQuery& query, const ReadLimit& limit = {}) = 0;
  virtual absl::StatusOr<std::vector<core::ArchivedExecution>> archived_executions(const ArchiveQuery& query) = 0;
  virtual absl::StatusOr<std::vector<PrintedBytes>> printed(
      JobId job) = 0;  // by archived executions whose worker said so
  // Finished jobs by growing number, from the first above this one.
  virtual absl::StatusOr<std::vector<FinishedJob>> finished(JobId above, size_t limit) = 0;
  // The same of one namespace, from its first.
  virtual absl::StatusOr<std::vector<FinishedJob>> oldest_finished(const std::string& ns, size_t limit) = 0;
  virtual absl::StatusOr<std::map<std::string, int64_t>> finished_counts() = 0;  // by namespace
  // In the order asked; unknown ones are left out.
  virtual absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> specs(const std::vector<JobId>& ids) = 0;
  virtual absl::StatusOr<AuditPage> audit(const AuditQuery& query, const ReadLimit& limit = {}) = 0;  // newest first
  // The jobs that have these idempotency keys, in the order asked; nothing for a key that nobody has.
  virtual absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> key_owners(const std::vector<Hash128>& keys) = 0;
  virtual absl::Status rows(const RowQuery& query, const std::function<void(core::RowIn&)>& visit) = 0;

  // The row with this key; nothing if there is none.
  template <class Row>
  absl::StatusOr<std::optional<Row>> find(const core::KeyOf<Row>& key) {
    std::optional<Row> out;
    const RowQuery query{&kTableOf<Row>, core::key_column_count<Row>(),
                         [&](core::RowOut& to) { core::write_key<Row>(key, to); }};
    const absl::Status status = rows(query, [&](core::RowIn& in) { out = core::read_row<Row>(in); });
    if (!status.ok()) return status;
    return out;
  }
  // All rows by growing key, or those that have these first parts of the key.
  template <class Row, class... Parts>
  absl::StatusOr<std::vector<Row>> list(const Parts&... first) {
    static_assert(sizeof...(first) <= core::key_column_count<Row>());
    std::vector<Row> out;
    const RowQuery query{&kTableOf<Row>, sizeof...(first),
                         [&]([[maybe_unused]] core::RowOut& to) { (core::StoredAs<Parts>::write(first, to), ...); }};
    const absl::Status status = rows(query, [&](core::RowIn& in) { out.push_back(core::read_row<Row>(in)); });
    if (!status.ok()) return status;
    return out;
  }

  absl::StatusOr<core::TemplateRow> job_template(const std::string& ns, const std::string& name);  // NOT_FOUND
  absl::StatusOr<std::vector<core::TemplateRow>> job_templates(const std::string& ns);             // empty ns: all
  absl::StatusOr<core::SecretRow> secret(const std::string& ns, const std::string& name);          // NOT_FOUND
  absl::StatusOr<std::vector<core::SecretRow>> secrets(const std::string& ns);                     // empty ns: all
};

}  // namespace hodei::store
