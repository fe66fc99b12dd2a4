// What a submission with an idempotency key has to know before it goes to the engine, which remembers only the newest
// keys.
#pragma once

#include "src/base/ids.h"

namespace hodei::server {

struct KeyHorizon {
  bool ask_store = true;  // the engine has forgotten keys, or soon will
  JobId committed{};      // the store knows the keys of all jobs with lower numbers
};

}  // namespace hodei::server
