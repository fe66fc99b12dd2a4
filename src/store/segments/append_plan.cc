#include "src/store/segments/append_plan.h"

#include "absl/container/flat_hash_map.h"
#include "src/base/status.h"

namespace hodei::store {
namespace {

// An execution that this append writes to: how far it is with what is planned, and its last block, which may still
// grow.
struct Planned {
  LogTail tail;
  size_t last_block = SIZE_MAX;
};

bool fits(const BlockPlan& block, const NewPart& part) {
  return part.lost == 0 && block.data_bytes + part.data.size() <= kBlockDataBytes;
}

void add(BlockPlan& block, const NewPart& part) {
  block.data_bytes += part.data.size();
  block.line_count += part.lines.size();
  block.parts.push_back(part);
}

void place(NewPart part, Planned& planned, std::vector<BlockPlan>& blocks) {
  for (bool more = true; more;) {
    const NewPart front = take_front(part, kBlockDataBytes);
    more = !part.lines.empty();
    if (planned.last_block == SIZE_MAX || !fits(blocks[planned.last_block], front)) {
      planned.last_block = blocks.size();
      blocks.emplace_back();
    }
    add(blocks[planned.last_block], front);
  }
}

}  // namespace

absl::StatusOr<std::vector<BlockPlan>> plan_append(const std::vector<LogPiece>& pieces, const TailLookup& tail_of) {
  std::vector<BlockPlan> blocks;
  absl::flat_hash_map<ExecutionId, Planned> executions;
  for (const LogPiece& piece : pieces) {
    RETURN_IF_ERROR(check_piece(piece));
    auto [it, is_new] = executions.try_emplace(piece.execution);
    Planned& planned = it->second;
    if (is_new) {
      ASSIGN_OR_RETURN(planned.tail, tail_of(piece.execution));
    }
    const std::optional<NewPart> part = new_part(piece, planned.tail);
    if (!part) continue;
    planned.tail = after(*part);
    place(*part, planned, blocks);
  }
  return blocks;
}

}  // namespace hodei::store
