#include "src/store/memory/memory_leadership.h"

#include <map>

#include "src/store/conformance/leadership_suite.h"
#include "src/store/memory/memory_store.h"

namespace hodei::store::memory_leadership_test {
namespace {

constexpr Duration kLease = 10s;

class MovedClock final : public Clock {
 public:
  Now now() const override { return {{}, at}; }
  MonoTime at{1'000'000'000};
};

class MemoryLeadershipUnderTest final : public LeadershipUnderTest {
 public:
  absl::StatusOr<Leadership*> join(int server) override {
    std::unique_ptr<MemoryLeadership>& one = servers_[server];
    if (one == nullptr) {
      one = std::make_unique<MemoryLeadership>(lease_, store_, clock_,
                                               MemoryLeadership::Options{kLease, [this] { return travel(); }});
    }
    return one.get();
  }
  void kill(int) override { clock_.at = clock_.at + kLease; }
  absl::Status commit(int, Epoch epoch) override {
    return store_.commit({}, epoch, BatchNo{static_cast<uint64_t>(store_.last_batch().value()) + 1});
  }
  void raise_epoch(int) override { ASSERT_TRUE(store_.new_epoch().ok()); }
  MonoTime now() override { return clock_.at; }
  void delay_next_call(Duration by) override { delay_ = by; }
  void lose_next_call(int) override { lose_ = true; }

 private:
  absl::Status travel() {
    clock_.at = clock_.at + std::exchange(delay_, Duration(0));
    return std::exchange(lose_, false) ? absl::UnavailableError("lost on the way") : absl::OkStatus();
  }

  MovedClock clock_;
  MemoryStore store_;
  MemoryLease lease_;
  std::map<int, std::unique_ptr<MemoryLeadership>> servers_;
  Duration delay_{0};
  bool lose_ = false;
};

INSTANTIATE_TEST_SUITE_P(Memory, LeadershipSuite,
                         testing::Values(LeadershipBackend{
                             "Memory", [] { return std::make_unique<MemoryLeadershipUnderTest>(); }, kLease}),
                         leadership_name);

}  // namespace
}  // namespace hodei::store::memory_leadership_test
