// $HODEI_SOCKET: where jobs report. One unix socket for all executions of a worker, served by the agent without ever
// waiting for anybody. Who speaks is shown by a key that only the execution was given: a job cannot speak for another.
//
// Nobody is read faster than what it says can be passed on: a connection is not read while its answers wait, nor while
// its execution has used up its budget. Who has not said hello has only a few places, and gives way to newcomers.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/sha256.h"
#include "src/base/time.h"
#include "src/worker/fd.h"
#include "src/worker/report_budget.h"
#include "src/worker/report_line.h"

namespace hodei::worker {

inline constexpr const char* kSocketVariable = "HODEI_SOCKET";
inline constexpr const char* kSocketKeyVariable = "HODEI_SOCKET_KEY";
inline constexpr const char* kProgramVariable = "HODEI_WORKER";

// An error that begins with this is worth another try.
inline constexpr std::string_view kBusy = "busy: ";

// The key of one execution: a code of its id, so that the next agent knows it too.
std::string socket_key(const HmacSha256& secret, ExecutionId execution);

class JobSocket {
 public:
  static constexpr size_t kMaxConnections = 256;  // that have said hello
  static constexpr size_t kMaxPerExecution = 8;
  static constexpr size_t kMaxStrangers = 64;  // that have not
  static constexpr Duration kHelloTime = 5s;   // to say who is speaking
  static constexpr int kAcceptsPerLook = 32;
  static constexpr int kLinesPerLook = 512;  // of all connections; the rest is for the next look

  // What to make of a line; a HelloLine has shown its key already. An error is the answer to the job.
  using Handler = std::function<absl::Status(ExecutionId, const ReportLine&)>;
  // Whether everything that an execution has said would survive the agent: only then it is answered.
  using IsKept = std::function<bool(ExecutionId)>;

  JobSocket(std::string path, std::string_view secret, Handler handler);
  JobSocket(const JobSocket&) = delete;

  absl::Status open();  // listens; takes the place of an agent that is gone
  const std::string& path() const { return path_; }
  std::string key_of(ExecutionId execution) const { return socket_key(secret_, execution); }

  int fd() const { return epoll_.get(); }  // readable: look() has something to do
  void look(MonoTime now);                 // accepts, reads, hands on; answers wait for answer()
  bool has_answers() const { return !unanswered_.empty(); }
  void answer(const IsKept& is_kept = [](ExecutionId) { return true; });
  // Of those who have not said hello, and of those who wait until they may speak again.
  MonoTime next_deadline() const;
  void close_all_of(ExecutionId execution);  // which has ended

 private:
  struct Connection {
    Fd fd;
    std::string in, out;
    std::optional<ExecutionId> speaker;
    pid_t peer = 0;  // who connected
    MonoTime opened;
    MonoTime waits_until = kNever;  // its budget is used up, or this look had no room for it
    bool watched = false;
    bool closing = false;  // once it is answered
  };
  void accept_some(MonoTime now);
  void make_room_for_stranger();
  bool make_room_for(ExecutionId execution);
  void read_from(int fd, MonoTime now);
  void take_lines(int fd, Connection& connection, MonoTime now);
  absl::Status take_line(Connection& connection, std::string_view line);
  absl::Status greet(Connection& connection, const HelloLine& hello);
  bool must_wait(Connection& connection, MonoTime now);
  size_t connections_of(ExecutionId execution) const;
  size_t strangers() const;
  bool watch(int fd, Connection& connection);
  void unwatch(int fd, Connection& connection);
  void send_away(int fd, std::string_view why);

  std::string path_;
  HmacSha256 secret_;
  Handler handler_;
  Fd epoll_, listener_;
  std::map<int, Connection> connections_;        // by descriptor
  std::map<ExecutionId, ReportBudget> budgets_;  // of those that have spoken
  std::vector<int> unanswered_;
  int lines_left_ = 0;  // of this look
};

}  // namespace hodei::worker
