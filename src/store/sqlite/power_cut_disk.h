// A file layer under SQLite for tests: it remembers what was synced and what was only written, can be cut off at any
// operation, and then shows what a machine could find when it comes up again: everything synced, and a random part of
// the rest, in any order, with torn writes.
//
// What it models of a disk: a synced byte stays; an unsynced write may be there, not be there, or be there in whole
// sectors of 512 bytes; a write changes no byte outside itself (SQLite relies on that, see
// SQLITE_IOCAP_POWERSAFE_OVERWRITE); a new file may be missing until its first sync, which SQLite follows with a sync
// of the folder.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace hodei::store {

class PowerCutDisk {
 public:
  explicit PowerCutDisk(uint64_t seed);
  ~PowerCutDisk();
  PowerCutDisk(const PowerCutDisk&) = delete;
  PowerCutDisk& operator=(const PowerCutDisk&) = delete;

  const std::string& vfs() const { return name_; }

  // The power goes when this many more writes, syncs, cuts of length and removals have begun.
  void cut_after(uint64_t operations);
  void cut_now() { cut_after(0); }

  // While it is full, files can be overwritten but not grow.
  void fill(bool full) { full_ = full; }
  bool is_full() const { return full_; }

  // Puts what is left of every file into another folder. Only after the cut.
  void restart_in(const std::string& folder);

  // For the layer itself.
  struct Operation {
    bool truncates = false;
    uint64_t at = 0;  // offset, or the new length
    std::string data;
  };
  struct File {
    bool durable = false;  // its name is
    std::string synced;
    std::vector<Operation> pending;
  };
  bool begin(const std::string& path, Operation operation);  // false: no power
  bool sync(const std::string& path);
  bool remove(const std::string& path);
  void created(const std::string& path);

 private:
  bool spend();
  void apply(File& file, const Operation& operation);
  void apply_torn(File& file, const Operation& operation);

  std::atomic<bool> full_ = false;
  std::mutex mutex_;  // guards all below
  std::mt19937_64 random_;
  uint64_t left_ = UINT64_MAX;
  std::map<std::string, File> files_;
  std::string name_;
  sqlite3_vfs vfs_{};
};

}  // namespace hodei::store
