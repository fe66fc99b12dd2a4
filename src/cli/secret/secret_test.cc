// `hodei secret`, `hodei audit`, and secrets on the command line of a job.
#include "src/cli/cli_fixture.h"

namespace hodei::cli::secret_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(CliTest, SecretsOfAJobAreNamesOrValuesFromFiles) {
  stdin_ = "from stdin\n";
  const std::string file = temp_file("secret", "from file\n");
  ASSERT_EQ(run({"job", "submit", "--secret", "stored", "--secret-from", "a=" + file, "--secret-from", "b=-",
                 "--secret-files", "--", "true"}),
            0)
      << err_;
  const v1::JobSpec& spec = server_.jobs.queued.at(0).spec();
  ASSERT_EQ(spec.secrets_size(), 3);
  EXPECT_EQ(spec.secrets(0).name(), "stored");
  EXPECT_EQ(spec.secrets(0).value(), "");
  EXPECT_EQ(spec.secrets(1).value(), "from file\n");
  EXPECT_EQ(spec.secrets(2).value(), "from stdin");
  EXPECT_TRUE(spec.secret_files());
}

TEST_F(CliTest, SecretFlagsSayWhatIsWrong) {
  for (const char* bad : {"token", "=x", "token="}) {
    EXPECT_NE(run({"job", "submit", "--secret-from", bad, "--", "true"}), 0);
    EXPECT_THAT(err_, HasSubstr("NAME=FILE"));
  }
}

TEST_F(CliTest, ASecretIsSetFromStdinAFileOrTheTerminal) {
  stdin_ = "s3cr3t\n";
  ASSERT_EQ(run({"secret", "set", "token", "--value-stdin"}), 0) << err_;
  ASSERT_EQ(run({"secret", "set", "token", "--from-file", temp_file("value", "v4lue\n")}), 0) << err_;
  EXPECT_NE(run({"secret", "set", "token"}), 0) << "there is no terminal";
  io_.read_hidden = [](std::string_view prompt) {
    return absl::StatusOr<std::string>(std::string(prompt.substr(0, 5)));
  };
  ASSERT_EQ(run({"secret", "set", "token", "-n", "team"}), 0) << err_;
  EXPECT_THAT(err_, HasSubstr("too short"));
  ASSERT_EQ(server_.admin.put.size(), 3u);
  EXPECT_EQ(server_.admin.put[0].value(), "s3cr3t");
  EXPECT_EQ(server_.admin.put[1].value(), "v4lue\n");
  EXPECT_EQ(server_.admin.put[2].value(), "Value");
  EXPECT_EQ(server_.admin.put[2].namespace_(), "team");
  EXPECT_THAT(out_, Not(HasSubstr("Value")));
}

TEST_F(CliTest, TheAuditTrailIsReadPageByPageUpToTheLimit) {
  ASSERT_EQ(run({"audit", "list", "--limit", "3", "--action", "secret.set", "--since", "1h", "-o", "name"}), 0) << err_;
  EXPECT_EQ(out_, "5\n4\n3\n");
  EXPECT_EQ(server_.admin.audited.at(0).action(), "secret.set");
  EXPECT_EQ(server_.admin.audited.at(0).since().seconds(), clock_.us / 1'000'000 - 3600);
  EXPECT_NE(run({"audit", "list", "--limit", "none"}), 0);
  EXPECT_THAT(err_, HasSubstr("--limit"));
}

}  // namespace
}  // namespace hodei::cli::secret_test
