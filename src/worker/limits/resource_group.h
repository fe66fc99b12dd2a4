// What an execution may take of cpu, memory and disk, and what it has taken.
//
// An Enclosure holds the processes; a ResourceGroup limits and counts them, for those executions that ask for a limit:
// the others pay nothing. Two drivers: version 1 has folders of its own in several hierarchies, which the process
// enters before it becomes the program; in version 2 the enclosure's own folder has the files. Groups stay with their
// place and are used again; a value is written only when it differs from the last one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/run_facts.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/enclosure.h"

namespace hodei::worker {

struct Measured {
  Usage usage;  // since the execution began; max_memory_kb 0: not known
  int64_t memory_now_kb = 0;
  int64_t oom_kills = 0;  // processes that the kernel ended because memory was at its limit
  bool counts_io = true;  // false: what it reads and writes is not counted by the group
};

// Reads the figures of one execution. May be used on any thread, and longer than the execution runs.
class UsageMeter {
 public:
  virtual ~UsageMeter() = default;
  Measured read() const;

 protected:
  void begin() { before_ = counted(); }

 private:
  virtual Measured counted() const = 0;              // of all executions of the group: what only grows
  virtual void add_memory(Measured& now) const = 0;  // now, and at most in the last execution
  Measured before_;
};

class ResourceGroup {
 public:
  virtual ~ResourceGroup() = default;

  // For the next execution; before its process exists, on a thread that may wait.
  virtual absl::Status begin(const ProgramLimits& limits) = 0;
  // The child writes "0" to each before it becomes the program.
  virtual std::vector<int> join_files() const { return {}; }
  virtual std::shared_ptr<const UsageMeter> meter() const = 0;  // of the execution that began last
  // After an execution: not to be used again, because what it left would be charged to the next. Its enclosure neither.
  virtual bool is_spent() const { return false; }
};

class ResourceGroups {
 public:
  virtual ~ResourceGroups() = default;
  // The group for an enclosure; both are used together from now on.
  virtual std::unique_ptr<ResourceGroup> make(const Enclosure& enclosure) = 0;
  virtual std::string describe() const = 0;
  virtual bool limits_cpu() const = 0;
  virtual bool limits_memory() const = 0;
  virtual bool weighs_io() const = 0;
  virtual void remove_all() {}  // at the end, when all are empty
};

// The best driver that works here. Where none does there is none: null.
std::unique_ptr<ResourceGroups> choose_resource_groups(const EnclosureOptions& options, const Enclosures& enclosures);

std::unique_ptr<ResourceGroups> make_resource_groups_v1(const EnclosureOptions& options);  // null: not possible
std::unique_ptr<ResourceGroups> make_resource_groups_v2(const Enclosures& enclosures);     // null: not possible

// Whether a group is needed for these, and there is one that can do something about them.
bool needs_group(const ProgramLimits& limits, const ResourceGroups* groups);
// For people: which of the limits this worker cannot enforce. Empty: it enforces them all. `own` are the limits of the
// worker as a whole where it runs one job at a time (0: none): they hold for that job too.
std::string not_enforced(const ProgramLimits& limits, const Enclosures& enclosures, const ResourceGroups* groups,
                         const ProgramLimits& own = {});

}  // namespace hodei::worker
