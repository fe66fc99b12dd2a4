#include "src/worker/ring_masker.h"

#include <algorithm>

#include "src/worker/secret_forms.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kUnfinished = UINT64_MAX;  // a mark that is being written
// The rest of a secret behind a gap is masked if it has so many bytes: fewer say little, and are often there by chance.
constexpr size_t kLeastRest = 3;

size_t index_of(OutputStream stream) { return stream == OutputStream::Stderr ? 1 : 0; }

}  // namespace

RingMasker::RingMasker(RingMemory* ring, std::shared_ptr<const Mask> mask, Duration break_wait)
    : ring_(ring), mask_(std::move(mask)), break_wait_(break_wait), reader_(ring) {
  resume();
}

void RingMasker::resume() {
  const RingHeader& header = ring_->header();
  const MaskMark* newest = nullptr;
  for (const MaskMark& mark : header.masked) {
    const uint64_t offset = mark.offset.load(std::memory_order_acquire);
    if (mark.automaton == 0 || offset == kUnfinished) continue;
    if (newest == nullptr || offset > newest->offset.load(std::memory_order_relaxed)) newest = &mark;
  }
  if (newest == nullptr) return;
  const size_t place = newest == &header.masked[0] ? 0 : 1;
  next_mark_ = 1 - place;
  position_ = newest->offset.load(std::memory_order_relaxed);
  bool known = newest->automaton == mask_->fingerprint();
  for (size_t i = 0; known && i < 2; ++i) {
    for (size_t part = 0; part < mask_->parts().size(); ++part) {
      const Automaton::State state = header.mask_states[place][i][part];
      known = known && mask_->parts()[part].knows(state);
      streams_[i].tracks[part].state = state;
    }
  }
  if (!known) return distrust();
  catch_up(position_);
}

// Another version of the agent looked for other texts: what it held back, and how far into a secret it was, is not
// known.
void RingMasker::distrust() {
  for (auto chunk = reader_.peek(); chunk && chunk->offset < position_; chunk = reader_.peek()) {
    blank(const_cast<char*>(chunk->bytes.data()), chunk->bytes.size());
    reader_.next();
  }
  for (Stream& stream : streams_) {
    for (Track& track : stream.tracks) track = {};
    for (const Automaton& part : mask_->parts()) stream.blind = std::max(stream.blind, part.longest());
  }
}

// The records that were looked at already: what is held back lies at their end.
void RingMasker::catch_up(uint64_t until) {
  for (auto chunk = reader_.peek(); chunk && chunk->offset < until; chunk = reader_.peek()) {
    Stream& stream = streams_[index_of(chunk->stream)];
    for (size_t i = 0; i < mask_->parts().size(); ++i) {
      const Automaton& part = mask_->parts()[i];
      Track& track = stream.tracks[i];
      char before = stream.before;
      for (const char byte : chunk->bytes) {
        track.skipped = part.skips(before, byte) ? track.skipped + 1 : 0;
        before = byte;
      }
      keep_last(track, part, {const_cast<char*>(chunk->bytes.data()), chunk->bytes.size(), chunk->offset});
    }
    if (!chunk->bytes.empty()) stream.before = chunk->bytes.back();
    reader_.next();
  }
}

bool RingMasker::look(MonoTime now, size_t most) {
  if (reader_.is_behind()) reader_.rewind();
  size_t seen = 0;
  bool more = false;
  while (const auto chunk = reader_.peek()) {
    if (seen >= most) {
      more = true;
      break;
    }
    if (chunk->offset != position_) meet_gap();  // what lay between was left out, or freed, and is never sent
    scan(streams_[index_of(chunk->stream)],
         {const_cast<char*>(chunk->bytes.data()), chunk->bytes.size(), chunk->offset}, now);
    position_ = chunk->offset + chunk->bytes.size();
    seen += chunk->bytes.size();
    reader_.next();
    note_progress();
  }
  let_go(now);
  return more;
}

