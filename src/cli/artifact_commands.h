// hodei artifact …
#pragma once

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

void add_artifact_commands(CLI::App& root, Session& session);

}  // namespace hodei::cli
