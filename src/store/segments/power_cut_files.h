// For tests: a file system in memory that loses, at a power cut, a random part of what was not synced, and that can run
// full. Every sector and every change of a name survives or not on its own, as POSIX allows.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "src/store/segments/files.h"

namespace hodei::store {

class PowerCutFiles final : public Files {
 public:
  explicit PowerCutFiles(uint64_t seed) : random_(seed) {}

  // Settings of the test.
  void lie_about_sync() { sync_lies_ = true; }
  void fail_after(int operations) { until_failure_ = operations; }  // then everything fails until the power cut
  void limit_space(int64_t bytes) { space_left_ = bytes; }
  bool has_failed() const { return until_failure_ == 0; }

  // What is there when the machine comes up again. Files that were open before must not be used any more.
  void cut_power() {
    for (const NameChange& change : unsynced_names_) {
      if (coin()) apply(change, durable_names_);
    }
    unsynced_names_.clear();
    names_ = durable_names_;
    for (auto& [name, file] : names_) lose_part(*file);
    until_failure_ = -1;
  }

  absl::Status make_folder(const std::string&) override { return step(); }

  absl::Status sync_folder(const std::string&) override {
    if (absl::Status s = step(); !s.ok()) return s;
    if (sync_lies_) return absl::OkStatus();
    for (const NameChange& change : unsynced_names_) apply(change, durable_names_);
    unsynced_names_.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<FileEntry>> list(const std::string& folder) override {
    if (absl::Status s = step(); !s.ok()) return s;
    std::vector<FileEntry> out;
    for (const auto& [name, file] : names_) {
      if (name.starts_with(folder + "/")) {
        out.push_back({name.substr(folder.size() + 1), static_cast<int64_t>(file->now.size())});
      }
    }
    return out;
  }

  absl::StatusOr<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    if (absl::Status s = step(); !s.ok()) return s;
    if (!names_.contains(path)) change_name({.to = path, .file = std::make_shared<File>()});
    return std::make_unique<Writer>(*this, names_[path]);
  }

  absl::StatusOr<std::shared_ptr<const ReadFile>> open_read(const std::string& path) override {
    if (absl::Status s = step(); !s.ok()) return s;
    const auto it = names_.find(path);
    if (it == names_.end()) return absl::NotFoundError(path);
    return std::make_shared<Reader>(it->second);
  }

  absl::Status rename(const std::string& from, const std::string& to) override {
    if (absl::Status s = step(); !s.ok()) return s;
    change_name({.from = from, .to = to, .file = names_.at(from)});
    return absl::OkStatus();
  }

  absl::Status remove(const std::string& path) override {
    if (absl::Status s = step(); !s.ok()) return s;
    if (!names_.contains(path)) return absl::NotFoundError(path);
    if (space_left_ >= 0) space_left_ += static_cast<int64_t>(names_[path]->now.size());
    change_name({.from = path});
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> free_bytes(const std::string&) override { return space_left_ >= 0 ? space_left_ : INT64_MAX; }

 private:
  static constexpr size_t kSector = 512;

  struct Write {
    size_t at = 0;
    std::string bytes;
    bool is_truncate = false;
  };
  struct File {
    std::string now;
    std::string durable;
    std::vector<Write> unsynced;
  };
  // Made: only `to`; removed: only `from`; renamed: both.
  struct NameChange {
    std::string from, to;
    std::shared_ptr<File> file;
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;

  class Writer final : public AppendFile {
   public:
    Writer(PowerCutFiles& disk, std::shared_ptr<File> file) : disk_(disk), file_(std::move(file)) {}

    absl::Status append(std::string_view bytes) override {
      // A failing write leaves a part of its bytes behind.
      absl::Status done = disk_.step();
      size_t take = done.ok() ? bytes.size() : disk_.random_() % (bytes.size() + 1);
      if (disk_.space_left_ >= 0 && static_cast<int64_t>(take) > disk_.space_left_) {
        take = static_cast<size_t>(disk_.space_left_);
        done = absl::ResourceExhaustedError("no space left");
      }
      if (disk_.space_left_ >= 0) disk_.space_left_ -= static_cast<int64_t>(take);
      file_->unsynced.push_back({.at = file_->now.size(), .bytes = std::string(bytes.substr(0, take))});
      file_->now.append(bytes.substr(0, take));
      return done;
    }
    absl::Status sync() override {
      if (absl::Status s = disk_.step(); !s.ok()) return s;
      if (disk_.sync_lies_) return absl::OkStatus();
      file_->durable = file_->now;
      file_->unsynced.clear();
      return absl::OkStatus();
    }
    absl::Status truncate(int64_t size) override {
      if (absl::Status s = disk_.step(); !s.ok()) return s;
      if (disk_.space_left_ >= 0) disk_.space_left_ += static_cast<int64_t>(file_->now.size()) - size;
      file_->now.resize(static_cast<size_t>(size));
      file_->unsynced.push_back({.at = static_cast<size_t>(size), .is_truncate = true});
      return absl::OkStatus();
    }

   private:
    PowerCutFiles& disk_;
    std::shared_ptr<File> file_;
  };

  class Reader final : public ReadFile {
   public:
    explicit Reader(std::shared_ptr<File> file) : file_(std::move(file)) {}
    absl::StatusOr<std::string> read(int64_t offset, size_t size) const override {
      if (static_cast<size_t>(offset) >= file_->now.size()) return std::string();
      return file_->now.substr(static_cast<size_t>(offset), size);
    }

   private:
    std::shared_ptr<File> file_;
  };

  bool coin() { return random_() % 2 == 0; }

  absl::Status step() {
    if (until_failure_ > 0) --until_failure_;
    return until_failure_ == 0 ? absl::UnavailableError("the power is failing") : absl::OkStatus();
  }

  static void apply(const NameChange& change, Names& names) {
    if (!change.from.empty()) names.erase(change.from);
    if (!change.to.empty()) names[change.to] = change.file;
  }

  void change_name(NameChange change) {
    apply(change, names_);
    unsynced_names_.push_back(std::move(change));
  }

  void lose_part(File& file) {
    for (const Write& write : file.unsynced) {
      if (write.is_truncate) {
        if (coin()) file.durable.resize(write.at);
        continue;
      }
      for (size_t at = write.at; at < write.at + write.bytes.size();) {
        const size_t end = std::min((at / kSector + 1) * kSector, write.at + write.bytes.size());
        if (coin()) {
          file.durable.resize(std::max(file.durable.size(), end));
          file.durable.replace(at, end - at, write.bytes, at - write.at, end - at);
        }
        at = end;
      }
    }
    file.unsynced.clear();
    file.now = file.durable;
  }

  std::mt19937_64 random_;
  Names names_;
  Names durable_names_;
  std::vector<NameChange> unsynced_names_;
  bool sync_lies_ = false;
  int until_failure_ = -1;
  int64_t space_left_ = -1;
};

}  // namespace hodei::store
