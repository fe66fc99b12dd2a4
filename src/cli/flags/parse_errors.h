// Explains errors in a command line: what is wrong, and what was probably meant.
#pragma once

#include "src/cli/output/error_text.h"
#include "src/cli/terminal/surroundings.h"

namespace CLI {
class App;
class ParseError;
class Success;
}  // namespace CLI

namespace hodei::cli {

int show_help(const CLI::App& root, const CLI::Success& asked, const Surroundings& io);
int report_parse_error(const CLI::App& root, const CLI::ParseError& error, ErrorForm form, const Surroundings& io);

}  // namespace hodei::cli
