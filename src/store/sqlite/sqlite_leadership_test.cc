#include "src/store/sqlite/sqlite_leadership.h"

#include <map>

#include "src/base/status.h"
#include "src/store/conformance/leadership_suite.h"
#include "src/store/sqlite/test_folder.h"

namespace hodei::store::sqlite_leadership_test {
namespace {

// Servers on one data folder: each opens the store, which takes the lock, and then campaigns.
class SqliteLeadershipUnderTest final : public LeadershipUnderTest {
 public:
  absl::StatusOr<Leadership*> join(int server) override {
    Started& one = servers_[server];
    if (one.store == nullptr) {
      ASSIGN_OR_RETURN(one.store, SqliteStore::open({.data_dir = folder_.path()}));
      one.leadership = std::make_unique<SqliteLeadership>(*one.store);
    }
    return one.leadership.get();
  }
  void kill(int server) override { servers_.erase(server); }
  absl::Status commit(int server, Epoch epoch) override {
    SqliteStore& store = *servers_[server].store;
    return store.commit({}, epoch, BatchNo{static_cast<uint64_t>(store.last_batch().value()) + 1});
  }
  void raise_epoch(int server) override { ASSERT_TRUE(servers_[server].store->new_epoch().ok()); }
  MonoTime now() override { return {}; }
  void delay_next_call(Duration) override {}
  void lose_next_call(int) override {}

 private:
  struct Started {
    std::unique_ptr<SqliteStore> store;
    std::unique_ptr<SqliteLeadership> leadership;
  };
  TestFolder folder_;
  std::map<int, Started> servers_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, LeadershipSuite,
                         testing::Values(LeadershipBackend{
                             "Sqlite", [] { return std::make_unique<SqliteLeadershipUnderTest>(); }}),
                         leadership_name);

}  // namespace
}  // namespace hodei::store::sqlite_leadership_test
