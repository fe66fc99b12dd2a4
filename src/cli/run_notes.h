// Words on stderr while a job is followed: that it waits and why, in the words of `hodei job explain`. On a terminal
// also its progress; elsewhere stderr belongs to the job.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "src/cli/client.h"

namespace hodei::cli {

// Why a job still waits, in one line. On a terminal it also says how to end the wait.
std::string waiting_note(const std::string& job_id, const v1::SchedulingDecision& decision, bool on_terminal);

class RunNotes {
 public:
  RunNotes(Client& client, std::string job_id, bool on_terminal, std::function<void(const std::string&)> note);
  ~RunNotes();

  void start();

 private:
  // Until it has a worker, or nobody follows it any more; again whenever the reason is another one.
  void say_why_it_waits(const std::stop_token& stop);
  void say_progress(const std::stop_token& stop);

  Client& client_;
  std::string job_id_;
  const bool on_terminal_;
  std::function<void(const std::string&)> note_;
  std::jthread thread_;
};

}  // namespace hodei::cli
