// Reads a segment from its beginning to find out what it holds: the one that was being written when the server stopped,
// and any whose index is missing.
#pragma once

#include "src/store/segments/files.h"
#include "src/store/segments/segment_index.h"

namespace hodei::store {

struct Scan {
  OpenIndex index;
  int64_t good_bytes = 0;  // up to the end of the last whole block; what follows was never acknowledged
};

absl::StatusOr<Scan> scan_segment(const ReadFile& file, int64_t size);

}  // namespace hodei::store
