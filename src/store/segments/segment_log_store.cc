// Opening and writing. Reading is in segment_reading.cc.
#include "src/store/segments/segment_log_store.h"

#include <charconv>
#include <map>

#include "src/base/journal.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/store/segments/append_plan.h"
#include "src/store/segments/segment_scan.h"

namespace hodei::store {
namespace {

const SystemClock kSystemClock;

// While an index cannot be written (disk full) its segment goes on growing, up to here.
constexpr int64_t kMaxSegmentBytes = int64_t{1} << 30;

struct SegmentFiles {
  int64_t bytes = 0;
  bool has_blocks = false;
};

// The number in `0000000000000042.log`; nothing for a name of another kind.
std::optional<uint64_t> id_in(std::string_view name, std::string_view suffix) {
  uint64_t id = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  const std::string_view behind = name.substr(static_cast<size_t>(rest - name.data()));
  if (error != std::errc() || behind != suffix) return std::nullopt;
  return id;
}

absl::StatusOr<std::map<uint64_t, SegmentFiles>> list_segments(Files& files, const std::string& folder) {
  std::map<uint64_t, SegmentFiles> out;
  ASSIGN_OR_RETURN(const std::vector<FileEntry> entries, files.list(folder));
  for (const FileEntry& entry : entries) {
    if (id_in(entry.name, ".idx.tmp")) {
      RETURN_IF_ERROR(files.remove(cat(folder, "/", entry.name)));
    } else if (const auto index = id_in(entry.name, ".idx")) {
      out[*index];
    } else if (const auto blocks = id_in(entry.name, ".log")) {
      out[*blocks] = {.bytes = entry.size, .has_blocks = true};
    }
  }
  return out;
}

}  // namespace

SegmentLogStore::SegmentLogStore(std::string folder, SegmentOptions options)
    : folder_(std::move(folder)),
      options_(options),
      files_(options.files != nullptr ? *options.files : disk_files()),
      clock_(options.clock != nullptr ? *options.clock : kSystemClock) {}

SegmentLogStore::~SegmentLogStore() = default;

absl::StatusOr<std::unique_ptr<SegmentLogStore>> SegmentLogStore::open(std::string folder, SegmentOptions options) {
  std::unique_ptr<SegmentLogStore> out(new SegmentLogStore(std::move(folder), options));
  RETURN_IF_ERROR(out->load());
  return out;
}

absl::Status SegmentLogStore::load() {
  RETURN_IF_ERROR(files_.make_folder(folder_));
  ASSIGN_OR_RETURN(auto segments, list_segments(files_, folder_));
  // An index whose segment is gone is what an interrupted expire() left.
  for (auto it = segments.begin(); it != segments.end();) {
    if (it->second.has_blocks) {
      ++it;
      continue;
    }
    RETURN_IF_ERROR(files_.remove(index_path(folder_, it->first)));
    it = segments.erase(it);
  }
  RETURN_IF_ERROR(files_.sync_folder(folder_));

  shown_.open_id = segments.empty() ? 1 : segments.rbegin()->first + 1;
  Sealed sealed;
  for (const auto& [id, found] : segments) {
    RETURN_IF_ERROR(load_segment(id, found.bytes, id == segments.rbegin()->first, sealed));
  }
  for (const auto& segment : sealed) {
    for (const JobId job : segment->tombstones()) shown_.cleared_before[job] = segment->id();
  }
  for (const JobId job : shown_.open_index.tombstones()) shown_.cleared_before[job] = shown_.open_id;
  shown_.sealed = std::make_shared<Sealed>(std::move(sealed));
  return absl::OkStatus();
}

absl::Status SegmentLogStore::load_segment(uint64_t id, int64_t size, bool is_last, Sealed& sealed) {
  auto indexed = SealedSegment::open(files_, folder_, id);
  if (indexed.ok() && (*indexed)->segment_bytes() <= size) {
    sealed.push_back(*std::move(indexed));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(segment_path(folder_, id)));
  ASSIGN_OR_RETURN(Scan scan, scan_segment(*file, size, is_last));
  if (scan.damaged_bytes > 0) {
    journal(Level::Warn, "server", segment_path(folder_, id), " is damaged: ", scan.damaged_bytes,
            " bytes of job output cannot be read. What follows is kept, and readers see a gap");
  }
  if (is_last) return reopen_tail(id, size, std::move(scan.index), scan.good_bytes);
  RETURN_IF_ERROR(SealedSegment::write_index(files_, folder_, id, scan.index, scan.good_bytes));
  ASSIGN_OR_RETURN(auto rebuilt, SealedSegment::open(files_, folder_, id));
  sealed.push_back(std::move(rebuilt));
  return absl::OkStatus();
}

absl::Status SegmentLogStore::reopen_tail(uint64_t id, int64_t size, OpenIndex index, int64_t good_bytes) {
  const std::string path = segment_path(folder_, id);
  ASSIGN_OR_RETURN(open_file_, files_.open_append(path));
  if (good_bytes < size) {
    RETURN_IF_ERROR(open_file_->truncate(good_bytes));
  }
  // Whole blocks that a killed server wrote but never synced count from now on, so they must be durable from now on.
  RETURN_IF_ERROR(open_file_->sync());
  ASSIGN_OR_RETURN(shown_.open_blocks, files_.open_read(path));
  shown_.open_id = id;
  shown_.open_index = std::move(index);
  open_bytes_ = good_bytes;
  return absl::OkStatus();
}

absl::Status SegmentLogStore::append(const std::vector<LogPiece>& pieces) {
  const std::lock_guard writing(writing_);
  ASSIGN_OR_RETURN(const std::vector<BlockPlan> blocks,
                   plan_append(pieces, [this](ExecutionId execution) { return tail_of(execution); }));
  if (blocks.empty()) return absl::OkStatus();
  size_t new_bytes = 0;
  for (const BlockPlan& block : blocks) new_bytes += kBlockHeaderBytes + block.data_bytes;
  RETURN_IF_ERROR(check_room(new_bytes));
  RETURN_IF_ERROR(ready_to_write());
  const WallTime now = clock_.now().wall;
  std::string bytes;
  std::vector<BlockHeader> headers;
  headers.reserve(blocks.size());
  for (const BlockPlan& block : blocks) headers.push_back(encoder_.add(block, now, bytes));
  return write_durably(bytes, headers);
}

absl::StatusOr<int64_t> SegmentLogStore::clear(JobId job) {
  const std::lock_guard writing(writing_);
  int64_t cleared = 0;
  const std::vector<uint32_t> numbers = executions(job);
  if (numbers.empty()) return 0;
  for (const uint32_t number : numbers) {
    const LogExtent found = extent({job, number});
    cleared += found.next_offset - found.first_offset;
  }
  RETURN_IF_ERROR(ready_to_write());
  std::string bytes;
  const BlockHeader header = encoder_.add_tombstone(job, clock_.now().wall, bytes);
  RETURN_IF_ERROR(write_durably(bytes, {header}));
  return cleared;
}

// Before compression, so a little early rather than late. Marks that a job was cleared are tiny and are always written.
absl::Status SegmentLogStore::check_room(size_t bytes) {
  if (options_.disk_reserve == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t room, files_.free_bytes(folder_));
  if (room - static_cast<int64_t>(bytes) >= options_.disk_reserve) return absl::OkStatus();
  return absl::ResourceExhaustedError(cat("the disk of ", folder_, " has ", size_text(room), " left, of which ",
                                          size_text(options_.disk_reserve),
                                          " are reserved for the server's own records: job "
                                          "output waits until there is room"));
}

// Leaves an open segment that ends at open_bytes_ and has room.
absl::Status SegmentLogStore::ready_to_write() {
  if (needs_repair_) {
    RETURN_IF_ERROR(open_file_->truncate(open_bytes_));
    RETURN_IF_ERROR(open_file_->sync());
    needs_repair_ = false;
  }
  const bool is_full =
      open_bytes_ >= options_.segment_bytes || shown_.open_index.block_count() >= options_.segment_blocks;
  if (open_file_ != nullptr && is_full) {
    const absl::Status sealed = seal();
    if (!sealed.ok() && open_bytes_ >= kMaxSegmentBytes) return sealed;
  }
  if (open_file_ != nullptr) return absl::OkStatus();

  const std::string path = segment_path(folder_, shown_.open_id);
  ASSIGN_OR_RETURN(std::unique_ptr<AppendFile> file, files_.open_append(path));
  RETURN_IF_ERROR(file->truncate(0));
  RETURN_IF_ERROR(files_.sync_folder(folder_));
  ASSIGN_OR_RETURN(std::shared_ptr<const ReadFile> blocks, files_.open_read(path));
  open_file_ = std::move(file);
  open_bytes_ = 0;
  const std::unique_lock lock(shown_mutex_);
  shown_.open_blocks = std::move(blocks);
  return absl::OkStatus();
}

// The index file is durable before the next segment can exist, so only the last segment is ever scanned.
absl::Status SegmentLogStore::seal() {
  RETURN_IF_ERROR(SealedSegment::write_index(files_, folder_, shown_.open_id, shown_.open_index, open_bytes_));
  ASSIGN_OR_RETURN(auto segment, SealedSegment::open(files_, folder_, shown_.open_id));
  auto sealed = std::make_shared<Sealed>(*shown_.sealed);
  sealed->push_back(std::move(segment));
  open_file_.reset();
  open_bytes_ = 0;
  OpenIndex old;  // freed without the mutex
  const std::unique_lock lock(shown_mutex_);
  shown_.sealed = std::move(sealed);
  ++shown_.open_id;
  std::swap(old, shown_.open_index);
  shown_.open_blocks.reset();
  return absl::OkStatus();
}

absl::Status SegmentLogStore::write_durably(const std::string& bytes, const std::vector<BlockHeader>& headers) {
  absl::Status done = open_file_->append(bytes);
  if (done.ok()) done = open_file_->sync();
  if (!done.ok()) {
    // Nobody has seen it; cut it off now, or before the next append if that fails too.
    needs_repair_ = !open_file_->truncate(open_bytes_).ok() || !open_file_->sync().ok();
    return done;
  }
  const std::unique_lock lock(shown_mutex_);
  int64_t position = open_bytes_;
  for (const BlockHeader& header : headers) {
    shown_.open_index.add(header, static_cast<uint32_t>(position));
    if (header.has(BlockHeader::kTombstone)) shown_.cleared_before[header.execution.job] = shown_.open_id;
    position += static_cast<int64_t>(kBlockHeaderBytes) + header.body_bytes;
  }
  open_bytes_ = position;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SegmentLogStore::expire(const LogRetention& retention, WallTime now) {
  const std::lock_guard writing(writing_);
  const WallTime oldest_kept = now - retention.max_age;
  if (open_file_ != nullptr && !needs_repair_ && open_bytes_ > 0 && shown_.open_index.newest() < oldest_kept) {
    RETURN_IF_ERROR(seal());
  }
  int64_t total = open_bytes_;
  for (const auto& segment : *shown_.sealed) total += segment->bytes();
  int64_t freed = 0;
  // Strictly from the oldest on: what a tombstone hides never outlives the tombstone.
  while (!shown_.sealed->empty()) {
    const SealedSegment& oldest = *shown_.sealed->front();
    const bool is_too_old =
        oldest.newest() < oldest_kept && (freed == 0 || freed + oldest.bytes() <= total / retention.share_by_age);
    if (!is_too_old && total - freed <= retention.max_bytes) break;
    ASSIGN_OR_RETURN(const int64_t bytes, drop_oldest());
    freed += bytes;
  }
  return freed;
}

absl::StatusOr<int64_t> SegmentLogStore::drop_oldest() {
  const std::shared_ptr<const Sealed> before = shown_.sealed;
  const std::shared_ptr<const SealedSegment> victim = before->front();
  show(std::make_shared<Sealed>(before->begin() + 1, before->end()));
  // Blocks first: an index without blocks is swept up at the next open, blocks without an index would come back.
  if (absl::Status removed = files_.remove(segment_path(folder_, victim->id())); !removed.ok()) {
    show(before);
    return removed;
  }
  RETURN_IF_ERROR(files_.remove(index_path(folder_, victim->id())));
  // Before the next one goes, or a power cut could keep this segment and lose the tombstones of a newer one.
  RETURN_IF_ERROR(files_.sync_folder(folder_));
  forget_old_tombstones();
  return victim->bytes();
}

void SegmentLogStore::show(std::shared_ptr<const Sealed> sealed) {
  const std::unique_lock lock(shown_mutex_);
  shown_.sealed = std::move(sealed);
}

void SegmentLogStore::forget_old_tombstones() {
  const uint64_t first = shown_.sealed->empty() ? shown_.open_id : shown_.sealed->front()->id();
  const std::unique_lock lock(shown_mutex_);
  absl::erase_if(shown_.cleared_before, [&](const auto& entry) { return entry.second <= first; });
}

}  // namespace hodei::store
