// Turns an order of the server into a Program: arguments, environment and files from a JobSpec. Only this file does so.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/worker/core/execution.h"
#include "src/worker/core/program.h"

namespace hodei::worker {

// An order that makes no sense gives a Program that says so in `impossible`: it is reported like any other failed
// start. `given` is added to the environment whatever the job's own says.
Program build_program(const RunOrder& order, const std::map<std::string, std::string>& given = {});

}  // namespace hodei::worker
