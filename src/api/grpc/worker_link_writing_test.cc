// What the loop has for a worker is written beside the loop, in order; acknowledgements do not wait for it.
#include <latch>

#include "src/api/grpc/server_fixture.h"
#include "src/server/spec_cache.h"
#include "src/store/read_check.h"

namespace hodei::api::worker_link_writing_test {
namespace {

class WorkerLinkWriting : public ServerTest {
 protected:
  WorkerLinkWriting() { store::set_read_check(true); }
};

// Keeps a thread of the writer until the test lets it go.
class HeldStream final : public server::OrderStream {
 public:
  std::vector<server::ToWorker*> take() override {
    entered.count_down();
    let_go.wait();
    return {};
  }
  bool write() override { return false; }
  std::latch entered{1};
  std::latch let_go{1};
};

server::ToWorker order_of(uint64_t job, std::shared_ptr<const core::SpecRow> spec) {
  server::ToWorker message;
  message.run.push_back({{JobId{job}, 1}, 1, std::move(spec), false});
  return message;
}

TEST_F(WorkerLinkWriting, OrdersOfJobsThatWaitedTooLongForTheCacheAreReadBesideTheLoop) {
  constexpr size_t kSpecBytes = 900'000;
  const size_t jobs = server::SpecCache::kMaxBytes / kSpecBytes + 4;
  for (size_t i = 0; i < jobs; ++i) {
    v1::JobSpec spec = a_spec();
    spec.mutable_command()->mutable_shell()->set_cmd(cat("true ", i, std::string(kSpecBytes, ' ')));
    submit(spec);
  }
  WorkerByHand worker(*workers_, "w1");
  for (size_t i = 0; i < jobs; ++i) {
    const v1::RunJob order = worker.order();
    v1::JobSpec spec;
    ASSERT_TRUE(spec.ParseFromString(order.spec()));
    EXPECT_EQ(spec.command().shell().cmd().find(cat("true ", i, " ")), 0u) << order.execution_id();
    worker.result(order.execution_id(), v1::JobResult::Succeeded, 0);
  }
}

TEST_F(WorkerLinkWriting, AStreamWithAnOrderThatCannotBeReadIsClosed) {
  WorkerByHand worker(*workers_, "w1");
  server_->parts().connections.links.send_all(order_of(99, nullptr));
  EXPECT_TRUE(worker.order().execution_id().empty());
  EXPECT_EQ(worker.end().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(worker.end().error_message().find("could not read the job's spec"), std::string::npos);
}

TEST_F(WorkerLinkWriting, HeartbeatsAreAcknowledgedWhileOrdersWaitForTheDisk) {
  WorkerByHand worker(*workers_, "w1");
  std::vector<std::shared_ptr<HeldStream>> held;
  for (size_t i = 0; i < server::OrderWriter::kThreads; ++i) {
    held.push_back(std::make_shared<HeldStream>());
    server_->parts().orders.post(held.back());
    held.back()->entered.wait();
  }
  server_->parts().connections.links.send_all(order_of(1, std::make_shared<core::SpecRow>()));
  EXPECT_TRUE(worker.is_heard());
  EXPECT_TRUE(worker.is_heard());
  EXPECT_TRUE(worker.orders().empty());
  for (const auto& one : held) one->let_go.count_down();
  EXPECT_EQ(worker.order().execution_id(), to_string(ExecutionId{JobId{1}, 1}));
}

TEST_F(WorkerLinkWriting, KeepsTheOrderInWhichTheLoopSent) {
  WorkerByHand worker(*workers_, "w1");
  constexpr uint64_t kOrders = 500;
  const auto spec = std::make_shared<core::SpecRow>();
  for (uint64_t job = 1; job <= kOrders; ++job) server_->parts().connections.links.send_all(order_of(job, spec));
  for (uint64_t job = 1; job <= kOrders; ++job) {
    ASSERT_EQ(worker.order().execution_id(), to_string(ExecutionId{JobId{job}, 1}));
  }
}

}  // namespace
}  // namespace hodei::api::worker_link_writing_test
