#include "src/api/wiring/spec_preparer.h"

#include <future>

#include "gtest/gtest.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/jobs/job_request.h"
#include "src/spec/templates.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::spec_preparer_test {
namespace {

constexpr core::Owner kOwner{core::OwnerModule{7}, 12};

class SpecPreparerTest : public testing::Test {
 protected:
  void SetUp() override {
    v1::Template build;
    build.set_name("build");
    build.add_parameters()->set_name("target");
    build.mutable_spec()->mutable_command()->mutable_shell()->set_cmd("make ${target}");
    const core::TemplateRow row = spec::template_row(build, "team").value();
    ASSERT_TRUE(store_.commit({core::Put<core::TemplateRow>{row}}, *store_.new_epoch(), store::BatchNo{1}).ok());
    pool_.start();
  }
  void TearDown() override { pool_.stop(); }

  // What the loop is told.
  core::SubmitFor prepared(const std::string& bytes) {
    std::promise<core::SubmitFor> told;
    SpecPreparer preparer(store_, pool_, [&told](core::Command command) {
      told.set_value(std::get<core::SubmitFor>(std::move(command)));
    });
    preparer.prepare({kOwner, 3, bytes});
    return told.get_future().get();
  }

  store::MemoryStore store_;
  server::ReadPool pool_{"reads", {}};
};

TEST_F(SpecPreparerTest, HandsTheLoopTheJobThatAModuleWants) {
  const core::SubmitFor command = prepared(encode(core::JobRequest{"team", "build", "", {{"target", "all"}}, "run 7"}));
  EXPECT_EQ(command.owner, kOwner);
  EXPECT_EQ(command.attempt, 3u);
  const auto& job = std::get<core::NewJob>(command.job);
  EXPECT_EQ(job.spec->correlation_id, "run 7");
  v1::JobSpec stored;
  ASSERT_TRUE(stored.ParseFromString(job.spec->bytes));
  EXPECT_EQ(stored.command().shell().cmd(), "make all");
}

TEST_F(SpecPreparerTest, AnswersWithTheReasonWhenThereIsNoJobToMake) {
  const core::SubmitFor missing = prepared(encode(core::JobRequest{.ns = "other", .template_name = "build"}));
  EXPECT_EQ(std::get<absl::Status>(missing.job).code(), absl::StatusCode::kNotFound);
  const core::SubmitFor empty = prepared(encode(core::JobRequest{.ns = "team"}));
  EXPECT_EQ(std::get<absl::Status>(empty.job).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::get<absl::Status>(prepared("\xff").job).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace hodei::api::spec_preparer_test
