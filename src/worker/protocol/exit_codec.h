// How an execution ended, as bytes: between supervisor and agent, and on the disk when a worker stops.
#pragma once

#include "src/base/codec.h"
#include "src/worker/core/execution.h"

namespace hodei::worker {

void put(Encoder& out, ExecutionId id);
ExecutionId get_execution(Decoder& in);
void put(Encoder& out, const Exit& exit);
Exit get_exit(Decoder& in);

}  // namespace hodei::worker
