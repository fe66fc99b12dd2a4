#include "src/worker/job_socket.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::worker {
namespace {

constexpr int kBacklog = 128;
constexpr size_t kKeyBytes = 16;
constexpr size_t kRead = 64 << 10;

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
  if (path_.size() >= sizeof(address.sun_path)) return absl::InvalidArgumentError(cat(path_, ": too long for a socket"));
  std::memcpy(address.sun_path, path_.data(), path_.size());
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
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
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) return absl::ErrnoToStatus(errno, "epoll");
  return absl::OkStatus();
}

void JobSocket::look(MonoTime now) {
  epoll_event events[64];
  const int count = epoll_wait(epoll_.get(), events, 64, 0);
  for (int i = 0; i < count; ++i) {
    const int fd = events[i].data.fd;
    if (fd == listener_.get()) {
      accept_all(now);
    } else {
      read_from(fd);
    }
  }
  std::erase_if(connections_, [&](const auto& each) {
    return !each.second.speaker && !each.second.closing && now >= each.second.opened + kHelloTime;
  });
}

void JobSocket::accept_all(MonoTime now) {
  while (true) {
    Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.is_open()) return;
    // Closed without an answer: the client tries again.
    if (connections_.size() >= kMaxConnections) continue;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd.get();
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) continue;
    const int number = fd.get();
    connections_[number] = {.fd = std::move(fd), .opened = now};
  }
}

void JobSocket::read_from(int fd) {
  const auto it = connections_.find(fd);
  if (it == connections_.end()) return;
  Connection& connection = it->second;
  const size_t had = connection.in.size();
  connection.in.resize(had + kRead);
  const ssize_t got = recv(fd, connection.in.data() + had, kRead, 0);
  connection.in.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0) return take_lines(fd, connection);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  connections_.erase(it);
}

void JobSocket::take_lines(int fd, Connection& connection) {
  std::string_view rest = connection.in;
  while (!connection.closing) {
    const size_t end = rest.find('\n');
    if (std::min(end, rest.size()) > kMaxReportLine) {
      connection.out += cat("error a line is longer than ", kMaxReportLine, " bytes\n");
      connection.closing = true;
    }
    if (connection.closing || end == std::string_view::npos) break;
    const absl::Status taken = take_line(connection, rest.substr(0, end));
    connection.out += taken.ok() ? std::string("ok\n") : cat("error ", std::string(taken.message()), "\n");
    rest.remove_prefix(end + 1);
  }
  connection.in.erase(0, connection.in.size() - rest.size());
  if (!connection.out.empty()) unanswered_.push_back(fd);
}

absl::Status JobSocket::take_line(Connection& connection, std::string_view line) {
  const absl::StatusOr<ReportLine> report = parse_report(line);
  if (!connection.speaker) {
    const HelloLine* hello = report.ok() ? std::get_if<HelloLine>(&*report) : nullptr;
    const absl::Status greeted = hello == nullptr
                                     ? absl::UnauthenticatedError("say hello first: hello $HODEI_EXECUTION_ID $HODEI_SOCKET_KEY")
                                     : greet(connection, *hello);
    connection.closing = !greeted.ok();
    return greeted;
  }
  RETURN_IF_ERROR(report.status());
  if (std::holds_alternative<HelloLine>(*report)) return absl::InvalidArgumentError("hello was said already");
  return handler_(*connection.speaker, *report);
}

absl::Status JobSocket::greet(Connection& connection, const HelloLine& hello) {
  if (!same_key(hello.key, key_of(hello.execution))) {
    return absl::PermissionDeniedError("this is not the key of that execution");
  }
  const auto of_it = [&](const auto& each) { return each.second.speaker == hello.execution; };
  if (static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(), of_it)) >= kMaxPerExecution) {
    return absl::ResourceExhaustedError(cat("this execution has ", kMaxPerExecution, " connections already"));
  }
  RETURN_IF_ERROR(handler_(hello.execution, hello));
  connection.speaker = hello.execution;
  return absl::OkStatus();
}

void JobSocket::answer() {
  for (const int fd : std::exchange(unanswered_, {})) {
    const auto it = connections_.find(fd);
    if (it == connections_.end()) continue;
    std::string& out = it->second.out;
    const ssize_t sent = ::send(fd, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // The kernel holds thousands of answers for it; one that reads none of them is not waited for.
    if (sent != static_cast<ssize_t>(out.size()) || it->second.closing) {
      connections_.erase(it);
    } else {
      out.clear();
    }
  }
}

MonoTime JobSocket::next_deadline() const {
  MonoTime next = kNever;
  for (const auto& [fd, connection] : connections_) {
    if (!connection.speaker) next = std::min(next, connection.opened + kHelloTime);
  }
  return next;
}

void JobSocket::close_all_of(ExecutionId execution) {
  std::erase_if(connections_, [&](const auto& each) { return each.second.speaker == execution; });
}

}  // namespace hodei::worker
