// The reading half of SegmentLogStore: take a view under the mutex, let go, then look into files.
#include <algorithm>

#include "src/base/status.h"
#include "src/store/segments/segment_log_store.h"

namespace hodei::store {
namespace {

// A segment can expire between the look-up and the reading; then the look-up is done again.
constexpr int kTries = 4;

template <class Attempt>
auto retry_if_expired(const Attempt& attempt) {
  auto result = attempt();
  for (int i = 1; i < kTries && absl::IsNotFound(result.status()); ++i) result = attempt();
  return result;
}

}  // namespace

template <class Look>
SegmentLogStore::View SegmentLogStore::view(JobId job, const Look& look_into) const {
  const std::shared_lock lock(shown_mutex_);
  const auto cleared = shown_.cleared_before.find(job);
  look_into(shown_.open_index);
  return {.sealed = shown_.sealed,
          .cleared_before = cleared == shown_.cleared_before.end() ? 0 : cleared->second,
          .open_blocks = shown_.open_blocks};
}

template <class Visit>
absl::Status SegmentLogStore::walk_sealed(const View& view, ExecutionId execution, const Visit& visit) {
  for (auto it = view.sealed->rbegin(); it != view.sealed->rend() && (*it)->id() >= view.cleared_before; ++it) {
    ASSIGN_OR_RETURN(const std::optional<Run> run, (*it)->find(execution));
    if (run && !visit(*it, *run)) break;
  }
  return absl::OkStatus();
}

// A writer's look-up. Nobody seals or expires meanwhile: the caller holds `writing_`.
absl::StatusOr<LogTail> SegmentLogStore::tail_of(ExecutionId execution) const {
  std::optional<LogTail> open_tail;
  const View now = view(execution.job, [&](const OpenIndex& open) {
    if (const OpenIndex::Entry* entry = open.find(execution)) open_tail = entry->run.tail;
  });
  if (open_tail) return *open_tail;
  LogTail tail;
  RETURN_IF_ERROR(walk_sealed(now, execution, [&](const auto&, const Run& run) {
    tail = run.tail;
    return false;
  }));
  return tail;
}

absl::StatusOr<LogExtent> SegmentLogStore::find_extent(ExecutionId execution) const {
  std::optional<Run> open_run;
  const View now = view(execution.job, [&](const OpenIndex& open) {
    if (const OpenIndex::Entry* entry = open.find(execution)) open_run = entry->run;
  });
  LogExtent out;
  const auto take = [&](const Run& run) {
    if (!out.exists) {
      out = {
          .next_offset = run.tail.next_offset, .entries = run.tail.next_line, .ended = run.tail.ended, .exists = true};
    }
    out.first_offset = run.first_offset;
    return run.first_offset > 0;
  };
  if (open_run && !take(*open_run)) return out;
  RETURN_IF_ERROR(walk_sealed(now, execution, [&](const auto&, const Run& run) { return take(run); }));
  return out;
}

LogExtent SegmentLogStore::extent(ExecutionId execution) const {
  return retry_if_expired([&] { return find_extent(execution); }).value_or(LogExtent{});
}

std::vector<uint32_t> SegmentLogStore::executions(JobId job) const {
  std::vector<uint32_t> out;
  const View now = view(job, [&](const OpenIndex& open) {
    const auto& entries = open.entries();
    for (auto it = entries.lower_bound({job, 0}); it != entries.end() && it->first.job == job; ++it) {
      out.push_back(it->first.number);
    }
  });
  for (const auto& segment : *now.sealed) {
    if (segment->id() < now.cleared_before) continue;
    const absl::StatusOr<std::vector<uint32_t>> found = segment->executions(job);
    if (found.ok()) out.insert(out.end(), found->begin(), found->end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The oldest run that still reaches behind `from`: walks from the newest back to the one that `from` lies in.
absl::StatusOr<std::optional<SegmentLogStore::Place>> SegmentLogStore::find_place(ExecutionId execution,
                                                                                  int64_t from) const {
  std::optional<BlockRef> open_block;
  bool is_in_open = false;
  const View now = view(execution.job, [&](const OpenIndex& open) {
    const OpenIndex::Entry* entry = open.find(execution);
    if (entry == nullptr) return;
    is_in_open = entry->run.first_offset <= from;
    open_block = entry->block_at(from);
  });
  std::optional<Place> place;
  if (open_block) place = Place{now.open_blocks, *open_block};
  if (is_in_open) return place;
  absl::Status trouble;
  RETURN_IF_ERROR(walk_sealed(now, execution, [&](const auto& segment, const Run& run) {
    const absl::StatusOr<std::optional<BlockRef>> block = segment->block_at(run, from);
    trouble = block.status();
    if (!trouble.ok()) return false;
    if (*block) {
      absl::StatusOr<std::shared_ptr<const ReadFile>> file = segment->open_blocks();
      trouble = file.status();
      if (!trouble.ok()) return false;
      place = Place{*std::move(file), **block};
    }
    return run.first_offset > from;
  }));
  RETURN_IF_ERROR(trouble);
  return place;
}

absl::StatusOr<NumberedPiece> SegmentLogStore::read_block(const Place& place, ExecutionId execution, int64_t from,
                                                          size_t max_bytes) const {
  ASSIGN_OR_RETURN(const std::string head, place.file->read(place.block.position, kBlockHeaderBytes));
  const std::optional<BlockHeader> header = read_header(head);
  if (header && header->execution == execution && header->offset == place.block.offset) {
    ASSIGN_OR_RETURN(const std::string block,
                     place.file->read(place.block.position, kBlockHeaderBytes + header->body_bytes));
    const absl::StatusOr<LogPiece> piece = decode_block(*header, block);
    // As the index says, and as it is written: only the end mark may be empty.
    const bool makes_sense =
        piece.ok() && piece->data.size() == place.block.data_bytes && (piece->end || !piece->data.empty());
    if (makes_sense) return cut_for_reader(*piece, header->first_line, from, max_bytes);
  }
  // Damaged: say that it is missing and let the reader go on behind it. Without data it is the end mark, behind which
  // there is nothing; an index that leads back to where the reader stands would keep it there for ever.
  const bool at_end = place.block.data_bytes == 0 || place.block.end() <= from;
  return NumberedPiece{
      .piece = {.execution = execution, .offset = place.block.end(), .lost = kLostUnknown, .end = at_end},
      .first_line = place.block.first_line};
}

absl::StatusOr<NumberedPiece> SegmentLogStore::read_numbered(ExecutionId execution, int64_t from,
                                                             size_t max_bytes) const {
  ASSIGN_OR_RETURN(const std::optional<Place> place, retry_if_expired([&] { return find_place(execution, from); }));
  if (place) {
    ASSIGN_OR_RETURN(NumberedPiece found, read_block(*place, execution, from, max_bytes));
    // What expires is always the beginning. A hole behind it that no worker told of was a block that is damaged.
    LogPiece& piece = found.piece;
    const bool is_hole = piece.lost >= 0 && piece.offset - piece.lost > from;
    if (is_hole && extent(execution).first_offset <= from) piece.lost = kLostUnknown;
    return found;
  }
  const LogExtent known = extent(execution);
  // An append may have come in between: only what was looked at may be called the end.
  const bool at_end = known.ended && from >= known.next_offset;
  return NumberedPiece{.piece = {.execution = execution, .offset = from, .end = at_end}, .first_line = known.entries};
}

absl::StatusOr<std::optional<SegmentLogStore::Place>> SegmentLogStore::find_line(ExecutionId execution,
                                                                                 int64_t line) const {
  std::optional<BlockRef> open_block;
  const View now = view(execution.job, [&](const OpenIndex& open) {
    if (const OpenIndex::Entry* entry = open.find(execution)) open_block = entry->block_with_line(line);
  });
  std::optional<Place> place;
  if (open_block) place = Place{now.open_blocks, *open_block};
  if (place && place->block.first_line <= line) return place;
  absl::Status trouble;
  RETURN_IF_ERROR(walk_sealed(now, execution, [&](const auto& segment, const Run& run) {
    const absl::StatusOr<BlockRef> block = segment->block_with_line(run, line);
    trouble = block.status();
    if (!trouble.ok()) return false;
    absl::StatusOr<std::shared_ptr<const ReadFile>> file = segment->open_blocks();
    trouble = file.status();
    if (!trouble.ok()) return false;
    place = Place{*std::move(file), *block};
    return block->first_line > line;
  }));
  RETURN_IF_ERROR(trouble);
  return place;
}

absl::StatusOr<int64_t> SegmentLogStore::offset_of_line(ExecutionId execution, int64_t line) const {
  const LogExtent known = extent(execution);
  if (line >= known.entries) return known.next_offset;
  ASSIGN_OR_RETURN(const std::optional<Place> place, retry_if_expired([&] { return find_line(execution, line); }));
  if (!place) return known.next_offset;
  ASSIGN_OR_RETURN(const NumberedPiece whole, read_block(*place, execution, place->block.offset, SIZE_MAX));
  int64_t offset = whole.piece.offset;
  const int64_t passed = line - whole.first_line;
  for (size_t i = 0; i < whole.piece.lines.size() && static_cast<int64_t>(i) < passed; ++i) {
    offset += whole.piece.lines[i].length;
  }
  return offset;
}

}  // namespace hodei::store
