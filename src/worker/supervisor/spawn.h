// Starts one process: its own session, its pipes, its enclosure. The calling thread waits until the program is running
// or has failed to; other threads go on. Memory is shared with the child until then (as in vfork), never copied, except
// for a sandboxed one.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/core/execution.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/supervisor/execution_ledger.h"
#include "src/worker/supervisor/inherited_environment.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

struct SpawnPlace {
  std::string folder;       // stands for kFolderMark
  std::string working_dir;  // used when the program names none
  const Enclosure* enclosure = nullptr;
  std::string mark;                                 // value of kMarkVariable
  const InheritedEnvironment* inherited = nullptr;  // what is added to the program's environment
  const ResourceGroup* group = nullptr;             // entered besides, if there is one; it has begun
  LedgerRecord* record = nullptr;                   // what the next supervisor reads about it
  int64_t data_limit = 0;                           // RLIMIT_DATA of each process; 0: none
};

struct Spawned {
  pid_t pid = 0;
  Fd out;  // read ends, non-blocking
  Fd err;
  Fd in;  // write end, non-blocking; not open: its input is not streamed
};

// How the start failed; execution and times are for the caller to fill in.
using SpawnResult = std::variant<Spawned, Exit>;

SpawnResult spawn(const Program& program, const SpawnPlace& place);

// Where execve will find the program: `name` itself if it has a slash, else through PATH; the first, or all of them.
// The error's code says whether nothing was found (NOT_FOUND) or nothing that may be executed (PERMISSION_DENIED).
absl::StatusOr<std::vector<std::string>> find_programs(const std::string& name, std::string_view path, bool all);

}  // namespace hodei::worker
