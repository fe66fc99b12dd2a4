// Reads a segment from its beginning to find out what it holds: the one that was being written when the server stopped,
// and any whose index is missing.
//
// Two kinds of bytes are not whole blocks. The end of an append that a crash cut off was never acknowledged: it is cut
// off, and workers send it again. Damage in what was durable is passed over, what follows is kept, and readers find a
// gap. They are told apart by the appends: an append begins only after the sync of the one before, so whatever stands
// before the last append was durable.
#pragma once

#include "src/store/segments/files.h"
#include "src/store/segments/segment_index.h"

namespace hodei::store {

struct Scan {
  OpenIndex index;
  int64_t good_bytes = 0;     // what follows was never acknowledged
  int64_t damaged_bytes = 0;  // before that, in blocks that cannot be read any more
};

// `is_last`: it was being written. Of the others everything was durable.
absl::StatusOr<Scan> scan_segment(const ReadFile& file, int64_t size, bool is_last);

}  // namespace hodei::store
