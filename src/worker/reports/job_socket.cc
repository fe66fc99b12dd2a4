#include "src/worker/reports/job_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/status.h"

namespace hodei::worker {
namespace {

constexpr int kBacklog = 128;
constexpr size_t kKeyBytes = 16;
constexpr size_t kRead = 16 << 10;

// Takes the same time wherever the two differ.
bool same_key(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

}  // namespace

std::string socket_key(const HmacSha256& secret, ExecutionId execution) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<uint8_t, 32> code = secret(to_string(execution));
  std::string out;
  for (size_t i = 0; i < kKeyBytes; ++i) {
    out += kDigits[code[i] >> 4];
    out += kDigits[code[i] & 15];
  }
  return out;
}

JobSocket::JobSocket(std::string path, std::string_view secret, Handler handler)
    : path_(std::move(path)), secret_(secret), handler_(std::move(handler)) {}

absl::Status JobSocket::open() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError(cat(path_, ": too long for a socket"));
  std::memcpy(address.sun_path, path_.data(), path_.size());
  connections_.open();
  listener_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(path_.c_str());
  // Jobs may run as another user: the key protects, not the mode.
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path_.c_str(), 0666) != 0 || listen(listener_.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, cat("listening on ", path_));
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener_.get();
  if (epoll_ctl(connections_.epoll(), EPOLL_CTL_ADD, listener_.get(), &event) != 0)
    return absl::ErrnoToStatus(errno, "epoll");
  return absl::OkStatus();
}

void JobSocket::look(MonoTime now) {
  lines_left_ = kLinesPerLook;
  // Who has waited comes first.
  std::vector<int> waited;
  for (const auto& [fd, connection] : connections_.all()) {
    if (now >= connection.waits_until) waited.push_back(fd);
  }
  for (const int fd : waited) {
    if (Connection* connection = connections_.find(fd)) take_lines(fd, *connection, now);
  }
  epoll_event events[64];
  const int count = epoll_wait(connections_.epoll(), events, 64, 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events[i].data.fd;
    if (fd == listener_.get()) {
      accept_some(now);
    } else {
      read_from(fd, now);
    }
  }
  connections_.erase_strangers(now - kHelloTime);
}

void JobSocket::accept_some(MonoTime now) {
  for (int i = 0; i < kAcceptsPerLook; ++i) {
    Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    const int number = fd.get();
    if (connections_.add(std::move(fd), now) == nullptr) continue;
    read_from(number, now);  // its hello is there already, as a rule
  }
}

void JobSocket::read_from(int fd, MonoTime now) {
  Connection* found = connections_.find(fd);
  if (found == nullptr || !found->watched) return;
  Connection& connection = *found;
  const size_t had = connection.in.size();
  connection.in.resize(had + kRead);
  const ssize_t got = recv(fd, connection.in.data() + had, kRead, 0);
  connection.in.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0) return take_lines(fd, connection, now);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  connections_.erase(fd);
}

// Leaves the connection either watched, or with answers that wait, or waiting for its time.
void JobSocket::take_lines(int fd, Connection& connection, MonoTime now) {
  connection.waits_until = kNever;
  std::string_view rest = connection.in;
  while (!connection.closing) {
    const size_t end = rest.find('\n');
    if (std::min(end, rest.size()) > kMaxReportLine) {
      connection.out += cat("error a line is longer than ", kMaxReportLine, " bytes\n");
      connection.closing = true;
    }
    if (connection.closing || end == std::string_view::npos || must_wait(connection, now)) break;
    const absl::Status taken = take_line(connection, rest.substr(0, end));
    connection.out += taken.ok() ? std::string("ok\n") : cat("error ", std::string(taken.message()), "\n");
    rest.remove_prefix(end + 1);
  }
  connection.in.erase(0, connection.in.size() - rest.size());
  if (connection.out.empty() && connection.waits_until == kNever) {
    connections_.watch(fd, connection);
    return;
  }
  connections_.unwatch(fd, connection);
  if (connection.out.empty()) return;
  connection.waits_until = kNever;  // answer() looks again
  unanswered_.push_back(fd);
}

bool JobSocket::must_wait(Connection& connection, MonoTime now) {
  if (lines_left_ <= 0) {
    connection.waits_until = now;
    return true;
  }
  if (connection.speaker) {
    ReportBudget& budget = budgets_[*connection.speaker];
    if (budget.is_spent(now)) {
      connection.waits_until = budget.ready_at();
      return true;
    }
  }
  --lines_left_;
  return false;
}

absl::Status JobSocket::take_line(Connection& connection, std::string_view line) {
  const absl::StatusOr<ReportLine> report = parse_report(line);
  if (!connection.speaker) {
    const HelloLine* hello = report.ok() ? std::get_if<HelloLine>(&*report) : nullptr;
    const absl::Status greeted =
        hello == nullptr ? absl::UnauthenticatedError("send hello first: hello $HODEI_EXECUTION_ID $HODEI_SOCKET_KEY")
                         : greet(connection, *hello);
    connection.closing = !greeted.ok();
    return greeted;
  }
  budgets_[*connection.speaker].spend(line.size(), report.ok() && std::holds_alternative<OutputLine>(*report));
  RETURN_IF_ERROR(report.status());
  if (std::holds_alternative<HelloLine>(*report)) return absl::InvalidArgumentError("hello was already sent");
  return handler_(*connection.speaker, *report);
}

absl::Status JobSocket::greet(Connection& connection, const HelloLine& hello) {
  if (!same_key(hello.key, key_of(hello.execution))) {
    return absl::PermissionDeniedError("wrong key for that execution");
  }
  if (connections_.count_of(hello.execution) >= kMaxPerExecution) {
    return absl::ResourceExhaustedError(
        cat(kBusy, "this execution has ", kMaxPerExecution, " connections, which is the limit"));
  }
  if (!connections_.make_room_for(hello.execution)) {
    return absl::ResourceExhaustedError(cat(kBusy, "all ", kMaxConnections, " connections of this worker are in use"));
  }
  RETURN_IF_ERROR(handler_(hello.execution, hello));
  connection.speaker = hello.execution;
  return absl::OkStatus();
}

void JobSocket::answer(const IsKept& is_kept) {
  for (const int fd : std::exchange(unanswered_, {})) {
    Connection* found = connections_.find(fd);
    if (found == nullptr || found->out.empty()) continue;
    Connection& connection = *found;
    if (connection.speaker && !is_kept(*connection.speaker)) {
      unanswered_.push_back(fd);
      continue;
    }
    const ssize_t sent = ::send(fd, connection.out.data(), connection.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // The kernel holds thousands of answers for it; one that reads none of them is not waited for.
    if (sent != static_cast<ssize_t>(connection.out.size()) || connection.closing) {
      connections_.erase(fd);
      continue;
    }
    connection.out.clear();
    // Lines that were read and not taken yet have their turn in the next look.
    if (connection.in.find('\n') != std::string::npos) {
      connection.waits_until = MonoTime{0};
    } else {
      connections_.watch(fd, connection);
    }
  }
}

MonoTime JobSocket::next_deadline() const {
  MonoTime next = kNever;
  for (const auto& [fd, connection] : connections_.all()) {
    next = std::min(next, connection.waits_until);
    if (!connection.speaker) next = std::min(next, connection.opened + kHelloTime);
  }
  return next;
}

void JobSocket::close_all_of(ExecutionId execution) {
  connections_.erase_all_of(execution);
  budgets_.erase(execution);
}

}  // namespace hodei::worker
