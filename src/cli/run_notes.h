// Words on a terminal while a job is followed: that it still waits and why, and its progress. Never in a pipe, where
// stderr belongs to the job.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "src/cli/client.h"

namespace hodei::cli {

// Why a job still waits, in words.
std::string waiting_note(const std::string& job_id, const std::string& reason);

class RunNotes {
 public:
  RunNotes(Client& client, std::string job_id, std::function<void(const std::string&)> note);
  ~RunNotes();

  void start();

 private:
  void say_why_it_waits();
  void say_progress(const std::stop_token& stop);

  Client& client_;
  std::string job_id_;
  std::function<void(const std::string&)> note_;
  std::jthread thread_;
};

}  // namespace hodei::cli
