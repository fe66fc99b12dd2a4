// What every LogStore promises, as one suite: INSTANTIATE_TEST_SUITE_P(Name, LogStoreSuite, values) beside each store.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/store/segments/numbered_log_store.h"

namespace hodei::store {

// A clock that a test moves by hand.
class HandClock final : public Clock {
 public:
  Now now() const override { return {.wall = {wall_us_}, .mono = {wall_us_ - kStart + 1}}; }
  void advance(Duration by) { wall_us_ += by.count(); }

 private:
  static constexpr int64_t kStart = 1'700'000'000'000'000;
  std::atomic<int64_t> wall_us_ = kStart;
};

// A store under test. Forgetting stores have no reopen().
class LogStoreHarness {
 public:
  virtual ~LogStoreHarness() = default;
  virtual NumberedLogStore& store() = 0;
  virtual bool can_reopen() const { return false; }
  virtual void reopen() {}
  // The one that the store stamps its blocks with.
  virtual HandClock& clock() = 0;
};

struct LogStoreKind {
  std::string name;
  std::function<std::unique_ptr<LogStoreHarness>()> make;
};

class LogStoreSuite : public testing::TestWithParam<LogStoreKind> {
 protected:
  LogStoreSuite();
  ~LogStoreSuite() override;

  NumberedLogStore& store() { return harness_->store(); }
  LogStoreHarness& harness() { return *harness_; }

 private:
  std::unique_ptr<LogStoreHarness> harness_;
};

// A piece made of text: one entry per line, the last one partial unless the text ends with a newline.
LogPiece piece_of(ExecutionId execution, int64_t offset, const std::string& text, int64_t time_us = 1'000'000);
// Everything from `from` on, as a reader sees it.
std::string read_all(const LogStore& store, ExecutionId execution, int64_t from = 0, size_t max_bytes = 64 * 1024);

}  // namespace hodei::store
