#include "src/store/sqlite/power_cut_disk.h"

#include <filesystem>
#include <fstream>

#include "src/base/status.h"
#include "src/store/sqlite/power_cut_vfs.h"

namespace hodei::store {
namespace {

constexpr size_t kSector = 512;

}  // namespace

PowerCutDisk::PowerCutDisk(uint64_t seed) : random_(seed), name_(cat("power-cut-", reinterpret_cast<uintptr_t>(this))) {
  vfs_ = make_power_cut_vfs(*this, name_.c_str());
  HODEI_CHECK(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
}

PowerCutDisk::~PowerCutDisk() { sqlite3_vfs_unregister(&vfs_); }

void PowerCutDisk::cut_after(uint64_t operations) {
  const std::lock_guard lock(mutex_);
  left_ = operations;
}

bool PowerCutDisk::spend() {
  if (left_ == 0) return false;
  --left_;
  return true;
}

bool PowerCutDisk::begin(const std::string& path, Operation operation) {
  const std::lock_guard lock(mutex_);
  const bool power = left_ != 0;
  if (power) {
    // The one in which the power goes may still reach the disk, or part of it.
    --left_;
    files_[path].pending.push_back(std::move(operation));
  }
  return power && left_ != 0;
}

bool PowerCutDisk::sync(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!spend()) return false;
  File& file = files_[path];
  for (const Operation& operation : file.pending) apply(file, operation);
  file.pending.clear();
  file.durable = true;
  return true;
}

bool PowerCutDisk::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!spend()) return false;
  files_.erase(path);
  return true;
}

void PowerCutDisk::created(const std::string& path) {
  const std::lock_guard lock(mutex_);
  files_.try_emplace(path);
}

void PowerCutDisk::restart_in(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  HODEI_CHECK(left_ == 0);
  // Disks differ: one keeps nearly all of what it had not synced, another nothing.
  const uint64_t kept_of_ten = random_() % 11;
  for (auto& [path, file] : files_) {
    if (!file.durable && random_() % 2 == 0) continue;
    for (const Operation& operation : file.pending) {
      if (random_() % 10 < kept_of_ten) {
        apply(file, operation);
      } else if (random_() % 2 == 0) {
        apply_torn(file, operation);
      }
    }
    const std::string name = std::filesystem::path(path).filename();
    std::ofstream(folder + "/" + name, std::ios::binary) << file.synced;
  }
}

void PowerCutDisk::apply(File& file, const Operation& operation) {
  if (operation.truncates) {
    file.synced.resize(operation.at);
    return;
  }
  if (file.synced.size() < operation.at + operation.data.size())
    file.synced.resize(operation.at + operation.data.size());
  file.synced.replace(operation.at, operation.data.size(), operation.data);
}

void PowerCutDisk::apply_torn(File& file, const Operation& operation) {
  if (operation.truncates) return;
  for (size_t at = 0; at < operation.data.size(); at += kSector) {
    if (random_() % 2 == 0) apply(file, {.at = operation.at + at, .data = operation.data.substr(at, kSector)});
  }
}

}  // namespace hodei::store
