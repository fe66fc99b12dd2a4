// The one worker that `hodei dev` keeps beside its server: a process tree of its own that outlives a crash of the
// server. The next `dev` on the same folder finds it by the lock of its state folder and takes it back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "src/cli/session/local_commands.h"

namespace hodei {

inline constexpr const char* kDevWorkerId = "dev";

class DevWorker {
 public:
  // Makes a token for the worker; called whenever one has to be started.
  using MakeToken = std::function<absl::StatusOr<std::string>()>;

  DevWorker(const cli::DevOptions& options, std::string server, MakeToken make_token);

  // Starts one unless it runs. Called again every second: one that died is replaced, unless `may_return` says that it
  // was sent away.
  absl::Status keep(const std::function<bool()>& may_return);
  // SIGTERM: it drains, with its grace time. A second one ends what it runs, a third one kills it.
  void tell_to_stop();
  bool is_gone();
  void end_now();  // without a grace time; waits until it is gone

  int64_t supervisor_pid() const;  // 0: none
  int64_t agent_pid() const;

 private:
  bool running() const;    // somebody holds the lock of the state folder
  bool serves_us() const;  // it was started for this address
  absl::Status spawn();
  void reap();
  bool wait_until_gone(Duration limit);
  int64_t read_pid(const char* name) const;

  cli::DevOptions options_;
  std::string server_;
  std::string state_dir_;
  MakeToken make_token_;
  int64_t child_ = 0;
  bool was_there_ = false;  // since we keep it
};

}  // namespace hodei
