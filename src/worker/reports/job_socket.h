// $HODEI_SOCKET: where jobs report. One unix socket for all executions of a worker, served by the agent without ever
// waiting for anybody. Who speaks is shown by a key that only the execution was given: a job cannot speak for another.
//
// Nobody is read faster than what it says can be passed on: a connection is not read while its answers wait, nor while
// its execution has used up its budget. Who has not said hello has only a few places, and gives way to newcomers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/base/sha256.h"
#include "src/base/time.h"
#include "src/worker/reports/job_reports.h"
#include "src/worker/reports/report_connections.h"
#include "src/worker/reports/report_line.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

inline constexpr const char* kSocketVariable = "HODEI_SOCKET";
inline constexpr const char* kSocketKeyVariable = "HODEI_SOCKET_KEY";
inline constexpr const char* kProgramVariable = "HODEI_WORKER";

// The key of one execution: a code of its id, so that the next agent knows it too.
std::string socket_key(const HmacSha256& secret, ExecutionId execution);

class JobSocket {
 public:
  static constexpr size_t kMaxConnections = ReportConnections::kMaxConnections;
  static constexpr size_t kMaxPerExecution = 8;
  static constexpr size_t kMaxStrangers = ReportConnections::kMaxStrangers;
  static constexpr Duration kHelloTime = 5s;  // to say who is speaking
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

  int fd() const { return connections_.epoll(); }  // readable: look() has something to do
  void look(MonoTime now);                         // accepts, reads, hands on; answers wait for answer()
  bool has_answers() const { return !unanswered_.empty(); }
  void answer(const IsKept& is_kept = [](ExecutionId) { return true; });
  // Of those who have not said hello, and of those who wait until they may speak again.
  MonoTime next_deadline() const;
  void close_all_of(ExecutionId execution);  // which has ended

 private:
  using Connection = ReportConnection;

  void accept_some(MonoTime now);
  void read_from(int fd, MonoTime now);
  void take_lines(int fd, Connection& connection, MonoTime now);
  absl::Status take_line(Connection& connection, std::string_view line);
  absl::Status greet(Connection& connection, const HelloLine& hello);
  bool must_wait(Connection& connection, MonoTime now);

  std::string path_;
  HmacSha256 secret_;
  Handler handler_;
  Fd listener_;
  ReportConnections connections_;
  std::map<ExecutionId, ReportBudget> budgets_;  // of those that have spoken
  std::vector<int> unanswered_;
  int lines_left_ = 0;  // of this look
};

}  // namespace hodei::worker
