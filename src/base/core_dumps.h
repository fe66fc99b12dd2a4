// Disables core dumps of the server, the supervisor and the agent, because their memory holds secrets. The limit is
// restored for the processes that they start.
#pragma once

#include <sys/resource.h>

namespace hodei {

enum class FoundBy : bool {
  Nobody,       // nothing else looks at this process in /proc
  Environment,  // others of the same user must see its environment: workers are found by marks there
};

// Early in main. A process that is found by its environment stays readable in /proc where its user has no other way to
// see it; its limit still keeps it out of every dump.
void forbid_core_dumps(FoundBy found_by);

// For a child between fork and exec: the limit that this process was started with.
void restore_core_limit();

// The same for a child that posix_spawn starts while this lives. Only where dumps are forbidden in another way as well.
class CoreLimitRestored {
 public:
  CoreLimitRestored();
  ~CoreLimitRestored();
  CoreLimitRestored(const CoreLimitRestored&) = delete;
  CoreLimitRestored& operator=(const CoreLimitRestored&) = delete;

 private:
  rlimit lowered_{};
};

}  // namespace hodei
