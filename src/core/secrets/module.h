// What the module of stored secrets adds to the lists of the engine.
#pragma once

#include "src/core/module.h"
#include "src/core/secrets/commands.h"
#include "src/core/secrets/rows.h"

namespace hodei::core {

class Secrets;

struct SecretsModule : ModuleDefaults {
  using Class = Secrets;
  using Commands = SecretCommands;
  using Answers = SecretAnswers;
  using Rows = SecretRows;
};

}  // namespace hodei::core
