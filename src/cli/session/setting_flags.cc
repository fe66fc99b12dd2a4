#include "src/cli/session/setting_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/text.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/session/session.h"

namespace hodei::cli {
namespace {

void add_flag(CLI::App& command, Session& session, const Setting& setting) {
  const std::string description = setting.default_value.empty()
                                      ? cat(setting.description, " [", setting.env, "]")
                                      : cat(setting.description, " [", setting.env, ", ", setting.default_value, "]");
  std::vector<std::string>& values = session.flags[std::string(setting.name)];
  CLI::Option* option = repeatable(command, std::string(setting.flag), values, description);
  option->type_name("VALUE");
  // Given twice, the last one counts.
  if (!setting.is_list) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_config_flag(CLI::App& root, Session& session) {
  root.add_option("--config", session.config_flag, "configuration file [HODEI_CONFIG]")->type_name("FILE");
}

}  // namespace

void add_setting_flags(CLI::App& command, Session& session, unsigned audience) {
  for (const Setting& setting : all_settings()) {
    const bool wanted = (setting.audience & audience) != 0 && (setting.audience & kClient) == 0;
    if (wanted && !setting.flag.empty()) add_flag(command, session, setting);
  }
}

void add_client_flags(CLI::App& root, Session& session) {
  for (const Setting& setting : all_settings()) {
    if ((setting.audience & kClient) != 0) add_flag(root, session, setting);
  }
  add_config_flag(root, session);
  root.add_flag("-A,--all-namespaces", session.all_namespaces, "use all namespaces, whatever HODEI_NAMESPACE says");
  root.add_flag("--utc", session.utc, "show times in UTC instead of the local time zone");
  root.add_flag("--no-headers", session.no_headers, "print tables without a header");
  root.add_option("--correlation-id", session.correlation_id, "your own id, stored with jobs and sent with every call")
      ->type_name("ID");
}

void add_worker_flags(CLI::App& root, Session& session) {
  for (const Setting& setting : all_settings()) {
    if ((setting.audience & kAgent) != 0 && !setting.flag.empty()) add_flag(root, session, setting);
  }
  add_config_flag(root, session);
}

}  // namespace hodei::cli
