#include "src/worker/reports/report_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/worker/limits/enclosure.h"
#include "src/worker/reports/job_socket.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {
namespace {

constexpr Duration kAnswerPatience = 10s;  // an agent is replaced within a second or two
constexpr Duration kBetweenTries = 50ms;
constexpr int kRefused = 1;
constexpr int kUsage = 2;

absl::StatusOr<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError(cat(kSocketVariable, ": too long for a socket"));
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 2, .tv_usec = 0};
  for (const int way : {SO_RCVTIMEO, SO_SNDTIMEO}) setsockopt(fd.get(), SOL_SOCKET, way, &limit, sizeof(limit));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::UnavailableError(cat("the worker cannot be reached at ", path, ": ", strerror(errno)));
  }
  return fd;
}

absl::StatusOr<std::string> read_answer(int fd) {
  std::string line;
  char c = 0;
  while (recv(fd, &c, 1, 0) == 1) {
    if (c == '\n') return line;
    line += c;
  }
  return absl::UnavailableError("the worker did not answer");
}

absl::Status say_line(int fd, const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t sent = send(fd, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return absl::UnavailableError("the worker is not listening");
    done += static_cast<size_t>(sent);
  }
  ASSIGN_OR_RETURN(const std::string answer, read_answer(fd));
  if (answer == "ok") return absl::OkStatus();
  constexpr std::string_view kError = "error ";
  const std::string why = answer.starts_with(kError) ? answer.substr(kError.size()) : answer;
  return why.starts_with(kBusy) ? absl::UnavailableError(why) : absl::FailedPreconditionError(why);
}

absl::Status try_once(const std::string& socket, const HelloLine& hello, const std::vector<ReportLine>& reports) {
  ASSIGN_OR_RETURN(const Fd fd, connect_to(socket));
  RETURN_IF_ERROR(say_line(fd.get(), report_line(hello)));
  for (const ReportLine& report : reports) RETURN_IF_ERROR(say_line(fd.get(), report_line(report)));
  return absl::OkStatus();
}

absl::StatusOr<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr && *value != '\0') return std::string(value);
  return absl::FailedPreconditionError(
      cat(name, " is not set: this command works inside a job, where the worker sets it"));
}

absl::Status report_from_here(const std::vector<ReportLine>& reports) {
  ASSIGN_OR_RETURN(const std::string socket, variable(kSocketVariable));
  ASSIGN_OR_RETURN(const std::string id, variable(kExecutionVariable));
  ASSIGN_OR_RETURN(const std::string key, variable(kSocketKeyVariable));
  ASSIGN_OR_RETURN(const ExecutionId execution, parse_execution_id(id));
  return send_reports(socket, {execution, key}, reports, kAnswerPatience);
}

int complain(const absl::Status& why, int code) {
  fmt::print(stderr, "hodei: error: {}\n", std::string(why.message()));
  return code;
}

// Every rule about a line is in one place: what the worker would refuse is refused here.
absl::StatusOr<ReportLine> checked(std::string_view verb, std::string_view first, std::string_view text) {
  if (first.find_first_of(" \n") != std::string_view::npos) return bad_field(verb, "'", first, "' contains a space");
  const std::string line = cat(verb, " ", first, " ", escape_report_text(text));
  if (line.size() > kMaxReportLine) return bad_field(verb, "longer than ", kMaxReportLine, " bytes");
  return parse_report(line);
}

}  // namespace

absl::StatusOr<std::vector<ReportLine>> read_report_arguments(const std::vector<std::string>& words) {
  const std::string& verb = words.at(0);
  std::vector<ReportLine> reports;
  if (verb == "progress") {
    if (words.size() < 2) return bad_field("progress", "no percentage given; write: progress 40 \"halfway\"");
    std::string message;
    for (size_t i = 2; i < words.size(); ++i) message += (i > 2 ? " " : "") + words[i];
    ASSIGN_OR_RETURN(ReportLine report, checked(verb, words[1], message));
    return std::vector<ReportLine>{std::move(report)};
  }
  if (words.size() < 2) return bad_field("output", "no value given; write: output key=value");
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) return bad_field("output", "'", words[i], "' is not key=value");
    ASSIGN_OR_RETURN(ReportLine report, checked(verb, words[i].substr(0, equals), words[i].substr(equals + 1)));
    reports.push_back(std::move(report));
  }
  return reports;
}

absl::Status send_reports(const std::string& socket, const HelloLine& hello, const std::vector<ReportLine>& reports,
                          Duration patience) {
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + patience;
  while (true) {
    // Saying the same twice changes nothing, so all of it may be said again.
    const absl::Status done = try_once(socket, hello, reports);
    if (!absl::IsUnavailable(done) || clock.now().mono >= limit) return done;
    pause_for(kBetweenTries);
  }
}

int run_report(const std::vector<std::string>& words) {
  const absl::StatusOr<std::vector<ReportLine>> reports = read_report_arguments(words);
  if (!reports.ok()) return complain(reports.status(), kUsage);
  const absl::Status done = report_from_here(*reports);
  return done.ok() ? 0 : complain(done, kRefused);
}

}  // namespace hodei::worker
