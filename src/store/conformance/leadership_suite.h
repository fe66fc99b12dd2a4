// What every kind of leadership must do. A backend takes part by instantiating the suite in its own test, as for stores
// (store_suite.h). The cases are in leadership_suite_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "src/store/leadership.h"

namespace hodei::store {

// Servers that want to lead the same store. They are numbered.
class LeadershipUnderTest {
 public:
  virtual ~LeadershipUnderTest() = default;
  // The server starts, if it does not run. An error means that it cannot even open the store.
  virtual absl::StatusOr<Leadership*> join(int server) = 0;
  // It dies without resigning, and so much time passes that everybody knows.
  virtual void kill(int server) = 0;
  // A commit of that server, of nothing, under this epoch.
  virtual absl::Status commit(int server, Epoch epoch) = 0;
  // The epoch in the store grows, whoever did it, and the leader was not asked.
  virtual void raise_epoch(int server) = 0;
  virtual MonoTime now() = 0;
  // The next call takes so long until it arrives.
  virtual void delay_next_call(Duration by) = 0;
  // The next call of this server does not arrive.
  virtual void lose_next_call(int server) = 0;
};

struct LeadershipBackend {
  std::string name;
  std::function<std::unique_ptr<LeadershipUnderTest>()> make;
  Duration lease{0};  // 0: terms are valid as long as a lock is held, and no call can be lost
};

inline std::string leadership_name(const testing::TestParamInfo<LeadershipBackend>& info) { return info.param.name; }
inline void PrintTo(const LeadershipBackend& backend, std::ostream* out) { *out << backend.name; }

class LeadershipSuite : public testing::TestWithParam<LeadershipBackend> {
 protected:
  void SetUp() override { under_test_ = GetParam().make(); }

  LeadershipUnderTest& under_test() { return *under_test_; }
  bool has_lease() const { return GetParam().lease > Duration(0); }
  Leadership& of(int server) { return **under_test_->join(server); }
  absl::StatusOr<Term> campaign(int server) {
    const absl::StatusOr<Leadership*> leadership = under_test_->join(server);
    if (!leadership.ok()) return leadership.status();
    return (*leadership)->campaign("server-" + std::to_string(server) + ":7310");
  }

 private:
  std::unique_ptr<LeadershipUnderTest> under_test_;
};

}  // namespace hodei::store
