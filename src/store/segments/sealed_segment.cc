#include "src/store/segments/sealed_segment.h"

#include <cstring>

#include "fmt/format.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/store/segments/crc32c.h"

namespace hodei::store {
namespace {

constexpr uint64_t kIndexMagic = 0x3130584449444f48;  // "HODIDX01"
constexpr size_t kRecordsPerPage = 64;
constexpr size_t kFilterBitsPerJob = 10;  // one wrong yes in a hundred
constexpr int kFilterProbes = 7;

// An index file: this header, the resident part (tombstones, page starts, filter), records, blocks.
struct IndexHeader {
  uint64_t magic, segment_bytes, record_count, block_count, tombstone_count, page_count, filter_words;
  int64_t newest_us;
  uint64_t first_job, last_job;
  uint64_t resident_crc;  // of the fields above and the resident part
};

struct PageStart {
  uint64_t job, execution;
};

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> take_array(std::string_view& in, size_t count) {
  std::vector<T> out(count);
  if (count > 0) std::memcpy(out.data(), in.data(), count * sizeof(T));
  in.remove_prefix(count * sizeof(T));
  return out;
}

uint64_t resident_crc(const IndexHeader& header, std::string_view resident) {
  return crc32c(resident, crc32c(bytes_of(header).substr(0, offsetof(IndexHeader, resident_crc))));
}

// The whole file or, after any failure, what was there before; room that a failed attempt took is given back.
absl::Status replace_file(Files& files, const std::string& folder, const std::string& path, std::string_view bytes) {
  const std::string unfinished = path + ".tmp";
  const auto write = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const std::unique_ptr<AppendFile> file, files.open_append(unfinished));
    RETURN_IF_ERROR(file->truncate(0));
    RETURN_IF_ERROR(file->append(bytes));
    RETURN_IF_ERROR(file->sync());
    return files.rename(unfinished, path);
  };
  if (absl::Status written = write(); !written.ok()) {
    files.remove(unfinished).IgnoreError();
    return written;
  }
  return files.sync_folder(folder);
}

absl::Status damaged(const std::string& path) { return absl::DataLossError(cat(path, " is damaged")); }

}  // namespace

struct SealedSegment::Record {
  uint64_t job;
  uint32_t execution;
  uint32_t ended;
  int64_t first_offset, next_offset, next_line;
  uint32_t first_block, block_count;

  ExecutionId id() const { return {JobId{job}, execution}; }
};

std::string segment_path(const std::string& folder, uint64_t id) { return fmt::format("{}/{:016}.log", folder, id); }
std::string index_path(const std::string& folder, uint64_t id) { return fmt::format("{}/{:016}.idx", folder, id); }

JobFilter::JobFilter(size_t jobs) : words((jobs * kFilterBitsPerJob + 63) / 64) {}

void JobFilter::add(JobId job) {
  uint64_t hash = mix64(number(job));
  const uint64_t step = mix64(hash) | 1;
  for (int i = 0; i < kFilterProbes; ++i, hash += step) {
    const uint64_t bit = hash % (words.size() * 64);
    words[bit / 64] |= uint64_t{1} << bit % 64;
  }
}

bool JobFilter::may_have(JobId job) const {
  if (words.empty()) return false;
  uint64_t hash = mix64(number(job));
  const uint64_t step = mix64(hash) | 1;
  for (int i = 0; i < kFilterProbes; ++i, hash += step) {
    const uint64_t bit = hash % (words.size() * 64);
    if ((words[bit / 64] >> bit % 64 & 1) == 0) return false;
  }
  return true;
}

absl::Status SealedSegment::write_index(Files& files, const std::string& folder, uint64_t id, const OpenIndex& index,
                                        int64_t segment_bytes) {
  std::vector<Record> records;
  std::vector<BlockRef> blocks;
  std::vector<PageStart> pages;
  JobFilter filter(index.entries().size());
  for (const auto& [execution, entry] : index.entries()) {
    if (records.size() % kRecordsPerPage == 0) pages.push_back({number(execution.job), execution.number});
    records.push_back({.job = number(execution.job),
                       .execution = execution.number,
                       .ended = entry.run.tail.ended,
                       .first_offset = entry.run.first_offset,
                       .next_offset = entry.run.tail.next_offset,
                       .next_line = entry.run.tail.next_line,
                       .first_block = static_cast<uint32_t>(blocks.size()),
                       .block_count = static_cast<uint32_t>(entry.blocks.size())});
    blocks.insert(blocks.end(), entry.blocks.begin(), entry.blocks.end());
    filter.add(execution.job);
  }
  IndexHeader header{.magic = kIndexMagic,
                     .segment_bytes = static_cast<uint64_t>(segment_bytes),
                     .record_count = records.size(),
                     .block_count = blocks.size(),
                     .tombstone_count = index.tombstones().size(),
                     .page_count = pages.size(),
                     .filter_words = filter.words.size(),
                     .newest_us = index.newest().us,
                     .first_job = records.empty() ? 0 : records.front().job,
                     .last_job = records.empty() ? 0 : records.back().job};
  const std::string resident = cat(bytes_of(index.tombstones()), bytes_of(pages), bytes_of(filter.words));
  header.resident_crc = resident_crc(header, resident);

  return replace_file(files, folder, index_path(folder, id),
                      cat(bytes_of(header), resident, bytes_of(records), bytes_of(blocks)));
}

SealedSegment::SealedSegment(Files& files, const std::string& folder, uint64_t id)
    : files_(files), id_(id), path_(segment_path(folder, id)), index_path_(index_path(folder, id)) {}

