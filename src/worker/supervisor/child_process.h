// The code that runs in a child process before it becomes the program. The child shares the memory of its parent
// (except in a sandbox), so everything that it needs is prepared before it exists.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "src/worker/limits/sandbox.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

enum class Stage : uint8_t { None, Clone, Join, Limit, Sandbox, Folder, Exec };

// What went wrong in the child. In memory that both see.
struct Trouble {
  volatile Stage stage = Stage::None;
  volatile int error = 0;
  const char* volatile step = nullptr;  // of the sandbox
};

// Trouble that a child with memory of its own can tell.
class SharedTrouble {
 public:
  SharedTrouble();
  ~SharedTrouble();
  SharedTrouble(const SharedTrouble&) = delete;
  SharedTrouble& operator=(const SharedTrouble&) = delete;
  Trouble* get() const;  // nullptr: there is no memory for it

 private:
  void* memory_;
};

// The three descriptors that a thread lends to the children it starts, one child after another. Their numbers are low
// when the thread was there early: a child takes over the descriptors up to the highest of them, not the hundreds that
// a busy supervisor has open.
class LentFds {
 public:
  LentFds() { open(); }
  bool lend(int in, int out, int err);  // false: errno says why
  void take_back();                     // so that the ends of pipes are closed here
  int in() const { return fds_[0].get(); }
  int out() const { return fds_[1].get(); }
  int err() const { return fds_[2].get(); }
  int highest() const;

 private:
  bool open();  // what is not open yet: there may have been no descriptor left

  Fd nothing_;
  Fd fds_[3];
};

struct Child {
  const char* const* paths = nullptr;  // tried in turn, up to a null
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const char* working_dir = nullptr;
  const LentFds* fds = nullptr;
  bool shares_fds = false;          // all of its parent's, until it takes its part
  const int* join_files = nullptr;  // cgroups v1
  size_t join_count = 0;
  int cgroup = -1;         // cgroup v2 that it was not born in
  int64_t data_limit = 0;  // where no cgroup limits its memory
  const Sandbox* sandbox = nullptr;
  Trouble* trouble = nullptr;
  std::atomic<pid_t>* record = nullptr;  // where it notes its number once it is its own session
};

// The pid, when the child has become the program or has failed to, which its Trouble says; 0: there is no child. A
// child that failed has exited, and has to be reaped all the same. `cgroup`: one of version 2 to be born in, or -1.
pid_t start_child(Child& child, int cgroup);

}  // namespace hodei::worker
