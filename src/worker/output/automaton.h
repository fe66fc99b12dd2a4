// Finds many texts at once in a stream of bytes that comes in pieces (Aho-Corasick): one number is all that must be
// remembered between two pieces.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hodei::worker {

// How the bytes of a stream are compared with the texts.
enum class Reading : uint8_t {
  Exact,
  // Both alphabets are the same one. White space counts for nothing, also as JSON writes it (`\n`), and so do
  // backslashes: encoders break lines anywhere, and some writers of JSON put a backslash before a slash.
  Base64,
  // Likewise for capital and small digits, and what programs write between two bytes counts for nothing: `de:ad`,
  // `\xde\xad`, `%de%ad`, `&#xde;&#xad;`. Of `0xde, 0xad` the zeros remain.
  Hex,
};

// What each byte of a stream stands for, and which count for nothing.
class Alphabet {
 public:
  explicit Alphabet(Reading reading);

  char meaning(char byte) const { return meaning_[static_cast<uint8_t>(byte)]; }
  // `before` is the byte in front of it: the `n` of a line break that JSON has written is skipped, any other is not.
  bool skips(char before, char byte) const {
    const Skip skip = skipped_[static_cast<uint8_t>(byte)];
    return skip != Skip::Never && (skip == Skip::Always || before == '\\');
  }
  bool may_skip(char byte) const { return skipped_[static_cast<uint8_t>(byte)] != Skip::Never; }
  bool always_skips(char byte) const { return skipped_[static_cast<uint8_t>(byte)] == Skip::Always; }

 private:
  enum class Skip : uint8_t { Never, Always, BehindBackslash };
  void skip(std::string_view bytes, Skip when);

  std::array<char, 256> meaning_{};
  std::array<Skip, 256> skipped_{};
};

// Which bytes texts begin with: most bytes of most output need no further look.
class Beginnings {
 public:
  bool has(char byte) const { return bytes_[static_cast<uint8_t>(byte)]; }
  // `next` stands behind it. Now and then true where no text begins so.
  bool has(char byte, char next) const { return has(byte) && pairs_[pair_of(byte, next)]; }
  void add(char byte) { bytes_[static_cast<uint8_t>(byte)] = true; }
  void add(char byte, char next) { pairs_.set(pair_of(byte, next)); }

 private:
  static constexpr size_t kPairs = 4096;
  static size_t pair_of(char byte, char next) {
    return (static_cast<uint8_t>(byte) * size_t{61} + static_cast<uint8_t>(next)) % kPairs;
  }
  std::array<bool, 256> bytes_{};
  std::bitset<kPairs> pairs_;
};

class Automaton {
 public:
  using State = uint32_t;
  static constexpr State kStart = 0;
  static constexpr size_t kLongestText = 255;
  static constexpr size_t kLongestBreak = 64;  // so many bytes inside of a text are skipped; more end it

  // None may be empty, or longer than kLongestText. Those of a Reading are in the letters of its usual alphabet: `+/`
  // for base64, small digits for hex.
  explicit Automaton(const std::set<std::string>& texts, Reading reading = Reading::Exact);

  // `byte` is not skipped.
  State next(State state, char byte) const { return next_of(state, alphabet_.meaning(byte)); }
  bool skips(char before, char byte) const { return alphabet_.skips(before, byte); }
  // The length of the longest text that ends here, without what is skipped; 0: none does.
  size_t match(State state) const { return nodes_[state].match; }
  // How many of the last bytes could still become part of a text, without those that are skipped.
  size_t open(State state) const { return nodes_[state].open; }

  // All states in which one can be right behind `byte` when what came before it, at least one byte of a text, is not
  // known.
  std::vector<State> somewhere_inside(char byte) const;
  // Moves each of them on by one byte; those that this byte does not belong to go away.
  void step_inside(std::vector<State>& states, char byte) const;
  bool ends_text(State state) const { return nodes_[state].match == nodes_[state].depth; }

  bool knows(State state) const { return state < nodes_.size(); }
  bool may_begin(char byte) const { return beginnings_.has(byte); }
  // `next` stands behind it. Now and then true where no text begins so.
  bool may_begin(char byte, char next) const { return beginnings_.has(byte, next); }
  size_t longest() const { return longest_; }
  // The same for the same texts, never 0.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Node {
    State child = kStart;  // kStart: none, since nothing leads back there
    State sibling = kStart;
    State fallback = kStart;  // the longest end of what led here that is the beginning of a text
    uint8_t depth = 0;
    uint8_t match = 0;
    uint8_t open = 0;
    char byte = 0;
  };
  // The children of those that have many, by the byte of their parent, which is a child of the start: with a long
  // secret nearly every byte of any text comes by there.
  struct Wide {
    std::vector<std::array<State, 256>> children;
    std::array<uint16_t, 256> at{};  // 0: not wide; else its place in `children`, plus one
  };
  void note_beginnings();
  void add(std::string_view text);
  State next_of(State state, char meaning) const;
  State child_of(State state, char meaning) const;
  void widen();
  void link();

  std::vector<Node> nodes_;
  Alphabet alphabet_;
  Beginnings beginnings_;
  std::array<State, 256> first_{};  // the children of the start: looked up for nearly every byte
  Wide wide_;
  size_t longest_ = 0;
  uint64_t fingerprint_ = 1;
};

}  // namespace hodei::worker
