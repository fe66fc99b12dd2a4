// The embedded store: one SQLite database in the data folder, in WAL mode, synced at every commit.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "src/store/batch.h"
#include "src/store/refusals.h"
#include "src/store/sqlite/batch_writer.h"
#include "src/store/sqlite/checkpointer.h"
#include "src/store/sqlite/connection.h"
#include "src/store/sqlite/options.h"
#include "src/store/sqlite/server_lock.h"
#include "src/store/store.h"

namespace hodei::store {

class SqliteStore final : public Store {
 public:
  // Locks the data folder, makes the database or brings it up to date.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> open(const SqliteOptions& options);
  ~SqliteStore() override { stop(); }

  // The thread that checkpoints. Without it the log grows until the store is closed.
  absl::Status start() { return checkpointer_.start(); }
  void stop() { checkpointer_.stop(); }

  absl::StatusOr<Epoch> new_epoch() override;
  absl::StatusOr<Epoch> epoch() override;
  absl::Status commit(const core::Writes& writes, Epoch epoch, BatchNo batch) override;
  absl::StatusOr<BatchNo> last_batch() override;
  absl::Status load(const LoadVisitor& visit) override;

  // A random id that this database got when it was made.
  absl::StatusOr<std::string> installation();

  // Room on the disk of the data folder, so that a server can refuse submissions while completions still fit.
  absl::StatusOr<uint64_t> free_bytes() const;

 private:
  SqliteStore(const SqliteOptions& options, ServerLock lock, Connection db)
      : options_(options), lock_(std::move(lock)), db_(std::move(db)), checkpointer_(options, turn_) {}
  absl::Status prepare();
  absl::Status take_turn(const Turn& given, const Batch& batch);

  const SqliteOptions options_;
  const ServerLock lock_;
  Connection db_;  // the only one that writes
  std::optional<BatchWriter> writer_;
  Statement next_turn_;
  Batch batch_;      // kept for its memory
  std::mutex turn_;  // a commit, or the end of a checkpoint
  Checkpointer checkpointer_;
};

}  // namespace hodei::store
