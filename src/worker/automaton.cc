#include "src/worker/automaton.h"

#include <algorithm>

#include "src/base/hash.h"

namespace hodei::worker {

Automaton::Automaton(const std::set<std::string>& texts) : nodes_(1) {
  for (const std::string& text : texts) add(text);
  link();
}

void Automaton::add(std::string_view text) {
  State at = kStart;
  for (const char byte : text) {
    State to = child_of(at, byte);
    if (to == kStart) {
      to = static_cast<State>(nodes_.size());
      Node node;
      node.byte = byte;
      node.depth = static_cast<uint16_t>(nodes_[at].depth + 1);
      node.sibling = nodes_[at].child;
      nodes_.push_back(node);
      nodes_[at].child = to;
      if (at == kStart) first_[static_cast<uint8_t>(byte)] = to;
    }
    at = to;
  }
  nodes_[at].match = static_cast<uint16_t>(text.size());
  longest_ = std::max(longest_, text.size());
  fingerprint_ = hash64(text, fingerprint_) | 1;
}

Automaton::State Automaton::child_of(State state, char byte) const {
  if (state == kStart) return first_[static_cast<uint8_t>(byte)];
  State child = nodes_[state].child;
  while (child != kStart && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

// Level by level: what a node falls back to is shorter, and so is known before it.
void Automaton::link() {
  std::vector<State> level{kStart};
  while (!level.empty()) {
    std::vector<State> below;
    for (const State parent : level) {
      for (State child = nodes_[parent].child; child != kStart; child = nodes_[child].sibling) {
        Node& node = nodes_[child];
        if (parent != kStart) node.fallback = next(nodes_[parent].fallback, node.byte);
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

Automaton::State Automaton::next(State state, char byte) const {
  while (true) {
    if (const State child = child_of(state, byte); child != kStart) return child;
    if (state == kStart) return kStart;
    state = nodes_[state].fallback;
  }
}

void blank(char* bytes, size_t size) {
  for (char* at = bytes; at != bytes + size; ++at) {
    if (*at != '\n') *at = '*';
  }
}

std::string masked(const std::string& text, const Automaton& automaton) {
  std::string out = text;
  Automaton::State state = Automaton::kStart;
  for (size_t i = 0; i < text.size(); ++i) {
    state = automaton.next(state, text[i]);
    if (const size_t length = automaton.match(state); length > 0) blank(out.data() + i + 1 - length, length);
  }
  return out;
}

}  // namespace hodei::worker
