// A server's way to the stores that all servers share: with a disk that fails and takes its time, a power cord that is
// pulled, and somebody who looks on.
#pragma once

#include "src/store/memory/memory_log_store.h"
#include "src/store/memory/memory_store.h"

namespace hodei::sim {

class Reign;
class ServerNode;

class FlakyStore final : public store::Store {
 public:
  explicit FlakyStore(Reign& reign) : reign_(reign) {}

  absl::StatusOr<store::Epoch> new_epoch() override;
  absl::StatusOr<store::Epoch> epoch() override;
  absl::StatusOr<store::BatchNo> last_batch() override;
  absl::Status load(const store::LoadVisitor& visit) override;
  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override;

 private:
  Reign& reign_;
};

class FlakyLogStore final : public store::NumberedLogStore {
 public:
  explicit FlakyLogStore(ServerNode& node) : node_(node) {}

  absl::Status append(const std::vector<store::LogPiece>& pieces) override;
  absl::StatusOr<store::NumberedPiece> read_numbered(ExecutionId execution, int64_t from, size_t max) const override;
  absl::StatusOr<int64_t> offset_of_line(ExecutionId execution, int64_t line) const override;
  store::LogExtent extent(ExecutionId execution) const override;
  std::vector<uint32_t> executions(JobId job) const override;
  absl::StatusOr<int64_t> clear(JobId job) override;
  absl::StatusOr<int64_t> expire(const store::LogRetention& retention, WallTime now) override;

 private:
  ServerNode& node_;
};

// Reads take time. The loop waits for none of them: a read that takes long would stop the server.
class WatchedReader final : public store::Reader {
 public:
  explicit WatchedReader(Reign& reign) : reign_(reign) {}

  absl::StatusOr<store::JobView> job(JobId id) override;
  absl::StatusOr<store::JobPage> jobs(const store::JobQuery& query, const store::ReadLimit& limit) override;
  absl::StatusOr<std::vector<core::ArchivedExecution>> archived_executions(const store::ArchiveQuery& query) override;
  absl::StatusOr<std::vector<store::PrintedBytes>> printed(JobId job) override;
  absl::StatusOr<std::vector<store::FinishedJob>> finished(JobId above, size_t limit) override;
  absl::StatusOr<std::vector<store::FinishedJob>> oldest_finished(const std::string& ns, size_t limit) override;
  absl::StatusOr<std::map<std::string, int64_t>> finished_counts() override;
  absl::StatusOr<std::vector<std::shared_ptr<const core::SpecRow>>> specs(const std::vector<JobId>& ids) override;
  absl::StatusOr<store::AuditPage> audit(const store::AuditQuery& query, const store::ReadLimit& limit) override;
  absl::StatusOr<std::vector<std::optional<core::KeyOwner>>> key_owners(const std::vector<Hash128>& keys) override;
  absl::Status rows(const store::RowQuery& query, const std::function<void(core::RowIn&)>& visit) override;

 private:
  store::MemoryStore& beside_the_loop(const char* what);

  Reign& reign_;
};

}  // namespace hodei::sim
