#include "src/cli/flags/parse_errors.h"

#include <CLI/CLI.hpp>

#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/cli/flags/habits.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

// The innermost command that was recognized.
const CLI::App& chosen(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? path_of(*parent) + " " + app.get_name() : app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* child : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(child->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* at = &app; at; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::string with_commas(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// The first word that nobody took.
std::string first_extra(const CLI::App& root) {
  for (const std::string& word : root.remaining(true)) {
    if (word != "--") return word;
  }
  return {};
}

bool takes_a_program(const CLI::App& app) { return app.get_name() == "run" || app.get_name() == "submit"; }

std::string describe(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& app = chosen(root);
  const std::vector<std::string> commands = command_names(app);
  const std::string extra = first_extra(root);
  if (!extra.empty() && extra[0] == '-') {
    const std::string flag = extra.substr(0, extra.find('='));
    const std::string known = here_called(path_of(app), flag);
    std::string text = cat("unknown flag '", flag, "' for `", path_of(app), "`",
                           known.empty() ? did_you_mean(flag, flag_names(app)) : known);
    if (takes_a_program(app))
      text += cat("\nput the job's own command after `--`:  ", path_of(app), " -- COMMAND ARGS");
    return text;
  }
  if (!extra.empty() && !commands.empty()) {
    const std::string known = here_called(path_of(app), extra);
    const std::string hint = known.empty() ? did_you_mean(extra, commands) : known;
    return cat("`", path_of(app), "` has no command '", extra, "'",
               hint.empty() ? cat("; it has ", with_commas(commands)) : hint);
  }
  if (!extra.empty()) {
    if (takes_a_program(app)) return cat("put `--` before the job's command:  ", path_of(app), " -- ", extra, " …");
    return cat("`", path_of(app), "` does not accept '", extra, "'");
  }
  if (!commands.empty() && error.get_name() == "RequiredError") {
    return cat("`", path_of(app), "` needs a command: ", with_commas(commands));
  }
  return error.what();
}

}  // namespace

int show_help(const CLI::App& root, const CLI::Success& asked, const Surroundings& io) {
  if (asked.get_name() == "CallForVersion") {
    io.out(cat(asked.what(), "\n"));
    return kOk;
  }
  const CLI::App& app = chosen(root);
  std::string text = app.help(app.get_parent() ? path_of(*app.get_parent()) : std::string());
  if (takes_a_program(app)) {
    const bool from_template = app.get_parent() != &root && app.get_name() == "run";
    text.insert(text.find('\n', text.find("Usage:")), from_template ? " [-- ARGS...]" : " -- COMMAND [ARGS...]");
  }
  if (&app != &root && root.get_option_no_throw("--namespace") != nullptr) {
    text += "\nGlobal flags (--server, --output, --namespace, …): hodei --help\n";
  }
  io.out(text);
  return kOk;
}

int report_parse_error(const CLI::App& root, const CLI::ParseError& error, ErrorForm form, const Surroundings& io) {
  io.err(error_text(form, absl::StatusCode::kInvalidArgument,
                    cat(describe(root, error), "\n`", path_of(chosen(root)), " --help` for more")));
  return kUsage;
}

}  // namespace hodei::cli
