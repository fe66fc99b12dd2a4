// Why a job was placed where it was. Kept with its execution; for a waiting job, computed on request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/ids.h"

namespace hodei::core {

// The five parts of a score, already weighted.
struct Score {
  double capacity = 0;
  double load = 0;
  double affinity = 0;
  double zone = 0;
  double history = 0;

  double total() const { return capacity + load + affinity + zone + history; }
  bool operator==(const Score&) const = default;
};

struct RuleCount {
  std::string rule;
  uint32_t workers = 0;
  bool operator==(const RuleCount&) const = default;
};

struct Decision {
  WorkerId winner;
  Score score;
  uint32_t considered = 0;          // number of workers
  std::vector<RuleCount> rejected;  // by rule name
  bool operator==(const Decision&) const = default;
};

struct Candidate {
  WorkerId worker;
  bool fits = false;
  std::string rule;  // the first rule that rejected it
  std::string reason;
  Score score;
};

}  // namespace hodei::core
