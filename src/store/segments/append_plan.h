// Plans what one append() writes: the new parts of its pieces, grouped into blocks of one execution each. Pure.
#pragma once

#include <functional>
#include <vector>

#include "src/store/segments/block.h"

namespace hodei::store {

using TailLookup = std::function<absl::StatusOr<LogTail>(ExecutionId)>;

// Blocks of an execution come in order. The plan points into `pieces`.
absl::StatusOr<std::vector<BlockPlan>> plan_append(const std::vector<LogPiece>& pieces, const TailLookup& tail_of);

}  // namespace hodei::store
