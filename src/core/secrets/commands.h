// The commands of stored secrets, and their answers.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/time.h"
#include "src/core/rows/row.h"
#include "src/core/secrets/rows.h"

namespace hodei::core {

struct PutStoredSecret {
  SecretRow row;
  std::string detail = {};
};  // the engine sets revision and time
struct DropStoredSecret {
  std::string ns;
  std::string name;
};

struct SecretPut {
  int64_t revision = 0;
  WallTime updated;
};

using SecretCommands = TypeList<PutStoredSecret, DropStoredSecret>;
using SecretAnswers = TypeList<SecretPut>;

}  // namespace hodei::core
