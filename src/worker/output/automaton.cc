#include "src/worker/output/automaton.h"

#include <algorithm>

#include "src/base/hash.h"

namespace hodei::worker {
namespace {

constexpr int kManyChildren = 8;

}  // namespace

Alphabet::Alphabet(Reading reading) {
  for (size_t byte = 0; byte < 256; ++byte) meaning_[byte] = static_cast<char>(byte);
  if (reading == Reading::Exact) return;
  skip(" \t\r\n\\", Skip::Always);
  skip("nrt", Skip::BehindBackslash);
  if (reading == Reading::Base64) {
    meaning_['-'] = '+';
    meaning_['_'] = '/';
  } else {
    skip(":;,.-_|'\"=%&#xXuU", Skip::Always);
    for (char digit = 'A'; digit <= 'F'; ++digit)
      meaning_[static_cast<uint8_t>(digit)] = static_cast<char>(digit - 'A' + 'a');
  }
}

void Alphabet::skip(std::string_view bytes, Skip when) {
  for (const char byte : bytes) skipped_[static_cast<uint8_t>(byte)] = when;
}

Automaton::Automaton(const std::set<std::string>& texts, Reading reading) : nodes_(1), alphabet_(reading) {
  size_t bytes = 1;
  for (const std::string& text : texts) bytes += text.size();
  nodes_.reserve(bytes);
  for (const std::string& text : texts) add(text);
  nodes_.shrink_to_fit();
  fingerprint_ = hash64(std::string(1, static_cast<char>(reading)), fingerprint_) | 1;
  note_beginnings();
  widen();
  link();
}

void Automaton::note_beginnings() {
  for (size_t each = 0; each < 256; ++each) {
    const char byte = static_cast<char>(each);
    const State first = first_[static_cast<uint8_t>(alphabet_.meaning(byte))];
    if (alphabet_.always_skips(byte) || first == kStart) continue;
    beginnings_.add(byte);
    for (size_t other = 0; other < 256; ++other) {
      const char next = static_cast<char>(other);
      if (alphabet_.may_skip(next) || child_of(first, alphabet_.meaning(next)) != kStart) beginnings_.add(byte, next);
    }
  }
}

void Automaton::add(std::string_view text) {
  State at = kStart;
  for (const char byte : text) {
    State to = child_of(at, byte);
    if (to == kStart) {
      to = static_cast<State>(nodes_.size());
      Node node;
      node.byte = byte;
      node.depth = static_cast<uint8_t>(nodes_[at].depth + 1);
      node.sibling = nodes_[at].child;
      nodes_.push_back(node);
      nodes_[at].child = to;
      if (at == kStart) first_[static_cast<uint8_t>(byte)] = to;
    }
    at = to;
  }
  nodes_[at].match = static_cast<uint8_t>(text.size());
  longest_ = std::max(longest_, text.size());
  fingerprint_ = hash64(text, fingerprint_) | 1;
}

Automaton::State Automaton::child_of(State state, char meaning) const {
  const auto byte = static_cast<uint8_t>(meaning);
  if (state == kStart) return first_[byte];
  const Node& node = nodes_[state];
  if (node.depth == 1) {
    const uint16_t wide = wide_.at[static_cast<uint8_t>(node.byte)];
    if (wide > 0) return wide_.children[wide - 1u][byte];
  }
  State child = node.child;
  while (child != kStart && nodes_[child].byte != meaning) child = nodes_[child].sibling;
  return child;
}

void Automaton::widen() {
  for (const State state : first_) {
    if (state == kStart) continue;
    std::array<State, 256> children{};
    int count = 0;
    for (State child = nodes_[state].child; child != kStart; child = nodes_[child].sibling) {
      children[static_cast<uint8_t>(nodes_[child].byte)] = child;
      ++count;
    }
    if (count < kManyChildren) continue;
    wide_.children.push_back(children);
    wide_.at[static_cast<uint8_t>(nodes_[state].byte)] = static_cast<uint16_t>(wide_.children.size());
  }
}

// Level by level: what a node falls back to is shorter, and so is known before it.
void Automaton::link() {
  std::vector<State> level{kStart};
  while (!level.empty()) {
    std::vector<State> below;
    for (const State parent : level) {
      for (State child = nodes_[parent].child; child != kStart; child = nodes_[child].sibling) {
        Node& node = nodes_[child];
        if (parent != kStart) node.fallback = next_of(nodes_[parent].fallback, node.byte);
        const Node& shorter = nodes_[node.fallback];
        if (node.match == 0) node.match = shorter.match;
        // A text that is complete and leads nowhere can only grow through its end.
        node.open = node.child != kStart ? node.depth : shorter.open;
        below.push_back(child);
      }
    }
    level = std::move(below);
  }
}

Automaton::State Automaton::next_of(State state, char meaning) const {
  while (true) {
    if (const State child = child_of(state, meaning); child != kStart) return child;
    if (state == kStart) return kStart;
    state = nodes_[state].fallback;
  }
}

std::vector<Automaton::State> Automaton::somewhere_inside(char byte) const {
  const char meaning = alphabet_.meaning(byte);
  std::vector<State> states;
  for (State state = 1; state < nodes_.size(); ++state) {
    if (nodes_[state].byte == meaning && nodes_[state].depth > 1) states.push_back(state);
  }
  return states;
}

void Automaton::step_inside(std::vector<State>& states, char byte) const {
  const char meaning = alphabet_.meaning(byte);
  size_t kept = 0;
  for (const State state : states) {
    if (const State child = child_of(state, meaning); child != kStart) states[kept++] = child;
  }
  states.resize(kept);
}

}  // namespace hodei::worker
