// The worker's folder on disk: who runs here, under which id and session. One supervisor at a time, by a lock.
//
//   lock             held by the living supervisor; contains its pid
//   supervisor.pid   agent.pid
//   worker_id        chosen once when none was given
//   mark             random, made once in each place: HODEI_WORKER_MARK of every process of this worker
//   incarnation      random, new at each start of a supervisor
//   lineage          random, the place it stands for, and how many supervisors were started there; new in another place
//   executions       what runs, for a successor to end; see ExecutionLedger
//   session          the session id from the last registration (0600)
//   last_words       of a supervisor that was stopped: see LastWords
//   last_output      what its jobs printed and no server has: see LastOutput (0600)
//   work/            private folders of executions
//   stage/           those of executions with artifacts, made and removed by the agent
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/worker/fd.h"

namespace hodei::worker {

inline std::string stage_folder(const std::string& state_dir) { return state_dir + "/stage"; }

class StateFolder {
 public:
  // Makes it if needed and takes the lock. FAILED_PRECONDITION names the pid that holds it.
  static absl::StatusOr<StateFolder> open(const std::string& path);

  // The stored worker id, or `wanted`, or one made from the host name; stored for the next start.
  absl::StatusOr<std::string> settle_worker_id(const std::string& wanted);
  const std::string& mark() const { return mark_; }
  const std::string& incarnation() const { return incarnation_; }
  // Supervisors that hold this very lock, see each other's processes and were started since the machine was form a
  // lineage, counted by the generation: a later one has killed what the earlier ones left. A copy of the folder, a
  // reboot, another machine or container begin a new one. Empty where that cannot be told.
  const std::string& lineage() const { return lineage_; }
  uint64_t generation() const { return generation_; }
  // When it is not certain that all that the earlier ones ran is gone. Nothing where there is no lineage.
  absl::Status begin_lineage();
  std::string executions() const { return path_ + "/executions"; }
  std::string session() const { return read("session"); }
  absl::Status store_session(const std::string& session_id) { return write("session", session_id); }
  std::string last_words() const { return read_bytes("last_words"); }
  std::string last_output() const { return read_bytes("last_output"); }
  // Durable when they return.
  absl::Status store_last_words(const std::string& bytes) const { return store_bytes("last_words", bytes); }
  absl::Status store_last_output(const std::string& bytes) const { return store_bytes("last_output", bytes); }
  void drop_last_words() const;  // and the output
  void drop_last_output() const;
  void note_agent(int64_t pid);  // 0: none
  bool is_there() const;         // the folder that was opened; false: it was removed or replaced
  std::string work() const { return path_ + "/work"; }
  void leave();  // removes the pid files

 private:
  explicit StateFolder(std::string path) : path_(std::move(path)) {}
  std::string read(const std::string& name) const;
  absl::Status write(const std::string& name, const std::string& text) const;  // whole or not at all; 0600
  std::string read_bytes(const std::string& name) const;
  absl::Status store_bytes(const std::string& name, const std::string& bytes) const;

  std::string path_;
  std::string mark_;
  absl::Status settle_lineage();

  std::string incarnation_;
  std::string lineage_;
  uint64_t generation_ = 0;
  bool is_copy_ = false;  // or the machine was started again since
  Fd lock_;
};

}  // namespace hodei::worker
