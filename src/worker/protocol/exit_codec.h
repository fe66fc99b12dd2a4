// Encodes the end of an execution: for the socket between supervisor and agent, and for the files of a stopped worker.
#pragma once

#include "src/base/codec.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

void put(Encoder& out, ExecutionId id);
ExecutionId get_execution(Decoder& in);
void put(Encoder& out, const Exit& exit);
Exit get_exit(Decoder& in);

}  // namespace hodei::worker
