// Notes on stderr while a job is followed: why it waits (the same text as in `hodei job explain`), and that it starts
// again after an execution that did not end the job. On a terminal they also show progress; otherwise stderr belongs to
// the job.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "src/cli/client/client.h"

namespace hodei::cli {

// Why a job still waits, in one line. On a terminal it also says how to end the wait.
std::string waiting_note(const std::string& job_id, const v1::SchedulingDecision& decision, bool on_terminal);

class RunNotes {
 public:
  // A job that has a worker after `patience` is not worth a word. Later looks come less and less often.
  RunNotes(Client& client, std::string job_id, bool on_terminal, std::function<void(const std::string&)> note,
           Duration patience = 2s);
  ~RunNotes();

  void start();

 private:
  enum class Next { Watch, LookSoon, LookLater, Over };

  Next look(const std::stop_token& stop);       // tells why it waits whenever the reason is another one
  Next watch(const std::stop_token& stop);      // until it waits again, has ended, or the stream breaks
  bool tell(const v1::Transition& transition);  // true: it starts again, and this was not printed yet

  Client& client_;
  std::string job_id_;
  const bool on_terminal_;
  std::function<void(const std::string&)> note_;
  const Duration patience_;
  std::string told_;                     // why it waits
  std::set<std::string> told_requeues_;  // executions after which it was queued again
  std::jthread thread_;
};

}  // namespace hodei::cli
