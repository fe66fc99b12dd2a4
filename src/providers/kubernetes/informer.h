// Our pods, as the cluster reports them: one list, then a watch that continues where it broke off. It runs on its own
// thread between start() and stop().
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "src/providers/kubernetes/pods.h"

namespace hodei::providers::kubernetes {

class Informer {
 public:
  Informer(Pods& pods, std::string selector) : pods_(pods), selector_(std::move(selector)) {}
  ~Informer() { stop(); }

  // `changed` is called without any lock held. One that runs already is stopped first.
  void start(Provider::Changed changed);
  void stop();

  // What is known of this pod; nothing while there is no live watch, or when it is not known: ask the API server then.
  std::optional<PodView> find(const std::string& name) const;

  // It was seen to be gone: events about it that are still on their way do not bring it back.
  void forget(const PodView& pod);

 private:
  void run(const std::stop_token& stop, const Provider::Changed& changed);
  absl::Status list_and_watch(const std::stop_token& stop, const Provider::Changed& changed, std::string& version);
  std::vector<std::string> replace_all(const PodList& list);  // the workers that changed
  bool apply(const PodEvent& event);                          // whether its worker changed
  bool is_forgotten(const std::string& uid) const;
  void set_live(bool live);

  Pods& pods_;
  const std::string selector_;

  mutable std::mutex mutex_;
  std::map<std::string, PodView> known_;  // by name
  std::deque<std::string> forgotten_;     // UIDs, the oldest first
  bool live_ = false;

  std::mutex lifecycle_;
  std::jthread thread_;
};

}  // namespace hodei::providers::kubernetes
