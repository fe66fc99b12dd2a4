// The agent process, as the supervisor sees it: it is started, receives messages, and is replaced after its death.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/base/time.h"
#include "src/worker/limits/orphans.h"
#include "src/worker/protocol/channel.h"
#include "src/worker/supervisor/agent_launcher.h"
#include "src/worker/supervisor/state_folder.h"
#include "src/worker/supervisor/supervisor_events.h"

namespace hodei::worker {

class AgentProcess {
 public:
  using Handler = std::function<void(protocol::Message&, Now)>;

  // All outlive it.
  AgentProcess(AgentLauncher& launcher, StateFolder& state, SupervisorEvents& events)
      : launcher_(launcher), state_(state), events_(events) {}
  // Before the first launch. `handler` is given what agents say.
  void open(std::shared_ptr<Orphans> orphans, Handler handler);

  MonoTime launch_due() const;  // kNever: there is one
  bool launch(Now now);         // false: it is tried again later

  bool is_attached() const { return channel_.has_value(); }
  void put(const protocol::Message& message,
           const std::vector<int>& descriptors = {});  // does nothing without an agent
  void hear(Now now);
  void flush(Now now);

  bool reaped(const siginfo_t& info, Now now);  // false: it is another process
  void kill() const;
  bool end(const Clock& clock);  // false: it may live on for a moment

 private:
  void hear_rest(Now now);
  void drop_channel(Now now);
  void is_gone(Now now);

  AgentLauncher& launcher_;
  StateFolder& state_;
  SupervisorEvents& events_;
  std::shared_ptr<Orphans> orphans_;
  Handler handler_;
  std::optional<Channel> channel_;
  bool waits_for_room_ = false;  // in the socket
  pid_t pid_ = 0;
  MonoTime launch_at_{0};
  MonoTime launched_at_{0};
  int quick_deaths_ = 0;
};

}  // namespace hodei::worker
