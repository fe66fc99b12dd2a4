// Finds many texts at once in a stream of bytes that comes in pieces (Aho-Corasick): one number is all that must be
// remembered between two pieces.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hodei::worker {

class Automaton {
 public:
  using State = uint32_t;
  static constexpr State kStart = 0;

  // None may be empty, or longer than 65,535 bytes.
  explicit Automaton(const std::set<std::string>& texts);

  State next(State state, char byte) const;
  // The length of the longest text that ends here; 0: none does.
  size_t match(State state) const { return nodes_[state].match; }
  // How many of the last bytes could still become part of a text.
  size_t open(State state) const { return nodes_[state].open; }

  bool knows(State state) const { return state < nodes_.size(); }
  bool may_begin(char byte) const { return first_[static_cast<uint8_t>(byte)] != kStart; }
  size_t longest() const { return longest_; }
  // The same for the same texts, never 0.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Node {
    State child = kStart;       // kStart: none, since nothing leads back there
    State sibling = kStart;
    State fallback = kStart;    // the longest end of what led here that is the beginning of a text
    uint16_t depth = 0;
    uint16_t match = 0;
    uint16_t open = 0;
    char byte = 0;
  };
  void add(std::string_view text);
  State child_of(State state, char byte) const;
  void link();

  std::vector<Node> nodes_;
  std::array<State, 256> first_{};   // the children of the start: looked up for nearly every byte
  size_t longest_ = 0;
  uint64_t fingerprint_ = 1;
};

// The bytes of a match as they are sent: as many, but line breaks stay.
void blank(char* bytes, size_t size);

// A text that is there as a whole.
std::string masked(const std::string& text, const Automaton& automaton);

}  // namespace hodei::worker
