// The file of settings: refused with the line, or every value of it can be used.
#include "src/cli/session/local_commands.h"
#include "src/cli/session/settings.h"
#include "src/cli/terminal/surroundings.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;

static const std::string kPath = "config.yaml";

FUZZ_TARGET(input) {
  const absl::StatusOr<cli::SettingValues> values = cli::parse_config(input, kPath);
  if (!values.ok()) {
    REQUIRE(fuzz::words(values.status()).starts_with(kPath + ":"), fuzz::words(values.status()));
    return;
  }
  cli::Surroundings nothing;
  nothing.env = [](const std::string&) { return std::nullopt; };
  const absl::StatusOr<cli::Settings> settings = cli::Settings::resolve({}, nothing, {kPath, *values});
  REQUIRE(settings.ok(), fuzz::words(settings.status()));
  for (const char* name : {"request_timeout", "retry_for", "reconnect_for", "log_retention_age"}) {
    REQUIRE(settings->duration(name).count() >= 0, name);
  }
  REQUIRE(settings->bytes("log_retention_size") >= 0, "");
  REQUIRE(settings->count("slots") >= 0 && settings->count("job_processes") >= 0, "");
  cli::server_options(*settings, nothing).status().IgnoreError();
  cli::agent_options(*settings, nothing).status().IgnoreError();
}
