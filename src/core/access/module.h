// What the module of access control adds to the lists of the engine.
#pragma once

#include "src/core/access/commands.h"
#include "src/core/access/rows.h"
#include "src/core/module.h"

namespace hodei::core {

class Access;

struct AccessModule : ModuleDefaults {
  using Class = Access;
  using Commands = AccessCommands;
  using Questions = AccessQuestions;
  using Answers = AccessAnswers;
  using Rows = AccessRows;
};

}  // namespace hodei::core
