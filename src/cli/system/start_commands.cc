// `hodei dev`, `server`, `agent`: flags from the table of settings; src/main does the work.
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/session/session.h"
#include "src/cli/session/setting_flags.h"

namespace hodei::cli {
namespace {

template <class Options>
using MakeOptions = absl::StatusOr<Options> (*)(const Settings&, const Surroundings&);

template <class Options>
void set_action(Session& session, const std::string& name, MakeOptions<Options> make,
                const std::function<int(const Options&)>& start) {
  session.action = [&session, name, make, &start] {
    const absl::StatusOr<Options> options = make(session.settings, session.io);
    if (!options.ok()) return session.fail(options.status());
    if (!start) return session.fail(absl::UnimplementedError(cat("this program was built without `", name, "`")));
    return start(*options);
  };
}

template <class Options>
void add_start(CLI::App& root, Session& session, const std::string& name, const std::string& description,
               unsigned audience, MakeOptions<Options> make, const std::function<int(const Options&)>& start) {
  CLI::App* command = root.add_subcommand(name, description);
  add_setting_flags(*command, session, audience);
  command->callback([&session, name, make, &start] { set_action(session, name, make, start); });
}

}  // namespace

void add_local_commands(CLI::App& root, Session& session) {
  add_start<DevOptions>(root, session, "dev",
                        "Start a server and a worker on this machine, with all data in one folder", kServer | kAgent,
                        dev_options, session.local.dev);
  add_start<ServerOptions>(root, session, "server", "Start a server without a worker", kServer, server_options,
                           session.local.server);
  add_start<AgentOptions>(root, session, "agent", "Start a worker that runs jobs for a server", kAgent, agent_options,
                          session.local.agent);
}

void set_agent_action(Session& session) { set_action(session, "agent", agent_options, session.local.agent); }

}  // namespace hodei::cli
