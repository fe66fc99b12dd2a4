// Copies SQLite's write-ahead log into the database. It runs on its own thread and connection, so that commits do not
// wait for it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "src/store/sqlite/connection.h"
#include "src/store/sqlite/options.h"

namespace hodei::store {

class Checkpointer {
 public:
  // `turn` is held by every commit. The end of a checkpoint takes it too: with commits coming without a pause the log
  // would else never be caught up with, and would grow for ever.
  Checkpointer(const SqliteOptions& options, std::mutex& turn) : options_(options), turn_(turn) {}
  ~Checkpointer() { stop(); }
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  absl::Status start();
  void stop();

  // Told by the commit thread after each commit.
  void log_has(size_t bytes);

 private:
  void work();
  void checkpoint();
  void reserve_log();

  const SqliteOptions options_;
  std::mutex& turn_;
  std::optional<Connection> db_;
  std::thread thread_;
  std::mutex mutex_;  // guards the two below
  std::condition_variable wake_;
  bool wanted_ = false;
  bool stopping_ = false;
};

}  // namespace hodei::store
