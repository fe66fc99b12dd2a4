#include "src/core/jobs/job_request.h"

#include "gtest/gtest.h"

namespace hodei::core::job_request_test {
namespace {

TEST(JobRequest, IsReadAsItWasWritten) {
  const JobRequest request{"team", "build", "bytes", {{"target", "all"}, {"mode", ""}}, "run 7"};
  EXPECT_EQ(decode_job_request(encode(request)).value(), request);
  EXPECT_EQ(decode_job_request(encode(JobRequest{})).value(), JobRequest{});
}

TEST(JobRequest, OtherBytesAreRefused) {
  const std::string bytes = encode(JobRequest{"team", "build", "bytes", {{"target", "all"}}, ""});
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(decode_job_request(bytes.substr(0, cut)).status().code(), absl::StatusCode::kDataLoss) << cut;
  }
}

}  // namespace
}  // namespace hodei::core::job_request_test
