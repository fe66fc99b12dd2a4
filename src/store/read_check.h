// The loop's thread never reads the store: while it waited for a disk, no job would be decided. It says so with
// NoReads, and every Reader asks check_may_read() before it reads.
#pragma once

namespace hodei::store {

// While it lives, its thread must not use a Reader.
class NoReads {
 public:
  NoReads();
  NoReads(const NoReads&) = delete;
  NoReads& operator=(const NoReads&) = delete;
  ~NoReads();

 private:
  const bool before_;
};

// Aborts with a message on a thread that must not read, if the check is on.
void check_may_read();

// On in builds with assertions, off in others; tests turn it on.
void set_read_check(bool is_on);

}  // namespace hodei::store
