// Who wants to know when jobs move. Watchers are called on the loop's thread after the commit and must not block: they
// put the event into a bounded queue of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "src/core/jobs/job.h"

namespace hodei::server {

struct JobEvent {
  core::JobPtr job;
  size_t first_transition = 0;  // new ones from here on; 0 counts the submission
  bool progress = false;        // only its progress changed
};

class EventHub {
 public:
  using Watcher = std::function<void(const std::shared_ptr<const JobEvent>&)>;

  uint64_t watch_job(JobId job, Watcher watcher);
  uint64_t watch_all(Watcher watcher);
  void unwatch(uint64_t id);  // no call comes after it has returned

  void publish(JobEvent event);

 private:
  struct Entry {
    JobId job{};  // 0: all
    Watcher watcher;
  };
  std::mutex mutex_;  // held while watchers are called, so that unwatch is final
  uint64_t next_ = 1;
  std::map<uint64_t, Entry> entries_;
  std::multimap<JobId, uint64_t> by_job_;
};

}  // namespace hodei::server
