// What is known of one job's standard input: how much of it is stored, who sends it, and how much the job has been
// given. Plain values; the spool guards them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "src/base/text.h"
#include "src/base/time.h"
#include "src/server/input/input_file.h"

namespace hodei::server {

struct InputState {
  // The file.
  InputName name;
  int64_t size = 0;
  int64_t base = 0;  // what lies before it is gone
  // The client.
  uint64_t sender = 0;  // 0: none is connected
  std::string client;   // whose call that is
  MonoTime last_seen;   // when one was connected last
  bool broken = false;
  bool left_empty = false;  // its client stayed away and never sent a byte
  // The job.
  uint64_t taker = 0;
  int64_t taken = 0;  // by the newest taker
  bool job_closed = false;
  bool over = false;
  uint64_t next = 1;  // number of a sender or taker

  bool has_end() const { return name.whole || left_empty; }
  bool is_abandoned() const { return broken || left_empty; }
  int64_t room(int64_t per_job) const { return per_job - (size - base); }

  // A new execution has been given everything before `offset`. What an earlier one still says counts for nothing.
  uint64_t begin_taking(int64_t offset) {
    taken = offset;
    job_closed = false;
    return taker = next++;
  }

  // Why the job cannot be started (again); empty: it can.
  std::string trouble(int64_t per_job) const {
    if (name.cut) {
      return cat("its standard input is longer than the ", per_job,
                 " bytes that are kept (stdin_size), so the beginning is not kept, and the job cannot be started "
                 "again; pass it as an artifact instead");
    }
    if (broken) {
      return cat("its standard input broke off after ", size, " bytes: its client has gone away; run it again");
    }
    return {};
  }
};

}  // namespace hodei::server
