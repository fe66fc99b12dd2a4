#include "src/worker/reports/report_connections.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "src/base/text.h"

namespace hodei::worker {

void ReportConnections::open() { epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC)); }

bool ReportConnections::watch(int fd, ReportConnection& connection) const {
  if (connection.watched) return true;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  connection.watched = epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  return connection.watched;
}

void ReportConnections::unwatch(int fd, ReportConnection& connection) const {
  if (std::exchange(connection.watched, false)) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

ReportConnection* ReportConnections::add(Fd fd, MonoTime now) {
  make_room_for_stranger();
  ucred peer{};
  socklen_t size = sizeof(peer);
  getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  const int number = fd.get();
  ReportConnection& connection = connections_[number];
  connection = {.fd = std::move(fd), .peer = peer.pid, .opened = now};
  if (watch(number, connection)) return &connection;
  connections_.erase(number);
  return nullptr;
}

ReportConnection* ReportConnections::find(int fd) {
  const auto it = connections_.find(fd);
  return it == connections_.end() ? nullptr : &it->second;
}

void ReportConnections::erase_all_of(ExecutionId execution) {
  std::erase_if(connections_, [&](const auto& each) { return each.second.speaker == execution; });
}

void ReportConnections::erase_strangers(MonoTime opened_before) {
  std::erase_if(connections_, [&](const auto& each) {
    return !each.second.speaker && !each.second.closing && each.second.opened <= opened_before;
  });
}

// Of the process that has the most of them the oldest goes: one that opens many does not shut out others.
void ReportConnections::make_room_for_stranger() {
  std::map<pid_t, int> count;
  size_t strangers = 0;
  for (const auto& [fd, each] : connections_) {
    if (each.speaker) continue;
    ++count[each.peer];
    ++strangers;
  }
  if (strangers < kMaxStrangers) return;
  int victim = -1;
  for (const auto& [fd, each] : connections_) {
    if (each.speaker) continue;
    const ReportConnection* other = victim < 0 ? nullptr : &connections_.at(victim);
    const bool is_worse = other == nullptr || count[each.peer] > count[other->peer] ||
                          (count[each.peer] == count[other->peer] && each.opened < other->opened);
    if (is_worse) victim = fd;
  }
  if (victim >= 0) send_away(victim, "too many connections without a hello");
}

// Of the execution that has the most connections one that is not being answered goes, unless this one has as many.
bool ReportConnections::make_room_for(ExecutionId execution) {
  std::map<ExecutionId, size_t> count;
  size_t all = 0;
  for (const auto& [fd, each] : connections_) {
    if (!each.speaker) continue;
    ++count[*each.speaker];
    ++all;
  }
  if (all < kMaxConnections) return true;
  int victim = -1;
  for (const auto& [fd, each] : connections_) {
    if (!each.speaker || !each.out.empty() || count[*each.speaker] <= count[execution] + 1) continue;
    if (victim < 0 || count[*each.speaker] > count[*connections_.at(victim).speaker]) victim = fd;
  }
  if (victim < 0) return false;
  send_away(victim, "closed to make room for other jobs");
  return true;
}

void ReportConnections::send_away(int fd, std::string_view why) {
  const std::string answer = cat("error ", kBusy, why, "\n");
  ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  connections_.erase(fd);
}

size_t ReportConnections::count_of(ExecutionId execution) const {
  const auto of_it = [&](const auto& each) { return each.second.speaker == execution; };
  return static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(), of_it));
}

}  // namespace hodei::worker
