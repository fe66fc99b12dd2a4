// The stop of a supervisor: the signals that request it, the time that running executions get, and the report that it
// leaves.
#pragma once

#include <sys/types.h>

#include "src/base/time.h"
#include "src/worker/supervisor/last_records.h"
#include "src/worker/supervisor/supervisor_parts.h"

namespace hodei::worker {

class Shutdown {
 public:
  explicit Shutdown(SupervisorParts& parts) : parts_(parts), records_(parts.state) {}

  LastRecords& records() { return records_; }
  void server_was_heard(MonoTime now) { server_heard_ = now; }
  void agent_has_left() { agent_left_ = true; }  // it said goodbye: no new one is started
  bool agent_left() const { return agent_left_; }

  void on_signal(pid_t sender, Now now);
  void begin(int exit_code, Duration grace, Now now);
  bool has_begun() const { return begun_; }
  int exit_code() const { return exit_code_; }
  void leave_if_alone(Now now);
  bool is_over(Now now);  // true: everything is done, and what must be left is written
  MonoTime next_due() const;

 private:
  bool is_from_a_job(pid_t sender);
  void stop_faster(Now now);  // the next signal

  SupervisorParts& parts_;
  LastRecords records_;
  MonoTime server_heard_{0};  // when the lease was extended last
  MonoTime look_around_at_{0};
  bool begun_ = false;
  int signals_ = 0;
  uint64_t ignored_signals_ = 0;  // that jobs sent
  MonoTime until_{0};             // when the grace time ends
  bool agent_left_ = false;
  int exit_code_ = 0;
  MonoTime deliver_until_ = kNever;  // once nothing runs: how long the agent may still deliver
};

}  // namespace hodei::worker