absl::StatusOr<std::shared_ptr<const SealedSegment>> SealedSegment::open(Files& files, const std::string& folder,
                                                                         uint64_t id) {
  std::shared_ptr<SealedSegment> out(new SealedSegment(files, folder, id));
  RETURN_IF_ERROR(out->load());
  return std::shared_ptr<const SealedSegment>(std::move(out));
}

absl::Status SealedSegment::load() {
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(index_path_));
  ASSIGN_OR_RETURN(const std::string head, file->read(0, sizeof(IndexHeader)));
  IndexHeader header;
  if (head.size() != sizeof(header)) return damaged(index_path_);
  std::memcpy(&header, head.data(), sizeof(header));
  // No segment has more of anything than this; keeps a damaged file from making us allocate.
  constexpr uint64_t kMost = uint64_t{1} << 32;
  if (header.magic != kIndexMagic || std::max({header.record_count, header.block_count, header.tombstone_count,
                                               header.page_count, header.filter_words, header.segment_bytes}) > kMost) {
    return damaged(index_path_);
  }
  const size_t resident_bytes = header.tombstone_count * sizeof(JobId) + header.page_count * sizeof(PageStart) +
                                header.filter_words * sizeof(uint64_t);
  ASSIGN_OR_RETURN(const std::string resident, file->read(sizeof(header), resident_bytes));
  if (resident.size() != resident_bytes || resident_crc(header, resident) != header.resident_crc) {
    return damaged(index_path_);
  }
  std::string_view in = resident;
  tombstones_ = take_array<JobId>(in, header.tombstone_count);
  for (const PageStart& start : take_array<PageStart>(in, header.page_count)) {
    page_starts_.push_back({JobId{start.job}, static_cast<uint32_t>(start.execution)});
  }
  filter_.words = take_array<uint64_t>(in, header.filter_words);
  segment_bytes_ = static_cast<int64_t>(header.segment_bytes);
  newest_ = {header.newest_us};
  first_job_ = JobId{header.first_job};
  last_job_ = JobId{header.last_job};
  record_count_ = header.record_count;
  records_at_ = static_cast<int64_t>(sizeof(header) + resident_bytes);
  blocks_at_ = records_at_ + static_cast<int64_t>(header.record_count * sizeof(Record));
  index_bytes_ = blocks_at_ + static_cast<int64_t>(header.block_count * sizeof(BlockRef));
  return absl::OkStatus();
}

size_t SealedSegment::page_of(ExecutionId execution) const {
  const auto behind = std::upper_bound(page_starts_.begin(), page_starts_.end(), execution);
  return behind == page_starts_.begin() ? 0 : static_cast<size_t>(behind - page_starts_.begin()) - 1;
}

absl::StatusOr<std::vector<SealedSegment::Record>> SealedSegment::page(const ReadFile& file, size_t number) const {
  const size_t first = number * kRecordsPerPage;
  const size_t count = first < record_count_ ? std::min(kRecordsPerPage, record_count_ - first) : 0;
  ASSIGN_OR_RETURN(const std::string bytes,
                   file.read(records_at_ + static_cast<int64_t>(first * sizeof(Record)), count * sizeof(Record)));
  if (bytes.size() != count * sizeof(Record)) return damaged(index_path_);
  std::string_view in = bytes;
  return take_array<Record>(in, count);
}

absl::StatusOr<std::optional<Run>> SealedSegment::find(ExecutionId execution) const {
  if (!may_have(execution.job)) return std::nullopt;
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(index_path_));
  ASSIGN_OR_RETURN(const std::vector<Record> records, page(*file, page_of(execution)));
  for (const Record& r : records) {
    if (r.id() != execution) continue;
    if (!is_offset(r.first_offset) || !is_offset(r.next_offset) || !is_offset(r.next_line)) return damaged(index_path_);
    return Run{.first_offset = r.first_offset,
               .tail = {.next_offset = r.next_offset, .next_line = r.next_line, .ended = r.ended != 0},
               .first_block = r.first_block,
               .block_count = r.block_count};
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<uint32_t>> SealedSegment::executions(JobId job) const {
  std::vector<uint32_t> out;
  if (!may_have(job)) return out;
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(index_path_));
  for (size_t number = page_of({job, 0}); number < page_starts_.size(); ++number) {
    if (page_starts_[number].job > job) break;
    ASSIGN_OR_RETURN(const std::vector<Record> records, page(*file, number));
    for (const Record& r : records) {
      if (JobId{r.job} == job) out.push_back(r.execution);
    }
  }
  return out;
}

absl::StatusOr<BlockRef> SealedSegment::block(const ReadFile& file, uint32_t number) const {
  ASSIGN_OR_RETURN(const std::string bytes,
                   file.read(blocks_at_ + static_cast<int64_t>(number * sizeof(BlockRef)), sizeof(BlockRef)));
  if (bytes.size() != sizeof(BlockRef)) return damaged(index_path_);
  BlockRef out;
  std::memcpy(&out, bytes.data(), sizeof(out));
  if (!is_offset(out.offset) || !is_offset(out.first_line)) return damaged(index_path_);
  return out;
}

absl::StatusOr<std::optional<BlockRef>> SealedSegment::block_at(const Run& run, int64_t from) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(index_path_));
  const auto get = [&](uint32_t i) { return block(*file, run.first_block + i); };
  ASSIGN_OR_RETURN(const uint32_t found, block_for_offset(run.block_count, from, get));
  if (found == run.block_count) return std::nullopt;
  return get(found);
}

absl::StatusOr<BlockRef> SealedSegment::block_with_line(const Run& run, int64_t line) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const ReadFile> file, files_.open_read(index_path_));
  const auto get = [&](uint32_t i) { return block(*file, run.first_block + i); };
  ASSIGN_OR_RETURN(const uint32_t found, block_for_line(run.block_count, line, get));
  return get(found);
}

}  // namespace hodei::store
