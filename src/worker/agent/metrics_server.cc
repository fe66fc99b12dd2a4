#include "src/worker/agent/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "src/base/process_figures.h"
#include "src/base/status.h"
#include "src/base/version.h"

namespace hodei::worker {
namespace {

constexpr int kScrapeBacklog = 16;
constexpr const char* kOutcomes[] = {"", "succeeded", "failed", "cancelled", "timed_out", "lost", "interrupted"};
static_assert(std::size(kOutcomes) == kOutcomeCount);

void add(std::string& out, const char* name, const char* type, const char* help, double value) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

std::string response(const char* status, const std::string& body) {
  return cat("HTTP/1.1 ", status,
             "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: ", body.size(),
             "\r\nConnection: close\r\n\r\n", body);
}

// Names are not looked up: in a static binary that would need libraries that are not there.
std::optional<sockaddr_storage> numeric_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  uint16_t port = 0;
  if (colon == std::string::npos) return std::nullopt;
  const auto [end, bad] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (bad != std::errc() || end != text.data() + text.size()) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  sockaddr_storage out{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return out;
  }
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1) return std::nullopt;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(port);
  return out;
}

absl::Status cannot_listen(const std::string& address, const char* why) {
  return absl::UnavailableError(
      cat("metrics_listen: cannot listen on ", address, " (", why,
          "); choose another with --metrics-listen or HODEI_METRICS_LISTEN; continuing without metrics"));
}

}  // namespace

std::string metrics_text(const AgentFigures& f, Now now) {
  std::string out;
  const auto counter = [&out](const char* name, const char* help, double value) {
    add(out, name, "counter", help, value);
  };
  const auto gauge = [&out](const char* name, const char* help, double value) { add(out, name, "gauge", help, value); };
  gauge("hodei_worker_online", "1 while the stream to the server is open.", f.online ? 1 : 0);
  gauge("hodei_worker_executions_active", "Executions that this worker holds.", static_cast<double>(f.active));
  counter("hodei_worker_executions_started_total", "Executions started since this agent started.",
          static_cast<double>(f.started));
  out +=
      "# HELP hodei_worker_executions_ended_total Executions ended since this agent started, by outcome.\n"
      "# TYPE hodei_worker_executions_ended_total counter\n";
  for (size_t i = 1; i < std::size(kOutcomes); ++i) {
    out += fmt::format("hodei_worker_executions_ended_total{{outcome=\"{}\"}} {}\n", kOutcomes[i], f.ended[i].load());
  }
  counter("hodei_worker_log_sent_bytes_total", "Output sent to the server, including repetitions.",
          static_cast<double>(f.log_sent_bytes));
  counter("hodei_worker_log_dropped_bytes_total", "Output dropped: policy drop, or over a limit.",
          static_cast<double>(f.log_dropped_bytes));
  const int64_t acked = f.heartbeat_acked_us;
  const double age = acked == 0 ? 0 : static_cast<double>(now.mono.us - acked) / 1e6;
  gauge("hodei_worker_heartbeat_age_seconds", "Time since the server last acknowledged a heartbeat; 0: never yet.",
        age);
  gauge("hodei_worker_cpu_load_ratio", "CPU load of the machine, 0 to 1.", f.cpu_load);
  gauge("hodei_worker_memory_used_bytes", "Memory of the machine in use.", static_cast<double>(f.memory_used_bytes));
  out += fmt::format(
      "# HELP hodei_worker_build_info Always 1; the version is in the label.\n# TYPE hodei_worker_build_info gauge\n"
      "hodei_worker_build_info{{version=\"{}\"}} 1\n",
      kVersion);
  const ProcessFigures p = read_process_figures();
  counter("process_cpu_seconds_total", "User and system time of the agent.", p.cpu_seconds);
  gauge("process_resident_memory_bytes", "Resident memory of the agent.", static_cast<double>(p.resident_bytes));
  gauge("process_virtual_memory_bytes", "Virtual memory of the agent.", static_cast<double>(p.virtual_bytes));
  gauge("process_open_fds", "Open file descriptors of the agent.", static_cast<double>(p.open_fds));
  gauge("process_max_fds", "File descriptors that the agent may open.", static_cast<double>(p.max_fds));
  gauge("process_start_time_seconds", "When the agent started, in seconds since 1970.", p.start_seconds);
  return out;
}

std::string answer_to(std::string_view request, const AgentFigures& figures, Now now) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  if (!line.ends_with(" HTTP/1.1") && !line.ends_with(" HTTP/1.0"))
    return response("400 Bad Request", "this is not HTTP/1.1\n");
  if (!line.starts_with("GET ")) return response("405 Method Not Allowed", "only GET is supported\n");
  const std::string_view target = line.substr(4, line.rfind(' ') - 4);
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/metrics") return response("200 OK", metrics_text(figures, now));
  if (path == "/healthz") return response("200 OK", "ok\n");
  return response("404 Not Found", "not found; try /metrics\n");
}

absl::Status MetricsServer::start(const std::string& address) {
  const std::optional<sockaddr_storage> where = numeric_address(address);
  if (!where) return cannot_listen(address, "not a numeric address with a port, such as 127.0.0.1:9100 or [::]:9100");
  listener_ = Fd(socket(where->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const socklen_t size = where->ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  const bool listens = bind(listener_.get(), reinterpret_cast<const sockaddr*>(&*where), size) == 0 &&
                       listen(listener_.get(), kScrapeBacklog) == 0;
  if (!listens) return cannot_listen(address, strerror(errno));
  stop_ = Fd(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { run(); });
  return absl::OkStatus();
}

void MetricsServer::stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

int MetricsServer::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  // The port stands at the same place for both kinds of address.
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

bool MetricsServer::ready(int fd, short events, MonoTime limit) {
  pollfd both[] = {{fd, events, 0}, {stop_.get(), POLLIN, 0}};
  while (true) {
    const int64_t left = limit == kNever ? -1 : std::max<int64_t>((limit - clock_.now().mono).count() / 1000, 0);
    const int count = poll(both, 2, static_cast<int>(left));
    if (count < 0 && errno == EINTR) continue;
    return count > 0 && both[1].revents == 0;
  }
}

void MetricsServer::run() {
  while (ready(listener_.get(), POLLIN, kNever)) {
    const Fd caller(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (caller.is_open()) serve(caller.get());
  }
}

void MetricsServer::serve(int caller) {
  const MonoTime limit = clock_.now().mono + kCallerLimit;
  std::string request;
  char bytes[1024];
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < kMaxRequest) {
    if (!ready(caller, POLLIN, limit)) return;
    const ssize_t got = recv(caller, bytes, sizeof(bytes), 0);
    if (got <= 0) return;
    request.append(bytes, static_cast<size_t>(got));
  }
  const std::string answer = answer_to(request, figures_, clock_.now());
  for (size_t sent = 0; sent < answer.size();) {
    if (!ready(caller, POLLOUT, limit)) return;
    const ssize_t wrote = send(caller, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (wrote <= 0) return;
    sent += static_cast<size_t>(wrote);
  }
  shutdown(caller, SHUT_WR);
}

}  // namespace hodei::worker
