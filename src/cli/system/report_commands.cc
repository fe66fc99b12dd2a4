// `hodei progress`, `hodei output`: what a job reports about itself. src/main passes the arguments to the worker's
// code.
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/session/session.h"

namespace hodei::cli {
namespace {

void add_report(CLI::App& root, Session& session, const std::string& verb, const std::string& description,
                const std::string& positional, const std::string& of_positional) {
  CLI::App* command = root.add_subcommand(verb, description);
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option(positional, *words, of_positional)->type_name("");
  command->callback([&session, verb, words] {
    session.needs_settings = false;  // a job may have no home, no file and no server of its own
    session.takes_program = true;    // arguments that begin with a dash come after `--`
    session.action = [&session, verb, words] {
      std::vector<std::string> all = {verb};
      all.insert(all.end(), words->begin(), words->end());
      all.insert(all.end(), session.program.begin(), session.program.end());
      if (!session.local.report)
        return session.fail(absl::UnimplementedError("this program was built without a worker"));
      return session.local.report(all);
    };
  });
}

}  // namespace

void add_report_commands(CLI::App& root, Session& session) {
  add_report(root, session, "progress", "Inside a job: report progress", "words",
             "PERCENT [MESSAGE]: 0 to 100, and an optional message");
  add_report(root, session, "output", "Inside a job: return values with its result", "pairs", "KEY=VALUE …");
}

}  // namespace hodei::cli
