// Every group of commands, once, in the order of `hodei --help`. A line here is all that a new noun needs outside of
// its folder: there it defines add_NOUN_commands(root, session), which adds its commands to the root, each with a
// callback that sets session.action.
#pragma once

namespace CLI {
class App;
}

#define HODEI_COMMANDS(X) \
  X(run)                  \
  X(job)                  \
  X(template)             \
  X(artifact)             \
  X(worker)               \
  X(provider)             \
  X(pool)                 \
  X(secret)               \
  X(tenant)               \
  X(system)               \
  X(scheduler)            \
  X(top)                  \
  X(config)               \
  X(local)                \
  X(report)               \
  X(completion)

namespace hodei::cli {

struct Session;

#define HODEI_DECLARE_COMMANDS(noun) void add_##noun##_commands(CLI::App& root, Session& session);
HODEI_COMMANDS(HODEI_DECLARE_COMMANDS)
#undef HODEI_DECLARE_COMMANDS

}  // namespace hodei::cli