void RingMasker::meet_gap() {
  for (Stream& stream : streams_) {
    stream.before = '\0';
    for (size_t i = 0; i < mask_->parts().size(); ++i) {
      blank_held(stream.tracks[i]);
      stream.tracks[i] = {};
      stream.tracks[i].after_gap = true;
    }
  }
}

void RingMasker::let_go(MonoTime now) {
  for (Stream& stream : streams_) {
    if (now < stream.last + break_wait_) continue;
    for (size_t i = 0; i < mask_->parts().size(); ++i) {
      Track& track = stream.tracks[i];
      if (!waits_for_line(track)) continue;
      // So much of a secret is not there by chance, even if the rest does not come.
      if (mask_->parts()[i].open(track.state) >= kShortestMasked) blank_held(track);
      track.held.clear();
    }
  }
}

MonoTime RingMasker::lets_go_at() const {
  MonoTime next = kNever;
  for (const Stream& stream : streams_) {
    for (const Track& track : stream.tracks) {
      if (waits_for_line(track)) next = std::min(next, stream.last + break_wait_);
    }
  }
  return next;
}

void RingMasker::ended(uint64_t log_bytes) {
  look(MonoTime{0});
  for (Stream& stream : streams_) {
    for (size_t i = 0; i < mask_->parts().size(); ++i) {
      Track& track = stream.tracks[i];
      const bool rest_of_secret = !track.inside.empty() && track.since_gap >= kLeastRest;
      // It may have been killed in the middle of a secret, or have ended itself there.
      const bool begins_secret = mask_->parts()[i].open(track.state) >= kShortestMasked;
      if (position_ < log_bytes || rest_of_secret) blank_held(track);
      if (begins_secret) blank_open(track, mask_->parts()[i]);
      track.held.clear();
    }
  }
}

uint64_t RingMasker::safe() const {
  uint64_t safe = position_;
  for (const Stream& stream : streams_) {
    for (const Track& track : stream.tracks) {
      if (!track.held.empty()) safe = std::min(safe, track.held.front().offset);
    }
  }
  return safe;
}

void RingMasker::give_way() {
  for (Stream& stream : streams_) {
    for (Track& track : stream.tracks) {
      blank_held(track);
      track.inside.clear();
    }
  }
}

void RingMasker::blank_held(Track& track) {
  for (const Span& span : track.held) blank(span.at, span.size);
  track.held.clear();
}

// What is skipped stays, as in a secret that is there as a whole.
void RingMasker::blank_open(const Track& track, const Automaton& part) {
  char before = '\0';
  for (const Span& span : track.held) {
    for (char* at = span.at; at != span.at + span.size; ++at) {
      const char byte = *at;
      if (!part.skips(before, byte)) blank(at, 1);
      before = byte;
    }
  }
}

// All parts look at the bytes as they were printed; only then what they found is masked.
void RingMasker::scan(Stream& stream, Span span, MonoTime now) {
  const size_t count = mask_->parts().size();
  std::vector<Found> found[Mask::kMostParts];
  for (size_t i = 0; i < count; ++i) find(stream.tracks[i], mask_->parts()[i], span, stream.before, found[i]);
  if (span.size > 0) stream.before = span.at[span.size - 1];
  // The first part last: it may mask bytes that the others step over.
  for (size_t i = count; i-- > 0;) {
    for (const Found& each : found[i]) mask_last(stream.tracks[i], mask_->parts()[i], span, each);
  }
  const size_t blind = std::min(stream.blind, span.size);
  blank(span.at, blind);
  stream.blind -= blind;
  for (size_t i = 0; i < count; ++i) keep_last(stream.tracks[i], mask_->parts()[i], span);
  stream.last = now;
}

