// What a server stores its rows in: the store, those who read it, the clock by which stored things grow old, and the
// room on the disk.
#pragma once

#include <memory>
#include <string>

#include "src/base/time.h"
#include "src/server/disk_room.h"
#include "src/server/retention_clock.h"
#include "src/store/sqlite/sqlite_store.h"
#include "src/store/store.h"

namespace hodei::server {

// Each has connections of its own, so that no one waits for another.
struct StoreReaders {
  std::unique_ptr<store::Reader> lists;       // lists and whatever else may take long; on threads of reads only
  std::unique_ptr<store::Reader> lookups;     // single rows by their keys: what a submission or an order needs
  std::unique_ptr<store::Reader> orders;      // the threads that write orders to workers
  std::unique_ptr<store::Reader> background;  // threads for which nobody waits
};

class Storage {
 public:
  // Makes the folder if there is none.
  static absl::StatusOr<std::unique_ptr<Storage>> open(const std::string& data_dir, const Clock& clock,
                                                       uint64_t disk_reserve);
  absl::Status start();
  void stop();
  // About once a second.
  void tick();

  store::SqliteStore& store() { return *store_; }
  const StoreReaders& readers() const { return readers_; }
  const RetentionClock& retention_clock() const { return retention_clock_; }
  const DiskRoom& room() const { return room_; }

 private:
  Storage(const std::string& data_dir, const Clock& clock, uint64_t disk_reserve);

  const Clock& clock_;
  const RetentionClock retention_clock_;
  std::unique_ptr<store::SqliteStore> store_;
  StoreReaders readers_;
  DiskRoom room_;
  MonoTime next_save_{0};  // of the retention clock; tick's own
};

}  // namespace hodei::server
