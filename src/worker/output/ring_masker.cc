#include "src/worker/output/ring_masker.h"

#include <algorithm>

#include "src/worker/output/secret_forms.h"

namespace hodei::worker {
namespace {

constexpr uint64_t kUnfinished = UINT64_MAX;  // a mark that is being written

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
      const Span span{const_cast<char*>(chunk->bytes.data()), chunk->bytes.size(), chunk->offset};
      stream.tracks[i].catch_up(mask_->parts()[i], span, stream.before);
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
      stream.tracks[i].blank_held();
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
      if (!track.waits_for_line()) continue;
      // So much of a secret is not there by chance, even if the rest does not come.
      if (mask_->parts()[i].open(track.state) >= kShortestMasked) track.blank_held();
      track.held.clear();
    }
  }
}

MonoTime RingMasker::lets_go_at() const {
  MonoTime next = kNever;
  for (const Stream& stream : streams_) {
    for (const Track& track : stream.tracks) {
      if (track.waits_for_line()) next = std::min(next, stream.last + break_wait_);
    }
  }
  return next;
}

void RingMasker::ended(uint64_t log_bytes) {
  look(MonoTime{0});
  for (Stream& stream : streams_) {
    for (size_t i = 0; i < mask_->parts().size(); ++i) {
      Track& track = stream.tracks[i];
      // It may have been killed in the middle of a secret, or have ended itself there.
      const bool begins_secret = mask_->parts()[i].open(track.state) >= kShortestMasked;
      if (position_ < log_bytes || track.has_rest_of_secret()) track.blank_held();
      if (begins_secret) track.blank_open(mask_->parts()[i]);
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
      track.blank_held();
      track.inside.clear();
    }
  }
}

// All parts look at the bytes as they were printed; only then what they found is masked.
void RingMasker::scan(Stream& stream, Span span, MonoTime now) {
  const size_t count = mask_->parts().size();
  std::vector<Track::Found> found[Mask::kMostParts];
  for (size_t i = 0; i < count; ++i) stream.tracks[i].find(mask_->parts()[i], span, stream.before, found[i]);
  if (span.size > 0) stream.before = span.at[span.size - 1];
  // The first part last: it may mask bytes that the others step over.
  for (size_t i = count; i-- > 0;) {
    for (const Track::Found& each : found[i]) stream.tracks[i].mask_last(mask_->parts()[i], span, each);
  }
  const size_t blind = std::min(stream.blind, span.size);
  blank(span.at, blind);
  stream.blind -= blind;
  for (size_t i = 0; i < count; ++i) stream.tracks[i].keep_last(mask_->parts()[i], span);
  stream.last = now;
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