void RingMasker::find(Track& track, const Automaton& part, const Span& span, char before, std::vector<Found>& out) {
  Automaton::State state = track.state;
  size_t skipped = track.skipped;
  for (size_t i = 0; i < span.size; ++i) {
    if (state == Automaton::kStart && !track.after_gap && track.inside.empty()) {
      // Nearly all bytes of nearly all output.
      while (i + 1 < span.size && !part.may_begin(span.at[i], span.at[i + 1])) ++i;
    }
    const char byte = span.at[i];
    if (part.skips(i > 0 ? span.at[i - 1] : before, byte)) {
      if (++skipped > Automaton::kLongestBreak) state = Automaton::kStart;
      continue;
    }
    skipped = 0;
    if (track.after_gap || !track.inside.empty()) look_behind_gap(track, part, span, i, out);
    state = part.next(state, byte);
    if (const size_t length = part.match(state); length > 0) out.push_back({i + 1, length});
  }
  track.state = state;
  track.skipped = skipped;
}

void RingMasker::look_behind_gap(Track& track, const Automaton& part, const Span& span, size_t at,
                                 std::vector<Found>& out) {
  if (std::exchange(track.after_gap, false)) {
    track.inside = part.somewhere_inside(span.at[at]);
    track.since_gap = 1;
  } else {
    part.step_inside(track.inside, span.at[at]);
    ++track.since_gap;
  }
  const bool is_end =
      std::any_of(track.inside.begin(), track.inside.end(), [&](auto state) { return part.ends_text(state); });
  if (is_end && track.since_gap >= kLeastRest) out.push_back({at + 1, track.since_gap});
}

// The byte in front of the span at `place`. What is held begins with a byte that counts, so none stands before it that
// would change that.
char RingMasker::last_before(const std::deque<Span>& held, size_t place) {
  if (place == 0 || held[place - 1].size == 0) return '\0';
  return held[place - 1].at[held[place - 1].size - 1];
}

void RingMasker::mask_last(Track& track, const Automaton& part, const Span& span, const Found& found) {
  size_t left = found.length;
  const auto mask_in = [&](char* at, size_t end, char before) {
    while (end > 0 && left > 0) {
      --end;
      if (part.skips(end > 0 ? at[end - 1] : before, at[end])) continue;
      blank(at + end, 1);
      --left;
    }
  };
  mask_in(span.at, found.end, last_before(track.held, track.held.size()));
  for (size_t i = track.held.size(); left > 0 && i-- > 0;)
    mask_in(track.held[i].at, track.held[i].size, last_before(track.held, i));
}

// Of what was held back and the span behind it, the bytes that could still become part of a secret.
void RingMasker::keep_last(Track& track, const Automaton& part, Span span) {
  const size_t open = std::max(part.open(track.state), track.inside.empty() ? 0 : track.since_gap);
  if (open == 0) return track.held.clear();
  track.held.push_back(span);
  size_t counted = 0;
  for (size_t i = track.held.size(); i-- > 0;) {
    Span& each = track.held[i];
    const char before = last_before(track.held, i);
    for (size_t at = each.size; at-- > 0;) {
      if (part.skips(at > 0 ? each.at[at - 1] : before, each.at[at]) || ++counted < open) continue;
      each = {each.at + at, each.size - at, each.offset + at};
      track.held.erase(track.held.begin(), track.held.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }
}

// Behind a gap nothing is noted until it is clear whether a secret goes on there: a successor begins at the gap again.
void RingMasker::note_progress() {
  for (const Stream& stream : streams_) {
    for (const Track& track : stream.tracks) {
      if (!track.inside.empty()) return;
    }
  }
  RingHeader& header = ring_->header();
  MaskMark& mark = header.masked[next_mark_];
  mark.offset.store(kUnfinished, std::memory_order_release);
  mark.automaton = mask_->fingerprint();
  for (size_t i = 0; i < 2; ++i) {
    for (size_t part = 0; part < mask_->parts().size(); ++part) {
      header.mask_states[next_mark_][i][part] = streams_[i].tracks[part].state;
    }
  }
  mark.offset.store(position_, std::memory_order_release);
  next_mark_ = 1 - next_mark_;
}

}  // namespace hodei::worker
