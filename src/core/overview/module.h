// What the overview adds to the lists of the engine.
#pragma once

#include "src/core/module.h"
#include "src/core/overview/commands.h"

namespace hodei::core {

class Overview;

struct OverviewModule : ModuleDefaults {
  using Class = Overview;
  using Questions = OverviewQuestions;
  using Answers = OverviewAnswers;
};

}  // namespace hodei::core
