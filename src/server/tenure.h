// The store under the term of this server. Everything that the loop loads and commits, it loads and commits here, under
// one epoch: after a commit that failed, memory is loaded again under the same one. If the store belongs to another by
// then, this server is deposed for good.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "src/base/time.h"
#include "src/core/engine.h"
#include "src/server/held_term.h"
#include "src/store/leadership.h"
#include "src/store/store.h"

namespace hodei::server {

class Tenure {
 public:
  Tenure(store::Store& store, store::Leadership& leadership, const Clock& clock, core::EngineConfig config)
      : store_(store), term_(leadership, clock), clock_(clock), config_(config) {}

  // Before begin(). Without it, stored things grow old by the wall clock at the start.
  void set_retention_clock(const Clock* clock) { retention_clock_ = clock; }
  // Before begin(): where others reach this server.
  void set_address(std::string address) { address_ = std::move(address); }

  absl::Status begin() { return term_.begin(address_); }
  // Everything that is stored, as an engine. Renews the term first, so nothing is loaded under a lost one.
  absl::StatusOr<std::unique_ptr<core::Engine>> load();
  // OK: durable. What a commit with an unknown outcome has for others is kept until the next load().
  absl::Status commit(const core::Turn& turn);
  // For a turn that has nothing to commit: no store refuses it, so the term itself must be valid.
  absl::Status check_term() const;
  // What those who follow jobs have missed: of a commit that seemed to fail and was found applied by load(). Once.
  core::Turn take_missed() { return std::exchange(missed_, {}); }

  HeldTerm& term() { return term_; }
  const HeldTerm& term() const { return term_; }
  store::Epoch epoch() const { return term_.epoch(); }
  uint64_t commits() const { return commits_; }

 private:
  store::Store& store_;
  HeldTerm term_;
  const Clock& clock_;
  const core::EngineConfig config_;
  const Clock* retention_clock_ = nullptr;
  std::string address_;
  uint64_t batch_ = 0;
  uint64_t commits_ = 0;
  core::Turn unsettled_;  // the next batch, which may have been applied; without writes: there is none
  core::Turn missed_;
};

}  // namespace hodei::server
