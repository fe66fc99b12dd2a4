// What the module of jobs adds to the lists of the engine.
#pragma once

#include "src/core/jobs/commands.h"
#include "src/core/jobs/effects.h"
#include "src/core/jobs/rows.h"
#include "src/core/module.h"

namespace hodei::core {

struct JobsModule : ModuleDefaults {
  using Commands = JobCommands;
  using Answers = JobAnswers;
  using Rows = JobRows;
  using Verbs = JobVerbs;
  using Effects = JobEffects;
};

}  // namespace hodei::core
