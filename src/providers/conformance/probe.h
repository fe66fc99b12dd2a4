// One check of the conformance suite: the provider it tests, the workers it has created, and the faults it has found.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/text.h"
#include "src/providers/conformance/suite.h"

namespace hodei::providers {

class Probe {
 public:
  Probe(const SuiteSetup& setup, std::string check, int number);

  const SuiteSetup& setup() const { return setup_; }
  // The provider under test; null when it cannot be made, which is a finding.
  Provider* provider() { return provider_.get(); }
  // As after a restart of the server: the old object is gone, a new one is made.
  void restart();
  std::unique_ptr<Provider> make(const Installation& installation);

  // The spec of the n-th worker of this check, which is destroyed at its end. Not from several threads.
  WorkerSpec spec(int n = 1);
  // Makes it; a refusal is a finding.
  std::optional<WorkerHandle> create(const WorkerSpec& spec);
  // Until it says so or patience ends; anything but Starting on the way to Running is a finding.
  bool runs(const WorkerHandle& handle);
  bool reaches(const WorkerHandle& handle, std::set<WorkerPhase> wanted);
  std::optional<WorkerStatus> status(const WorkerHandle& handle);
  std::vector<OwnedWorker> list();
  bool destroy(const WorkerHandle& handle);
  // What list_workers says, and what the look from outside says, about one worker id.
  void expect_listed(const std::string& worker_id, const std::string& when);
  void expect_nothing_of(const std::string& worker_id, const std::string& when);

  template <class... Parts>
  void wrong(const Parts&... parts) {
    const std::scoped_lock lock(mutex_);
    findings_.push_back({check_, cat(parts...)});
  }
  // Whoever reads it must not have learned the token.
  void expect_no_token(const std::string& text, const std::string& where);

  // Destroys what the check has made and looks whether anything is left.
  std::vector<Finding> finish();

 private:
  bool outside_shows(const std::string& worker_id);

  const SuiteSetup& setup_;
  const std::string check_;
  const int number_;
  std::unique_ptr<Provider> provider_;
  std::set<std::string> made_;
  std::mutex mutex_;  // of what follows: some checks use several threads
  std::vector<Finding> findings_;
};

std::string_view name(WorkerPhase phase);

}  // namespace hodei::providers
