// The connections of jobs to $HODEI_SOCKET: which exist, which execution each belongs to, and which is closed when
// there are too many.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

// An error that begins with this is worth another try.
inline constexpr std::string_view kBusy = "busy: ";

struct ReportConnection {
  Fd fd;
  std::string in, out;
  std::optional<ExecutionId> speaker;
  pid_t peer = 0;  // who connected
  MonoTime opened;
  MonoTime waits_until = kNever;  // its budget is used up, or this look had no room for it
  bool watched = false;
  bool closing = false;  // once it is answered
};

class ReportConnections {
 public:
  static constexpr size_t kMaxConnections = 256;  // that have said hello
  static constexpr size_t kMaxStrangers = 64;     // that have not

  using Map = std::map<int, ReportConnection>;  // by descriptor

  void open();
  int epoll() const { return epoll_.get(); }
  bool watch(int fd, ReportConnection& connection) const;
  void unwatch(int fd, ReportConnection& connection) const;

  // A newcomer; null: it cannot be watched. Strangers give way to it.
  ReportConnection* add(Fd fd, MonoTime now);
  ReportConnection* find(int fd);
  void erase(int fd) { connections_.erase(fd); }
  void erase_all_of(ExecutionId execution);
  void erase_strangers(MonoTime opened_before);

  // For one more of this execution; false: there is none.
  bool make_room_for(ExecutionId execution);
  size_t count_of(ExecutionId execution) const;
  const Map& all() const { return connections_; }

 private:
  void make_room_for_stranger();
  void send_away(int fd, std::string_view why);

  Fd epoll_;
  Map connections_;
};

}  // namespace hodei::worker
