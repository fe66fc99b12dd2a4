// One stream of an execution's output, as one part of its mask reads it: how far into a secret it may be, and the bytes
// that are held back because of it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "src/worker/output/automaton.h"

namespace hodei::worker {

struct MaskTrack {
  // The rest of a secret behind a gap is masked if it has so many bytes: fewer say little, and are often there by
  // chance.
  static constexpr size_t kLeastRest = 3;

  // Bytes of the ring.
  struct Span {
    char* at;
    size_t size;
    uint64_t offset;  // in the output
  };
  struct Found {
    size_t end;     // in the span that is looked at
    size_t length;  // bytes that are not skipped
  };

  // What ends in the span; `before` is the byte in front of it. Nothing is masked yet.
  void find(const Automaton& part, const Span& span, char before, std::vector<Found>& out);
  void mask_last(const Automaton& part, const Span& span, const Found& found) const;
  // Of what was held back and the span behind it, the bytes that could still become part of a secret.
  void keep_last(const Automaton& part, Span span);
  // Counts the bytes of a span that were looked at before.
  void catch_up(const Automaton& part, const Span& span, char before);
  void blank_held();
  // What is skipped stays, as in a secret that is there as a whole.
  void blank_open(const Automaton& part) const;
  bool waits_for_line() const { return skipped > 0 && !held.empty() && inside.empty(); }
  bool has_rest_of_secret() const { return !inside.empty() && since_gap >= kLeastRest; }

  Automaton::State state = Automaton::kStart;
  std::deque<Span> held;                 // the bytes that could still become part of a secret, oldest first
  size_t skipped = 0;                    // bytes since the last that counted
  bool after_gap = false;                // output before the next byte was left out: a secret may go on here
  std::vector<Automaton::State> inside;  // behind a gap: where in a secret it may be; empty: in none
  size_t since_gap = 0;                  // bytes that counted, while inside

 private:
  void look_behind_gap(const Automaton& part, const Span& span, size_t at, std::vector<Found>& out);
};

}  // namespace hodei::worker
