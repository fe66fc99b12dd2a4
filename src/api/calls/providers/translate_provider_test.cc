#include "src/api/calls/providers/translate_provider.h"

#include "gtest/gtest.h"

namespace hodei::api::translate_provider_test {
namespace {

TEST(TranslateProvider, HidesWhatLooksLikeASecret) {
  for (const char* secret :
       {"token", "registry_token", "PASSWORD", "aws_secret_access_key", "config.apiKey", "registry_auth"}) {
    EXPECT_TRUE(looks_secret(secret)) << secret;
  }
  for (const char* plain :
       {"image", "host", "token_file", "key_path", "ssh-key-file", "access_key_id", "secret_name", "namespace"}) {
    EXPECT_FALSE(looks_secret(plain)) << plain;
  }
  core::ProviderView view;
  view.provider.row.options = {{"token", "abc"}, {"host", "h"}};
  v1::Provider out;
  to_proto(view, Now{}, &out);
  EXPECT_EQ(out.config().options().at("token"), "***");
  EXPECT_EQ(out.config().options().at("host"), "h");
}

TEST(TranslateProvider, TheMaskIsNeverStored) {
  v1::ProviderConfig config;
  config.set_name("p");
  config.set_type("docker");
  (*config.mutable_options())["token"] = "***";
  EXPECT_TRUE(absl::IsInvalidArgument(from_proto(config).status()));
  v1::UpdateProviderRequest change;
  (*change.mutable_options())["token"] = "***";
  EXPECT_TRUE(absl::IsInvalidArgument(changed(core::ProviderRow{.name = "p", .type = "t"}, change).status()));
}

TEST(TranslateProvider, TypesAreTakenInAnyLetterCase) {
  for (const auto& [given, stored] : {std::pair("BareMetal", "baremetal"), std::pair("AzureVm", "azurevm"),
                                      std::pair("Kubernetes", "kubernetes"), std::pair("EC2", "ec2")}) {
    v1::ProviderConfig config;
    config.set_name("p");
    config.set_type(given);
    const absl::StatusOr<core::ProviderRow> row = from_proto(config);
    ASSERT_TRUE(row.ok()) << row.status();
    EXPECT_EQ(row->type, stored);
  }
}

TEST(TranslateProvider, TellsWhatItsWorkersRunAndHowManyJobs) {
  core::ProviderView view;
  view.provider.row.max_jobs = 8;
  view.provider.jobs = 3;
  view.provider.facts.runtimes = {"shell", "script"};
  v1::Provider out;
  to_proto(view, Now{}, &out);
  EXPECT_EQ(out.max_concurrent_jobs(), 8);
  EXPECT_EQ(out.config().max_concurrent_jobs(), 8);
  EXPECT_EQ(out.current_jobs(), 3);
  EXPECT_EQ(out.supported_runtimes_size(), 2);
}

TEST(TranslateProvider, AChangeKeepsWhatItDoesNotName) {
  core::ProviderRow row;
  row.name = "p";
  row.type = "docker";
  row.options = {{"token", "abc"}, {"pull", "never"}};
  row.max_workers = 4;
  row.preference = 3;
  v1::UpdateProviderRequest change;
  change.set_mode(v1::ProviderConfig::maintenance);
  (*change.mutable_options())["pull"] = "";
  (*change.mutable_options())["image"] = "i";
  const absl::StatusOr<core::ProviderRow> now = changed(row, change);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->mode, core::ProviderMode::Maintenance);
  EXPECT_EQ(now->options, (core::Labels{{"token", "abc"}, {"image", "i"}}));
  EXPECT_EQ(now->max_workers, 4u);
  EXPECT_EQ(now->preference, 3);
}

TEST(TranslateProvider, PoolsComeBackAsTheyWereSet) {
  v1::Pool in;
  in.set_name("p");
  in.set_min(1);
  in.set_max(3);
  in.set_idle_ms(1500);
  in.mutable_size()->set_cpu_cores(0.5);
  const absl::StatusOr<core::PoolRow> row = from_proto(in);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->slots, 1u);
  EXPECT_EQ(row->size.cpu_milli, 500);
  v1::Pool out;
  to_proto(core::PoolView{.row = *row, .busy = 2}, &out);
  EXPECT_EQ(out.idle_ms(), 1500);
  EXPECT_EQ(out.max(), 3);
  EXPECT_EQ(out.busy(), 2);
  in.clear_idle_ms();
  EXPECT_EQ(from_proto(in)->idle, Duration(10s));
}

TEST(TranslateProvider, BadNumbersAreNamed) {
  v1::Pool pool;
  pool.set_name("p");
  pool.set_min(-1);
  EXPECT_EQ(from_proto(pool).status().message(), "min: must not be negative, not -1");
  pool.set_min(0);
  pool.set_idle_ms(-5);
  EXPECT_EQ(from_proto(pool).status().message(), "idle_ms: must be between 0 and one year");
  pool.clear_idle_ms();
  pool.mutable_size()->set_cpu_cores(1e300);
  EXPECT_EQ(from_proto(pool).status().message(), "size.cpu_cores: must be a number from 0 to 1000000, not 1e+300");
  v1::ProviderConfig config;
  config.set_name("p");
  config.set_type("docker");
  config.set_max_workers(-3);
  EXPECT_EQ(from_proto(config).status().message(), "max_workers: must not be negative, not -3");
}

}  // namespace
}  // namespace hodei::api::translate_provider_test
