#include "src/worker/agent/program_builder.h"

#include "gtest/gtest.h"
#include "hodei/v1/job.pb.h"
#include "src/base/odd_numbers.h"

namespace hodei::worker::program_builder_test {
namespace {

// A server that checked nothing, or a worker that is newer than its server: the worker still has to start something.
TEST(ProgramBuilder, LimitsAreNumbersWhateverTheOrderSays) {
  std::vector<double> odd = no_amounts();
  for (const double tiny : tiny_amounts()) odd.push_back(tiny);
  for (const double cores : odd) {
    v1::JobSpec spec;
    spec.mutable_command()->mutable_shell()->set_cmd("true");
    spec.mutable_resources()->set_cpu_cores(cores);
    spec.mutable_resources()->set_memory_mb(INT64_MAX);
    spec.mutable_resources()->set_storage_mb(INT64_MIN);
    const Program program = build_program({.execution = {JobId{5}, 1}, .spec = spec.SerializeAsString()});
    EXPECT_TRUE(program.impossible.empty()) << program.impossible;
    EXPECT_TRUE(program.limits.cpu_milli >= 0 && program.limits.cpu_milli <= 1'000'000'000) << cores;
    EXPECT_GE(program.limits.memory_bytes, 0);
    EXPECT_EQ(program.limits.disk_bytes, 0);
  }
}

}  // namespace
}  // namespace hodei::worker::program_builder_test
