// Lets finished jobs go when they are too old or too many. It looks at the store on a connection of its own and has the
// loop delete a few at a time, so that nobody waits for it and a server that does not lead deletes nothing.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "src/base/time.h"
#include "src/server/loop_core.h"
#include "src/server/retention_clock.h"
#include "src/store/store.h"

namespace hodei::server {

struct JobRetention {
  Duration max_age = std::chrono::hours(24 * 90);  // since its end; 0: for ever
  int64_t max_jobs = 1'000'000;                    // finished ones of one namespace; 0: any number
};

class JobSweeper {
 public:
  static constexpr Duration kEvery = 60s;
  // After a start, when the wall clock may not have been set yet.
  static constexpr Duration kGrace = std::chrono::minutes(10);
  // Of all finished jobs, what one sweep lets go for their age: one in this many, and a few always. A clock that was
  // wrong when the data folder was made does harm slowly.
  static constexpr int64_t kShareByAge = 100;
  static constexpr int64_t kAlwaysByAge = 10;
  static constexpr int64_t kMostByCount = 100'000;
  // Rows that one sweep looks at for their age.
  static constexpr size_t kLooks = 50'000;

  using Forget = std::function<void(core::ForgetJobs, ReplyTo)>;

  JobSweeper(store::Reader& reader, Forget forget, const RetentionClock& clock, JobRetention retention)
      : reader_(reader), forget_(std::move(forget)), clock_(clock), retention_(retention) {}
  ~JobSweeper() { stop(); }

  void start();
  void stop();

  // One sweep; returns how many jobs went. For the sweeper's thread and for tests.
  absl::StatusOr<int64_t> sweep();

 private:
  void run();
  absl::StatusOr<int64_t> sweep_by_age(int64_t finished);
  absl::StatusOr<int64_t> sweep_by_count(const std::string& ns, int64_t too_many);
  absl::Status let_go(const std::vector<store::FinishedJob>& jobs);
  bool is_stopping();

  store::Reader& reader_;
  const Forget forget_;
  const RetentionClock& clock_;  // by its wall time jobs grow old
  const JobRetention retention_;
  MonoTime started_{};
  uint64_t sweeps_ = 0;
  JobId walked_{};  // how far the walk through all finished jobs has come
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hodei::server
