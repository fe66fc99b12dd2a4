// What a worker is told once a batch is durable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct WelcomeWorker {
  WorkerId worker;
  uint64_t stream = 0;
  std::vector<ExecutionId> unknown;  // not current; the worker must stop and forget them
  std::vector<ExecutionId> held;     // their output continues from where it is durable
};
struct TellDrain {
  WorkerId worker;
  uint64_t stream = 0;
  std::string reason;
  bool is_over = false;  // the drain was undone; the worker stays
};
// That the worker stops is now durable: it is sent nothing but answers on this stream.
struct NoteStop {
  WorkerId worker;
  uint64_t stream = 0;
};
// A message for the worker's own log.
struct TellWorker {
  WorkerId worker;
  uint64_t stream = 0;
  std::string words;
};
struct DropStream {
  WorkerId worker;
  uint64_t stream = 0;
  std::string reason;
};

using FleetEffects = TypeList<WelcomeWorker, TellDrain, NoteStop, TellWorker, DropStream>;

}  // namespace hodei::core
