// Jobs, workers and whole random histories for tests of stores.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/writes.h"
#include "src/store/conformance/row_samples.h"

namespace hodei::store {

core::ShapePtr a_shape(std::string_view pool);
core::JobHead a_job(uint64_t number);  // Pending, nothing has happened
std::shared_ptr<const core::SpecRow> a_spec(const core::JobHead& job, std::string_view name = "a job");
core::WorkerRecordPtr a_worker(std::string_view id);

// The next state of a job, as the engine would write it: history and execution kept up.
core::JobHead dispatched(core::JobHead job, std::string_view worker);
core::JobHead moved(core::JobHead job, core::JobState to, std::string_view reason = "");

// What happened so far is archived, as before the engine's next dispatch.
void archive(core::JobHead& job, core::Writes& out);

// A new job: its spec and its head.
core::Writes entering(const core::JobHead& job, std::string_view name = "a job");
core::Write live(core::JobHead job);
core::Write finished(core::JobHead job);

// Batches of every kind of write about a small world, valid one after another. Same seed: same batches.
class RandomHistory {
 public:
  explicit RandomHistory(uint64_t seed) : values_(seed) {}
  core::Writes next_batch();

 private:
  uint64_t pick(uint64_t below) { return values_.pick(below); }
  std::string some_text() { return values_.text(); }
  void submit(core::Writes& out);
  void move_a_job(core::Writes& out);
  void change_a_row(core::Writes& out);
  template <class Row>
  core::Write a_change();
  void change_something_else(core::Writes& out);

  SampleValues values_;
  uint64_t next_job_ = 1;
  uint64_t next_number_ = 1;  // of rows that are written once
  int64_t clock_us_ = 1'700'000'000'000'000;
  std::map<uint64_t, core::JobHead> live_;
  std::vector<JobId> ended_;
};

}  // namespace hodei::store
