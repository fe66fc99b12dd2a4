#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/system/top_view.h"

namespace hodei::cli::top_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TopData some_data() {
  TopData data;
  data.queue.set_workers(2);
  data.queue.set_workers_available(1);
  data.queue.set_slots(8);
  data.queue.set_slots_free(5);
  data.queue.set_pending(12);
  v1::Worker& worker = *data.workers.add_workers();
  worker.mutable_info()->set_id("w1");
  worker.mutable_info()->set_slots(8);
  worker.set_state(v1::Worker::Busy);
  worker.set_cpu_load(0.25);
  v1::Job& job = *data.jobs.add_jobs();
  job.set_short_id("j7");
  job.set_name("bad\x1b[2J\u009b2Jname");
  job.set_state(v1::Job::Running);
  job.set_worker_id("w1");
  return data;
}

TEST(TopPage, ShowsWorkersAndJobs) {
  const std::string page = top_page(some_data(), {});
  for (const char* word :
       {"1 of 2 workers available", "3 of 8 slots", "12 pending", "w1", "Busy", "25 %", "j7", "Running"}) {
    EXPECT_THAT(page, HasSubstr(word));
  }
}

TEST(TopPage, PrefersLiveSamples) {
  TopData data = some_data();
  data.of_workers["w1"].set_cpu(0.75);
  data.of_workers["w1"].set_network_rx_bytes_per_second(2048);
  data.of_jobs["j7"].set_cpu(1.5);
  const std::string page = top_page(data, {});
  for (const char* word : {"75 %", "2 KiB/s", "1.50"}) EXPECT_THAT(page, HasSubstr(word));
  EXPECT_THAT(page, Not(HasSubstr("25 %")));
}

TEST(TopPage, LetsNoNameMoveTheCursor) {
  EXPECT_THAT(top_page(some_data(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(top_page(some_data(), {}), Not(HasSubstr("\u009b")));
}

TEST(TopPage, SaysWhenNothingRuns) { EXPECT_THAT(top_page({}, {}), HasSubstr("nothing is running")); }

}  // namespace
}  // namespace hodei::cli::top_test
