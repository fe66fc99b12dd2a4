// Sends our standard input to a job while it is followed. What the server has not acknowledged is kept, up to a limit,
// and sent again after a break; beyond the limit nothing more is read, so a fast writer in front of us waits.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "src/cli/session/session.h"
#include "src/cli/terminal/input_source.h"

namespace hodei::cli {

class StdinSender {
 public:
  static constexpr size_t kMostKept = 1 << 20;  // bytes that are not acknowledged

  StdinSender(Session& session, std::string job_id, std::shared_ptr<InputSource> input);
  ~StdinSender() { stop(); }

  void start();
  void stop();
  // All of it has arrived, or the job does not need the rest.
  bool is_done();

 private:
  struct Call;

  void read_input();
  void send();                    // until all is done
  absl::Status send_once();       // one call
  bool write_pieces(Call& call);  // until the call breaks or there is nothing more to say; false: it broke
  void take_answers(Call& call);
  void acknowledged(int64_t offset);  // with the mutex held
  bool give_up_on(const absl::Status& status);
  void wait_before_next_call();

  Session& session_;
  const std::string job_id_;
  const std::string name_;  // of this sender, random
  const std::shared_ptr<InputSource> input_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::string kept_;         // from acked_ on
  int64_t acked_ = 0;        // by the server
  bool was_heard_ = false;   // the server has answered once
  bool at_end_ = false;      // of our own input
  bool unreadable_ = false;  // its rest cannot be read
  bool done_ = false;
  bool told_full_ = false;
  size_t server_ = 0;  // of several
  BackOff back_off_;
  std::stop_source stop_;
  std::jthread reader_, sender_;
};

}  // namespace hodei::cli
