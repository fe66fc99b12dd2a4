#include "src/cli/cli.h"

#include <CLI/CLI.hpp>

#include <csignal>

#include "src/base/status.h"
#include "src/cli/commands.h"
#include "src/cli/flags/parse_errors.h"
#include "src/cli/job/artifact_flags.h"
#include "src/cli/session/session.h"
#include "src/cli/session/setting_flags.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/terminal/output_errors.h"

namespace hodei::cli {
namespace {

void build(CLI::App& root, Session& session) {
  root.require_subcommand(1);
  root.fallthrough();  // inherited by every command: the flags of the root are understood behind them
  root.set_help_flag("-h,--help", "show this help");
  root.set_version_flag("--version", "hodei " + session.local.version, "show the version");
  root.get_formatter()->column_width(36);
  add_client_flags(root, session);
#define HODEI_ADD_COMMANDS(noun) add_##noun##_commands(root, session);
  HODEI_COMMANDS(HODEI_ADD_COMMANDS)
#undef HODEI_ADD_COMMANDS
}

// `hodei help job list` is `hodei job list --help`.
void turn_help_around(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  words.push_back("--help");
}

// What stands behind the first `--` is the job's, byte for byte: no parser may look at it.
std::vector<std::string> split_program(const std::vector<std::string>& args, Session& session) {
  const auto marker = std::find(args.begin(), args.end(), "--");
  if (marker == args.end()) return args;
  session.has_program = true;
  session.program.assign(marker + 1, args.end());
  return {args.begin(), marker};
}

absl::Status load_settings(Session& session) {
  ASSIGN_OR_RETURN(
      const ConfigFile file,
      read_config_file(session.io,
                       session.config_flag.empty() ? std::nullopt : std::optional<std::string>(session.config_flag)));
  ASSIGN_OR_RETURN(session.settings, Settings::resolve(session.flags, session.io, file));
  return absl::OkStatus();
}

// The worker alone: its settings are flags of the root, and without a command it starts.
void build_worker(CLI::App& root, Session& session) {
  root.require_subcommand(0, 1);
  root.set_help_flag("-h,--help", "show this help");
  root.set_version_flag("--version", "hodei-worker " + session.local.version, "show the version");
  root.get_formatter()->column_width(36);
  add_worker_flags(root, session);
  add_report_commands(root, session);
  set_agent_action(session);
}

int parse_and_act(CLI::App& root, Session& session, const std::vector<std::string>& args) {
  const Surroundings& surroundings = session.io;
  std::vector<std::string> words = split_program(args, session);
  turn_help_around(words);
  tell_outputs_apart(words);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    root.parse(words);
  } catch (const CLI::Success& asked) {
    return show_help(root, asked, surroundings);
  } catch (const CLI::ParseError& wrong) {
    return report_parse_error(root, wrong, error_form_in(args), surroundings);
  }
  if (session.has_program && !session.takes_program) {
    return session.fail(absl::InvalidArgumentError("this command takes nothing after `--`"));
  }
  if (session.needs_settings) {
    if (const absl::Status bad = load_settings(session); !bad.ok()) return session.fail(bad);
  }
  return session.action();
}

std::vector<std::string> arguments_of(int argc, char** argv) { return {argv + std::min(argc, 1), argv + argc}; }

// A reader that went away (`hodei job list | head`) shows up as a failed write instead of killing us without a word.
// Code that starts processes restores the default for them.
void notice_closed_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace

int run_cli(const std::vector<std::string>& args, const LocalCommands& local, const Surroundings& surroundings) {
  OutputErrors errors;
  const Surroundings watched = watch_output(surroundings, errors);
  Session session{watched, local};
  session.output_errors = &errors;
  CLI::App root{"Hodei runs jobs: it queues them durably, schedules them on workers and streams their output.",
                "hodei"};
  session.root = &root;
  build(root, session);
  const int code = parse_and_act(root, session, args.empty() ? std::vector<std::string>{"--help"} : args);
  return exit_code_after_output(errors, watched, session.is_run, code);
}

int run_worker_cli(const std::vector<std::string>& args, const LocalCommands& local, const Surroundings& surroundings) {
  OutputErrors errors;
  const Surroundings watched = watch_output(surroundings, errors);
  Session session{watched, local};
  session.output_errors = &errors;
  CLI::App root{"The Hodei worker: runs jobs for a server. It takes the same settings as `hodei agent`.",
                "hodei-worker"};
  session.root = &root;
  build_worker(root, session);
  const int code = parse_and_act(root, session, args);
  return exit_code_after_output(errors, watched, session.is_run, code);
}

int run_cli(int argc, char** argv, const LocalCommands& local) {
  notice_closed_pipes();
  return run_cli(arguments_of(argc, argv), local, real_surroundings());
}

int run_worker_cli(int argc, char** argv, const LocalCommands& local) {
  notice_closed_pipes();
  return run_worker_cli(arguments_of(argc, argv), local, real_surroundings());
}

}  // namespace hodei::cli
