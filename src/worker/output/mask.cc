#include "src/worker/output/mask.h"

#include <algorithm>
#include <utility>

#include "src/base/hash.h"
#include "src/base/utf8.h"
#include "src/worker/output/secret_forms.h"

namespace hodei::worker {
namespace {

// The last `count` bytes before `end`, those that are skipped not counted.
void blank_before(std::string& text, size_t end, size_t count, const Automaton& automaton,
                  const std::string& original) {
  while (end > 0 && count > 0) {
    --end;
    if (automaton.skips(end > 0 ? original[end - 1] : '\0', original[end])) continue;
    blank(&text[end], 1);
    --count;
  }
}

void mask_part(const std::string& text, const Automaton& automaton, TextEnd end, std::string& out) {
  Automaton::State state = Automaton::kStart;
  size_t skipped = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (automaton.skips(i > 0 ? text[i - 1] : '\0', text[i])) {
      if (++skipped > Automaton::kLongestBreak) state = Automaton::kStart;
      continue;
    }
    skipped = 0;
    state = automaton.next(state, text[i]);
    if (const size_t length = automaton.match(state); length > 0) blank_before(out, i + 1, length, automaton, text);
  }
  const size_t open = automaton.open(state);
  if (end == TextEnd::Cut || (end == TextEnd::Ended && open >= kShortestMasked))
    blank_before(out, text.size(), open, automaton, text);
}

}  // namespace

Mask::Mask(std::vector<Automaton> parts) : parts_(std::move(parts)) {
  for (const Automaton& part : parts_) fingerprint_ = mix64(fingerprint_ ^ part.fingerprint()) | 1;
}

void blank(char* bytes, size_t size) {
  for (char* at = bytes; at != bytes + size; ++at) {
    if (*at != '\n') *at = '*';
  }
}

std::string masked(const std::string& text, const Mask& mask, TextEnd end) {
  std::string out = text;
  for (const Automaton& part : mask.parts()) mask_part(text, part, end, out);
  // A long secret is looked for in pieces, and a piece may begin inside of a character.
  if (is_utf8(text) && !is_utf8(out)) {
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '*');
  }
  return out;
}

}  // namespace hodei::worker
