// A full segment, which never changes again. Its index lies in a file beside it; in memory are only a filter of its
// jobs and every 64th key, so that a million small logs cost about two megabytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/store/segments/files.h"
#include "src/store/segments/segment_index.h"

namespace hodei::store {

std::string segment_path(const std::string& folder, uint64_t id);
std::string index_path(const std::string& folder, uint64_t id);

// Whether a job may be in a set: sometimes wrongly yes, never wrongly no.
class JobFilter {
 public:
  JobFilter() = default;
  explicit JobFilter(size_t jobs);
  void add(JobId job);
  bool may_have(JobId job) const;

  std::vector<uint64_t> words;
};

class SealedSegment {
 public:
  // Writes the index file and makes it durable; an old one is replaced.
  static absl::Status write_index(Files& files, const std::string& folder, uint64_t id, const OpenIndex& index,
                                  int64_t segment_bytes);
  // Any error means that the index cannot be used and the segment must be scanned again.
  static absl::StatusOr<std::shared_ptr<const SealedSegment>> open(Files& files, const std::string& folder,
                                                                   uint64_t id);

  uint64_t id() const { return id_; }
  WallTime newest() const { return newest_; }
  int64_t segment_bytes() const { return segment_bytes_; }
  int64_t bytes() const { return segment_bytes_ + index_bytes_; }  // on disk, index included
  const std::vector<JobId>& tombstones() const { return tombstones_; }
  bool may_have(JobId job) const { return job >= first_job_ && job <= last_job_ && filter_.may_have(job); }

  // These read the index file; NOT_FOUND: the segment has expired meanwhile.
  absl::StatusOr<std::optional<Run>> find(ExecutionId execution) const;
  absl::StatusOr<std::vector<uint32_t>> executions(JobId job) const;
  absl::StatusOr<std::optional<BlockRef>> block_at(const Run& run, int64_t from) const;
  absl::StatusOr<BlockRef> block_with_line(const Run& run, int64_t line) const;

  absl::StatusOr<std::shared_ptr<const ReadFile>> open_blocks() const { return files_.open_read(path_); }

 private:
  struct Record;
  SealedSegment(Files& files, const std::string& folder, uint64_t id);
  absl::Status load();
  absl::StatusOr<std::vector<Record>> page(const ReadFile& file, size_t number) const;
  size_t page_of(ExecutionId execution) const;
  absl::StatusOr<BlockRef> block(const ReadFile& file, uint32_t number) const;

  Files& files_;
  uint64_t id_;
  std::string path_;
  std::string index_path_;
  int64_t segment_bytes_ = 0;
  int64_t index_bytes_ = 0;
  WallTime newest_;
  JobId first_job_{};
  JobId last_job_{};
  JobFilter filter_;
  std::vector<JobId> tombstones_;
  std::vector<ExecutionId> page_starts_;
  size_t record_count_ = 0;
  int64_t records_at_ = 0;
  int64_t blocks_at_ = 0;
};

}  // namespace hodei::store
