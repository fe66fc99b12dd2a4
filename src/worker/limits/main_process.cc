#include "src/worker/limits/main_process.h"

#include <signal.h>

namespace hodei::worker {

void MainProcess::entered(pid_t main) {
  pid_ = main;
  orphans_->expect(main);
}

void MainProcess::ended() {
  orphans_->dismiss(pid_);
  pid_ = 0;
  seen_before_ = orphans_->looks_before_last_pass();
}

void MainProcess::signal(int signal) const {
  if (pid_ == 0) return;
  ::kill(-pid_, signal);
  ::kill(pid_, signal);  // it may have joined another group
}

void MainProcess::kill() const {
  signal(SIGKILL);
  orphans_->kill();
}

}  // namespace hodei::worker
