// What the module of workers adds to the lists of the engine.
#pragma once

#include "src/core/fleet/commands.h"
#include "src/core/fleet/effects.h"
#include "src/core/fleet/rows.h"
#include "src/core/module.h"

namespace hodei::core {

struct FleetModule : ModuleDefaults {
  using Commands = FleetCommands;
  using Questions = FleetQuestions;
  using Answers = FleetAnswers;
  using Rows = FleetRows;
  using Effects = FleetEffects;
};

}  // namespace hodei::core
