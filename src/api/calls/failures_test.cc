#include "src/api/calls/failures.h"

#include "gtest/gtest.h"

namespace hodei::api::failures_test {
namespace {

TEST(Failures, EveryReasonHasAWord) {
  const google::protobuf::EnumDescriptor* reasons = v1::Failure::Reason_descriptor();
  for (int i = 1; i < reasons->value_count(); ++i) {
    EXPECT_EQ(reason_of(reasons->value(i)->name()), reasons->value(i)->number()) << reasons->value(i)->name();
  }
}

TEST(Failures, WhatAPersonCanRepairComesWithASuggestion) {
  for (const char* word :
       {"command_not_found", "permission_denied", "oom", "timeout", "secret_error", "artifact_error"}) {
    EXPECT_FALSE(suggestion_for(word).empty()) << word;
  }
}

TEST(Failures, AWorkerThatFailedIsInfrastructure) {
  for (const char* word : {"worker_lost", "worker_restarted", "lease_expired"}) {
    EXPECT_EQ(reason_of(word), v1::Failure::infrastructure) << word;
  }
}

TEST(Failures, AnUnknownWordOfANewerWorkerIsNoReason) {
  EXPECT_EQ(reason_of("eaten_by_a_dog"), v1::Failure::REASON_UNSPECIFIED);
  EXPECT_TRUE(suggestion_for("eaten_by_a_dog").empty());
}

}  // namespace
}  // namespace hodei::api::failures_test
