// What every store must do, whatever it is made of. A backend takes part by instantiating the suite in its own test:
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, testing::Values(Backend{...}), backend_name);
// The cases are in commit_suite_test.cc, load_suite_test.cc and reader_suite_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/store/conformance/samples.h"
#include "src/store/conformance/write_text.h"
#include "src/store/store.h"

namespace hodei::store {

class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual Store& store() = 0;
  virtual Reader& reader() = 0;
  virtual void reopen() = 0;  // as after a restart of the server
};

struct Backend {
  std::string name;
  std::function<std::unique_ptr<StoreUnderTest>()> make;
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

class StoreSuite : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    under_test_ = GetParam().make();
    epoch_ = store().new_epoch().value();
  }

  Store& store() { return under_test_->store(); }
  Reader& reader() { return under_test_->reader(); }

  uint64_t last_batch() { return static_cast<uint64_t>(store().last_batch().value()); }

  absl::Status commit(const core::Writes& writes) { return store().commit(writes, epoch_, BatchNo{last_batch() + 1}); }

  void reopen() {
    under_test_->reopen();
    epoch_ = store().new_epoch().value();
  }

  std::vector<std::string> loaded() { return load_text(store()); }

  std::vector<uint64_t> listed(const JobQuery& query) {
    std::vector<uint64_t> out;
    const auto found = reader().jobs(query);
    EXPECT_TRUE(found.ok()) << found.status();
    for (const JobView& view : found->jobs) out.push_back(number(view.head.id));
    return out;
  }

  Epoch epoch_{};

 private:
  std::unique_ptr<StoreUnderTest> under_test_;
};

}  // namespace hodei::store
