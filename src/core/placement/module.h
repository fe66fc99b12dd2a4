// What the module of placement adds to the lists of the engine.
#pragma once

#include "src/core/module.h"
#include "src/core/placement/commands.h"
#include "src/core/placement/rows.h"

namespace hodei::core {

struct PlacementModule : ModuleDefaults {
  using Commands = PlacementCommands;
  using Questions = PlacementQuestions;
  using Answers = PlacementAnswers;
  using Rows = PlacementRows;
  using Verbs = PlacementVerbs;
};

}  // namespace hodei::core
