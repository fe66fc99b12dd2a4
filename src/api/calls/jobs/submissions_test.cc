#include "src/api/calls/jobs/submissions.h"

#include "gtest/gtest.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::submissions_test {
namespace {

v1::JobSpec shell_spec(const std::string& cmd = "true") {
  v1::JobSpec spec;
  spec.mutable_command()->mutable_shell()->set_cmd(cmd);
  return spec;
}

bool names(const absl::Status& status, std::string_view field) {
  return std::string_view(status.message().data(), status.message().size()).starts_with(field);
}

class SubmissionTest : public ::testing::Test {
 protected:
  SubmissionTest() {
    v1::Template wanted;
    wanted.set_name("build");
    wanted.add_parameters()->set_name("target");
    *wanted.mutable_spec() = shell_spec("make");
    wanted.mutable_spec()->mutable_command()->mutable_shell()->add_args("${target}");
    wanted.mutable_spec()->set_max_attempts(2);
    absl::StatusOr<core::TemplateRow> row = spec::template_row(wanted, "default");
    EXPECT_TRUE(row.ok()) << row.status();
    EXPECT_TRUE(store_.new_epoch().ok());
    EXPECT_TRUE(store_.commit({core::Put<core::TemplateRow>{*row}}, store::Epoch{1}, store::BatchNo{1}).ok());
    request_.set_template_("build");
    (*request_.mutable_parameters())["target"] = "all";
  }

  store::MemoryStore store_;
  v1::QueueJobRequest request_;
};

TEST_F(SubmissionTest, IsRenderedFromItsTemplate) {
  const absl::StatusOr<v1::JobSpec> spec = rendered_spec(request_, "default", store_);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->command().shell().args(0), "all");
  EXPECT_EQ(spec->max_attempts(), 2);
}

TEST_F(SubmissionTest, LetsWhatIsSetBesideATemplateWin) {
  request_.mutable_spec()->set_max_attempts(5);
  request_.mutable_spec()->mutable_command()->mutable_script()->set_content("true");
  const absl::StatusOr<v1::JobSpec> spec = rendered_spec(request_, "default", store_);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->max_attempts(), 5);
  EXPECT_TRUE(spec->command().has_script());
}

TEST_F(SubmissionTest, NamesWhatIsWrongWithTheRequest) {
  v1::QueueJobRequest empty;
  EXPECT_TRUE(names(rendered_spec(empty, "default", store_).status(), "spec: is required"));
  v1::QueueJobRequest stray;
  *stray.mutable_spec() = shell_spec();
  (*stray.mutable_parameters())["a"] = "b";
  EXPECT_TRUE(names(rendered_spec(stray, "default", store_).status(), "parameters: are only for templates"));
  const absl::Status unknown = rendered_spec(request_, "other", store_).status();
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_TRUE(names(unknown, "template: 'build' does not exist in namespace 'other'"));
  request_.clear_parameters();
  EXPECT_TRUE(names(rendered_spec(request_, "default", store_).status(), "parameters: 'target' has no default"));
  EXPECT_TRUE(names(spec::namespace_of("../x").status(), "namespace"));
  EXPECT_EQ(*spec::namespace_of(""), "default");
}

}  // namespace
}  // namespace hodei::api::submissions_test
