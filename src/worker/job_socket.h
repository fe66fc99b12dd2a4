// $HODEI_SOCKET: where jobs report. One unix socket for all executions of a worker, served by the agent without ever
// waiting for anybody. Who speaks is shown by a key that only the execution was given: a job cannot speak for another.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/sha256.h"
#include "src/base/time.h"
#include "src/worker/fd.h"
#include "src/worker/report_line.h"

namespace hodei::worker {

inline constexpr const char* kSocketVariable = "HODEI_SOCKET";
inline constexpr const char* kSocketKeyVariable = "HODEI_SOCKET_KEY";
inline constexpr const char* kProgramVariable = "HODEI_WORKER";

// The key of one execution: a code of its id, so that the next agent knows it too.
std::string socket_key(const HmacSha256& secret, ExecutionId execution);

class JobSocket {
 public:
  static constexpr size_t kMaxConnections = 256;
  static constexpr size_t kMaxPerExecution = 8;
  static constexpr Duration kHelloTime = 5s;         // to say who is speaking

  // What to make of a line; a HelloLine has shown its key already. An error is the answer to the job.
  using Handler = std::function<absl::Status(ExecutionId, const ReportLine&)>;

  JobSocket(std::string path, std::string_view secret, Handler handler);
  JobSocket(const JobSocket&) = delete;

  absl::Status open();                               // listens; takes the place of an agent that is gone
  const std::string& path() const { return path_; }
  std::string key_of(ExecutionId execution) const { return socket_key(secret_, execution); }

  int fd() const { return epoll_.get(); }            // readable: look() has something to do
  void look(MonoTime now);                           // accepts, reads, hands on; answers wait for answer()
  bool has_answers() const { return !unanswered_.empty(); }
  void answer();
  MonoTime next_deadline() const;                    // of those who have not said hello
  void close_all_of(ExecutionId execution);

 private:
  struct Connection {
    Fd fd;
    std::string in, out;
    std::optional<ExecutionId> speaker;
    MonoTime opened;
    bool closing = false;                            // once it is answered
  };
  void accept_all(MonoTime now);
  void read_from(int fd);
  void take_lines(int fd, Connection& connection);
  absl::Status take_line(Connection& connection, std::string_view line);
  absl::Status greet(Connection& connection, const HelloLine& hello);

  std::string path_;
  HmacSha256 secret_;
  Handler handler_;
  Fd epoll_, listener_;
  std::map<int, Connection> connections_;            // by descriptor
  std::vector<int> unanswered_;
};

}  // namespace hodei::worker
