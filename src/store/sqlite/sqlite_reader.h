// Reads the database beside the store that writes it, over a few read-only connections. A read sees one snapshot, and
// long lists are read window by window, because a snapshot that lasts keeps the log from starting over.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/store/sqlite/connection.h"
#include "src/store/sqlite/options.h"
#include "src/store/store.h"
#include "src/store/tables.h"

namespace hodei::store {

inline constexpr size_t kMaxReadConnections = 4;  // further readers wait for one

// A connection with the statements that every reader needs.
struct ReadConnection {
  static absl::StatusOr<std::unique_ptr<ReadConnection>> open(const SqliteOptions& options);
  explicit ReadConnection(Connection connection) : db(std::move(connection)) {}

  Connection db;
  Statement hot_by_key;
  Statement done_by_key;
  Statement spec_by_key;
  std::map<const Table*, Statement> by_key;  // of row types, once they were asked for

  absl::StatusOr<Statement*> find_by_key(const Table& table);
};

class SqliteReader final : public Reader {
 public:
  // The store must be open: it makes the database.
  static absl::StatusOr<std::unique_ptr<SqliteReader>> open(const SqliteOptions& options,
                                                            size_t connections = kMaxReadConnections);

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

 private:
  // A connection that goes back to the pool with its holder.
  class Lease {
   public:
    Lease(SqliteReader& reader, std::unique_ptr<ReadConnection> held) : reader_(&reader), held_(std::move(held)) {}
    Lease(Lease&&) = default;
    ~Lease() {
      if (held_ != nullptr) reader_->give_back(std::move(held_));
    }
    ReadConnection* operator->() { return held_.get(); }

   private:
    SqliteReader* reader_;
    std::unique_ptr<ReadConnection> held_;
  };

  SqliteReader(const SqliteOptions& options, size_t connections) : options_(options), connections_(connections) {}
  absl::StatusOr<Lease> take();
  void give_back(std::unique_ptr<ReadConnection> connection);

  const SqliteOptions options_;
  const size_t connections_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable returned_;
  size_t opened_ = 0;
  std::vector<std::unique_ptr<ReadConnection>> free_;
};

}  // namespace hodei::store
