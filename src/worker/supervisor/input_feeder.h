// The standard input of one execution: from the agent's pieces into the job's pipe, no faster than the job reads. It is
// the supervisor's, so that the job notices nothing when an agent dies; what the pipe does not take yet waits here,
// bounded by the window that agents keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/worker/system/fd.h"

namespace hodei::worker {

inline constexpr int64_t kInputWindow = 256 << 10;  // bytes that an agent sends without an acknowledgement

class InputFeeder {
 public:
  // The job may not have started yet: then all that comes waits.
  void open(Fd pipe);                   // the writing end, which does not block
  void watch(int epoll, uint64_t key);  // tells `key` when the pipe takes more, while something waits

  // What came before is passed over. More than the window is not taken, and the agent sends it again.
  void add(int64_t offset, std::string_view data, bool end);
  // No more comes, and it is not the end of the input. The pipe is closed, because the job may wait for more for ever.
  void break_off();
  // Of an input that broke off, when the job has ended: it has read some of it, or could not be given what had come, so
  // what it made of it must not pass for a success.
  bool is_half_read() const;
  void feed();  // what the pipe takes now

  bool is_closed() const { return closed_; }  // by the job
  bool is_done() const { return closed_ || (ends_ && waiting_.empty()); }
  int64_t received() const { return received_; }                                       // by us
  int64_t given() const { return received_ - static_cast<int64_t>(waiting_.size()); }  // to the job
  // Whether enough has happened since the last acknowledgement to send one to the agent.
  bool take_news();

 private:
  void arm(bool wanted);
  void close_pipe();

  Fd pipe_;
  std::string waiting_;
  int64_t received_ = 0;
  int64_t told_ = 0;
  bool ends_ = false;
  bool closed_ = false;
  bool told_closed_ = false;
  bool broken_ = false;
  int64_t given_when_broken_ = 0;
  Fd witness_;  // a reading end of the pipe of a broken input: tells at the end what the job has left unread
  // Whether epoll tells when the pipe takes more.
  struct Watch {
    int epoll = -1;
    uint64_t key = 0;
    bool armed = false;
  } watch_;
};

}  // namespace hodei::worker
