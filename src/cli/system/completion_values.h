// What may stand as the value of a flag or as an argument: fixed words, or what the server has. Shells ask for it with
// the hidden command `hodei __complete PATH flagNAME`; without a name it is about the argument.
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
