// The output of all jobs in a folder of shared, append-only segments.
//
// One segment is open and grows by whole blocks (block.h); full ones are sealed and read through an index file beside
// them (sealed_segment.h). An append is one write and one sync. After a crash the open segment is scanned and an append
// that is not whole is cut off: everything that append() answered OK for lies before that (segment_scan.h).
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/store/segments/files.h"
#include "src/store/segments/numbered_log_store.h"
#include "src/store/segments/sealed_segment.h"

namespace hodei::store {

struct SegmentOptions {
  int64_t segment_bytes = int64_t{64} << 20;
  // Bounds the open index: about 8 MB when every block belongs to another execution.
  uint32_t segment_blocks = 64 * 1024;
  // Room on the disk that is left for others: output that would use it is refused with RESOURCE_EXHAUSTED.
  int64_t disk_reserve = 0;
  Files* files = nullptr;        // not given: the disk
  const Clock* clock = nullptr;  // not given: the system's; stamps blocks, for expiry
};

class SegmentLogStore final : public NumberedLogStore {
 public:
  static absl::StatusOr<std::unique_ptr<SegmentLogStore>> open(std::string folder, SegmentOptions options = {});
  ~SegmentLogStore() override;

  absl::Status append(const std::vector<LogPiece>& pieces) override;
  absl::StatusOr<NumberedPiece> read_numbered(ExecutionId execution, int64_t from, size_t max_bytes) const override;
  absl::StatusOr<int64_t> offset_of_line(ExecutionId execution, int64_t line) const override;
  LogExtent extent(ExecutionId execution) const override;
  std::vector<uint32_t> executions(JobId job) const override;
  absl::StatusOr<int64_t> clear(JobId job) override;
  absl::StatusOr<int64_t> expire(const LogRetention& retention, WallTime now) override;

 private:
  using Sealed = std::vector<std::shared_ptr<const SealedSegment>>;  // oldest first

  // What readers look at. Guarded by `shown_mutex_`, which is held for look-ups in memory only, never over I/O.
  struct Shown {
    std::shared_ptr<const Sealed> sealed = std::make_shared<Sealed>();
    // Cleared jobs: segments before this one hold nothing of them.
    absl::flat_hash_map<JobId, uint64_t> cleared_before;
    uint64_t open_id = 0;  // of the open segment, or of the one to be made next
    OpenIndex open_index;
    std::shared_ptr<const ReadFile> open_blocks;  // null while there is none
  };

  // What a reader works with once it has let go of the mutex: a consistent moment of the store.
  struct View {
    std::shared_ptr<const Sealed> sealed;
    uint64_t cleared_before = 0;
    std::shared_ptr<const ReadFile> open_blocks;
  };
  // Where a block lies.
  struct Place {
    std::shared_ptr<const ReadFile> file;
    BlockRef block;
  };

  SegmentLogStore(std::string folder, SegmentOptions options);

  // Opening.
  absl::Status load();
  absl::Status load_segment(uint64_t id, int64_t size, bool is_last, Sealed& sealed);
  absl::Status reopen_tail(uint64_t id, int64_t size, OpenIndex index, int64_t good_bytes);

  // Writing; the caller holds `writing_`.
  absl::Status check_room(size_t bytes);
  absl::Status ready_to_write();
  absl::Status seal();
  absl::Status write_durably(const std::string& bytes, const std::vector<BlockHeader>& headers);
  absl::StatusOr<LogTail> tail_of(ExecutionId execution) const;
  absl::StatusOr<int64_t> drop_oldest();
  void show(std::shared_ptr<const Sealed> sealed);
  void forget_old_tombstones();

  // Reading.
  // `look_into(open index)` runs at the very moment of the view.
  template <class Look>
  View view(JobId job, const Look& look_into) const;
  // Calls `visit(segment, run)` for the sealed segments that have the execution, newest first, while it says true.
  template <class Visit>
  static absl::Status walk_sealed(const View& view, ExecutionId execution, const Visit& visit);
  absl::StatusOr<std::optional<Place>> find_place(ExecutionId execution, int64_t from) const;
  absl::StatusOr<std::optional<Place>> find_line(ExecutionId execution, int64_t line) const;
  absl::StatusOr<LogExtent> find_extent(ExecutionId execution) const;
  absl::StatusOr<NumberedPiece> read_block(const Place& place, ExecutionId execution, int64_t from,
                                           size_t max_bytes) const;

  const std::string folder_;
  const SegmentOptions options_;
  Files& files_;
  const Clock& clock_;

  mutable std::shared_mutex shown_mutex_;
  Shown shown_;

  // One writer at a time: append, clear, expire.
  std::mutex writing_;
  BlockEncoder encoder_;
  std::unique_ptr<AppendFile> open_file_;  // null while there is none
  int64_t open_bytes_ = 0;                 // durable and shown
  bool needs_repair_ = false;              // something unacknowledged may stand behind open_bytes_
};

}  // namespace hodei::store
