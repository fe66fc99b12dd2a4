// The main process of an execution, and the orphans that it leaves behind. This part of an enclosure needs no cgroup.
#pragma once

#include <sys/types.h>

#include <memory>

#include "src/worker/limits/orphans.h"

namespace hodei::worker {

class MainProcess {
 public:
  explicit MainProcess(std::shared_ptr<Orphans> orphans) : orphans_(std::move(orphans)) {}

  void entered(pid_t main);
  void ended();                       // it was reaped
  pid_t pid() const { return pid_; }  // 0: none

  // To it and to its process group, which has its number. Nothing once it has ended.
  void signal(int signal) const;
  // The same with SIGKILL, and to all orphans.
  void kill() const;
  bool has_left_nothing() const { return pid_ == 0 && !orphans_->any_since(seen_before_); }
  bool can_find_orphans() const { return orphans_->can_look(); }

 private:
  std::shared_ptr<Orphans> orphans_;
  pid_t pid_ = 0;
  uint64_t seen_before_ = 0;  // looks while it lived: what they found was not left by it
};

}  // namespace hodei::worker
