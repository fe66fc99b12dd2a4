// Listens to the engine's events on its own thread, and reports which worker each event concerns. After a lost
// connection any worker may have changed, so it reports all known workers.
#pragma once

#include <functional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "src/providers/docker/engine.h"

namespace hodei::providers::docker {

class EventWatch {
 public:
  using Changed = std::function<void(const std::string& worker_id)>;

  EventWatch(Engine& engine, StringMap labels) : engine_(engine), labels_(std::move(labels)) {}
  ~EventWatch() { stop(); }

  void start(Changed changed);
  // Returns when no call is under way.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void tell_all();

  Engine& engine_;
  StringMap labels_;
  Changed changed_;
  std::set<std::string> known_;  // of the thread
  std::jthread thread_;
};

}  // namespace hodei::providers::docker
