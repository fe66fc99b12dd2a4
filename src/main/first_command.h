// The command that `hodei dev` proposes.
#pragma once

#include <string>

#include "src/cli/text/address.h"

namespace hodei {

// Works as it is printed, also when the server listens on another port than clients look at.
std::string first_command(const cli::Address& listen);

}  // namespace hodei
