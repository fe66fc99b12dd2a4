// The patterns that hide the secrets of one execution, and the text that replaces them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/worker/output/automaton.h"

namespace hodei::worker {

class Mask {
 public:
  // At least one, at most kMostParts.
  explicit Mask(std::vector<Automaton> parts);

  static constexpr size_t kMostParts = 3;  // one for each Reading
  const std::vector<Automaton>& parts() const { return parts_; }
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<Automaton> parts_;
  uint64_t fingerprint_ = 1;
};

// The bytes of a match as they are sent: as many, but line breaks stay.
void blank(char* bytes, size_t size);

// Cut: more stood behind it, so its end may be the beginning of a secret. Ended: more may have been meant to stand
// there, so its end is masked if so much of a secret is not there by chance.
enum class TextEnd : uint8_t { Whole, Cut, Ended };

// A text that is there at once.
std::string masked(const std::string& text, const Mask& mask, TextEnd end = TextEnd::Whole);

}  // namespace hodei::worker
