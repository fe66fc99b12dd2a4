// What the module of workers on demand adds to the lists of the engine.
#pragma once

#include "src/core/module.h"
#include "src/core/provision/commands.h"
#include "src/core/provision/effects.h"
#include "src/core/provision/rows.h"

namespace hodei::core {

struct ProvisionModule : ModuleDefaults {
  using Commands = ProvisionCommands;
  using Questions = ProvisionQuestions;
  using Answers = ProvisionAnswers;
  using Rows = ProvisionRows;
  using Effects = ProvisionEffects;
};

}  // namespace hodei::core
