#include "src/worker/output/mask_track.h"

#include <algorithm>
#include <utility>

#include "src/worker/output/mask.h"

namespace hodei::worker {
namespace {

// The byte in front of the span at `place`. What is held begins with a byte that counts, so none stands before it that
// would change that.
char last_before(const std::deque<MaskTrack::Span>& held, size_t place) {
  if (place == 0 || held[place - 1].size == 0) return '\0';
  return held[place - 1].at[held[place - 1].size - 1];
}

}  // namespace

void MaskTrack::blank_held() {
  for (const Span& span : held) blank(span.at, span.size);
  held.clear();
}

void MaskTrack::blank_open(const Automaton& part) const {
  char before = '\0';
  for (const Span& span : held) {
    for (char* at = span.at; at != span.at + span.size; ++at) {
      const char byte = *at;
      if (!part.skips(before, byte)) blank(at, 1);
      before = byte;
    }
  }
}

void MaskTrack::find(const Automaton& part, const Span& span, char before, std::vector<Found>& out) {
  Automaton::State here = state;
  size_t passed = skipped;
  for (size_t i = 0; i < span.size; ++i) {
    if (here == Automaton::kStart && !after_gap && inside.empty()) {
      // Nearly all bytes of nearly all output.
      while (i + 1 < span.size && !part.may_begin(span.at[i], span.at[i + 1])) ++i;
    }
    const char byte = span.at[i];
    if (part.skips(i > 0 ? span.at[i - 1] : before, byte)) {
      if (++passed > Automaton::kLongestBreak) here = Automaton::kStart;
      continue;
    }
    passed = 0;
    if (after_gap || !inside.empty()) look_behind_gap(part, span, i, out);
    here = part.next(here, byte);
    if (const size_t length = part.match(here); length > 0) out.push_back({i + 1, length});
  }
  state = here;
  skipped = passed;
}

void MaskTrack::look_behind_gap(const Automaton& part, const Span& span, size_t at, std::vector<Found>& out) {
  if (std::exchange(after_gap, false)) {
    inside = part.somewhere_inside(span.at[at]);
    since_gap = 1;
  } else {
    part.step_inside(inside, span.at[at]);
    ++since_gap;
  }
  const bool is_end = std::any_of(inside.begin(), inside.end(), [&](auto each) { return part.ends_text(each); });
  if (is_end && since_gap >= kLeastRest) out.push_back({at + 1, since_gap});
}

void MaskTrack::mask_last(const Automaton& part, const Span& span, const Found& found) const {
  size_t left = found.length;
  const auto mask_in = [&](char* at, size_t end, char before) {
    while (end > 0 && left > 0) {
      --end;
      if (part.skips(end > 0 ? at[end - 1] : before, at[end])) continue;
      blank(at + end, 1);
      --left;
    }
  };
  mask_in(span.at, found.end, last_before(held, held.size()));
  for (size_t i = held.size(); left > 0 && i-- > 0;) mask_in(held[i].at, held[i].size, last_before(held, i));
}

void MaskTrack::keep_last(const Automaton& part, Span span) {
  const size_t open = std::max(part.open(state), inside.empty() ? 0 : since_gap);
  if (open == 0) return held.clear();
  held.push_back(span);
  size_t counted = 0;
  for (size_t i = held.size(); i-- > 0;) {
    Span& each = held[i];
    const char before = last_before(held, i);
    for (size_t at = each.size; at-- > 0;) {
      if (part.skips(at > 0 ? each.at[at - 1] : before, each.at[at]) || ++counted < open) continue;
      each = {each.at + at, each.size - at, each.offset + at};
      held.erase(held.begin(), held.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
}

void MaskTrack::catch_up(const Automaton& part, const Span& span, char before) {
  for (size_t i = 0; i < span.size; ++i) {
    skipped = part.skips(before, span.at[i]) ? skipped + 1 : 0;
    before = span.at[i];
  }
  keep_last(part, span);
}

}  // namespace hodei::worker
