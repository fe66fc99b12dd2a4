// `hodei config …`
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

std::string shown(const Setting& setting, const SettingValue& value) {
  std::string out;
  for (const std::string& one : value.values) out += (out.empty() ? "" : ",") + one;
  return setting.is_secret && !out.empty() ? std::string("********") : out;
}

std::string show_text(const Session& session) {
  const OutputForm form = session.form();
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  std::vector<std::string> headers = {"SETTING", "VALUE", "FROM", "ENVIRONMENT", "FLAG"};
  if (form == OutputForm::Wide) headers.emplace_back("WHAT");
  Table table(headers);
  for (const Setting& setting : all_settings()) {
    const SettingValue& value = session.settings.get(setting.name);
    const std::string text = shown(setting, value);
    json[std::string(setting.name)] = {{"value", text}, {"from", value.origin}};
    table.add({std::string(setting.name),
               {text.empty() ? "-" : text, value.origin == "default" ? Colour::None : Colour::Green},
               value.origin,
               std::string(setting.env),
               setting.flag.empty() ? "-" : std::string(setting.flag),
               std::string(setting.description)});
  }
  if (const auto data = session.data_text_of(json.dump())) return *data;
  if (form == OutputForm::Name) {
    std::string names;
    for (const Setting& setting : all_settings()) names += cat(setting.name, "\n");
    return names;
  }
  const std::string& path = session.settings.config_path();
  return cat("Configuration file: ", path.empty() ? "none" : path, "\n\n", table.text(session.style()));
}

// "the defaults are in force", but for what the environment and flags say.
std::string sources_as_text(const Settings& settings) {
  size_t given = 0;
  for (const Setting& setting : all_settings()) given += settings.get(setting.name).origin == "default" ? 0 : 1;
  if (given == 0) return "the defaults are in force";
  return cat(given, given == 1 ? " setting comes" : " settings come",
             " from the environment or from flags, the others are the defaults");
}

// Every problem at once, of the file, the environment and the flags.
int check(Session& session, const std::string& path) {
  const std::string flag = !path.empty() ? path : session.config_flag;
  std::vector<std::string> problems;
  const absl::StatusOr<ConfigFile> file =
      read_config_file(session.io, flag.empty() ? std::nullopt : std::optional<std::string>(flag), problems);
  if (!file.ok()) return session.fail(file.status()), kRefused;
  // A value may be fine in the file and be hidden by one of the environment that is not.
  session.settings = Settings::resolve(session.flags, session.io, *file, problems);
  const std::vector<std::string> warnings = unknown_variables(session.io);
  for (const std::string& warning : warnings) session.note("warning: " + warning);
  const std::string where = file->path.empty() ? std::string("no configuration file") : file->path;
  const nlohmann::ordered_json json = {
      {"file", file->path}, {"settings", file->values.size()}, {"problems", problems}, {"warnings", warnings}};
  if (const auto data = session.data_text_of(json.dump())) {
    const int shown = session.show(*data);
    return shown == kOk && !problems.empty() ? kRefused : shown;
  }
  if (!problems.empty()) {
    for (const std::string& problem : problems) session.fail(absl::InvalidArgumentError(problem));
    session.note(cat(where, ": ", counted(problems.size(), "problem")));
    return kRefused;
  }
  if (session.form() == OutputForm::Name) return session.show((file->path.empty() ? "none" : file->path) + "\n");
  return session.show(file->path.empty() ? cat("no configuration file; ", sources_as_text(session.settings), "\n")
                                         : cat(file->path, ": good, ", file->values.size(),
                                               file->values.size() == 1 ? " setting\n" : " settings\n"));
}

}  // namespace

void add_config_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("config", "Show and check the settings in effect");
  group->require_subcommand(1);
  group->add_subcommand("show", "Show every setting, its value and its source")->callback([&session] {
    session.action = [&session] { return session.show(show_text(session)); };
  });
  CLI::App* command = group->add_subcommand("check", "Check the configuration and report every problem");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "check this file instead of the one in effect")->type_name("FILE");
  command->callback([&session, path] {
    session.needs_settings = false;
    session.action = [&session, path] { return check(session, *path); };
  });
}

}  // namespace hodei::cli
