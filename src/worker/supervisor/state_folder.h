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
//   last_words       of a supervisor that was stopped: see LastReport
//   last_output      what its jobs printed and no server has: see LastOutput (0600)
//   work/            private folders of executions
//   stage/           those of executions with artifacts, made and removed by the agent
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/worker/supervisor/state_files.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

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
  const std::string& lineage() const { return lineage_.id; }
  uint64_t generation() const { return lineage_.generation; }
  // When it is not certain that all that the earlier ones ran is gone. Nothing where there is no lineage.
  absl::Status begin_lineage();
  std::string executions() const { return files_.path("executions"); }
  std::string session() const { return files_.read("session"); }
  absl::Status store_session(const std::string& session_id) { return files_.write("session", session_id); }
  const StateFiles& files() const { return files_; }
  void note_agent(int64_t pid);  // 0: none
  bool is_there() const;         // the folder that was opened; false: it was removed or replaced
  std::string work() const { return files_.path("work"); }
  void leave();  // removes the pid files

 private:
  struct Lineage {
    std::string id;
    uint64_t generation = 0;
    bool is_copy = false;  // the folder was copied, or the machine started again since
  };

  explicit StateFolder(std::string path) : files_(std::move(path)) {}
  absl::Status settle_lineage();

  StateFiles files_;
  std::string mark_;
  std::string incarnation_;
  Lineage lineage_;
  Fd lock_;
};

}  // namespace hodei::worker
