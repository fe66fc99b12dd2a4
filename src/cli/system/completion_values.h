// Lists the values that a flag or an argument can have: fixed values, or names that the server knows. Shells ask with
// the hidden command `hodei __complete PATH flagNAME`; without a name, it lists arguments.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hodei::cli {

struct Session;

// `path`: of the command, such as "job list".
bool has_known_values(const std::string& path, const CLI::Option& option);

void add_completion_values(CLI::App& root, Session& session);

}  // namespace hodei::cli
