#include "src/api/grpc/status.h"

#include "gtest/gtest.h"

namespace hodei::api::status_test {
namespace {

TEST(Status, KeepsItsCodeAndText) {
  const grpc::Status status = to_grpc(absl::FailedPreconditionError("not now"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "not now");
  EXPECT_TRUE(to_grpc(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace hodei::api::status_test
