// Adds flags for settings to a command.
#pragma once

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

// The flags of everything that concerns `audience` and is not a flag of every command anyway.
void add_setting_flags(CLI::App& command, Session& session, unsigned audience);

// The client's settings: flags of the root, understood behind every command.
void add_client_flags(CLI::App& root, Session& session);

// Everything that concerns a worker, the client's settings among it: flags of a program that is nothing else.
void add_worker_flags(CLI::App& root, Session& session);

}  // namespace hodei::cli
