#include "src/worker/ring_masker.h"

#include <algorithm>

namespace hodei::worker {
namespace {

constexpr uint64_t kUnfinished = UINT64_MAX;   // a mark that is being written

size_t index_of(OutputStream stream) { return stream == OutputStream::Stderr ? 1 : 0; }

}  // namespace

RingMasker::RingMasker(RingMemory* ring, std::shared_ptr<const Automaton> automaton)
    : ring_(ring), automaton_(std::move(automaton)), reader_(ring) {
  resume();
}

void RingMasker::resume() {
  const MaskMark* newest = nullptr;
  for (const MaskMark& mark : ring_->header().masked) {
    const uint64_t offset = mark.offset.load(std::memory_order_acquire);
    if (mark.automaton == 0 || offset == kUnfinished) continue;
    if (newest == nullptr || offset > newest->offset.load(std::memory_order_relaxed)) newest = &mark;
  }
  if (newest == nullptr) return;
  next_mark_ = newest == &ring_->header().masked[0] ? 1 : 0;
  position_ = newest->offset.load(std::memory_order_relaxed);
  const bool known = newest->automaton == automaton_->fingerprint() && automaton_->knows(newest->states[0]) &&
                     automaton_->knows(newest->states[1]);
  if (!known) return distrust();
  for (size_t i = 0; i < 2; ++i) tracks_[i].state = newest->states[i];
  catch_up(position_);
}

// Another version of the agent looked for other texts: what it held back, and how far into a secret it was, is not known.
void RingMasker::distrust() {
  for (auto chunk = reader_.peek(); chunk && chunk->offset < position_; chunk = reader_.peek()) {
    blank(const_cast<char*>(chunk->bytes.data()), chunk->bytes.size());
    reader_.next();
  }
  for (Track& track : tracks_) track.blind = automaton_->longest();
}

// The records that were looked at already: what is held back lies at their end.
void RingMasker::catch_up(uint64_t until) {
  for (auto chunk = reader_.peek(); chunk && chunk->offset < until; chunk = reader_.peek()) {
    Track& track = tracks_[index_of(chunk->stream)];
    keep_last(track, {const_cast<char*>(chunk->bytes.data()), chunk->bytes.size(), chunk->offset}, automaton_->open(track.state));
    reader_.next();
  }
}

void RingMasker::look() {
  if (reader_.is_behind()) reader_.rewind();
  while (const auto chunk = reader_.peek()) {
    if (chunk->offset != position_) tracks_[0] = tracks_[1] = {};   // what lay between was freed and is never sent
    scan(tracks_[index_of(chunk->stream)], {const_cast<char*>(chunk->bytes.data()), chunk->bytes.size(), chunk->offset});
    position_ = chunk->offset + chunk->bytes.size();
    reader_.next();
    note_progress();
  }
}

void RingMasker::ended() {
  look();
  for (Track& track : tracks_) track.held.clear();
}

uint64_t RingMasker::safe() const {
  uint64_t safe = position_;
  for (const Track& track : tracks_) {
    if (!track.held.empty()) safe = std::min(safe, track.held.front().offset);
  }
  return safe;
}

void RingMasker::give_way() {
  for (Track& track : tracks_) {
    for (const Span& span : track.held) blank(span.at, span.size);
    track.held.clear();
  }
}

void RingMasker::scan(Track& track, Span span) {
  Automaton::State state = track.state;
  const size_t blind = std::min(track.blind, span.size);
  for (size_t i = 0; i < span.size; ++i) {
    if (state == Automaton::kStart && !automaton_->may_begin(span.at[i])) continue;
    state = automaton_->next(state, span.at[i]);
    if (const size_t length = automaton_->match(state); length > 0) mask_last(track, span, i + 1, length);
  }
  track.state = state;
  blank(span.at, blind);
  track.blind -= blind;
  keep_last(track, span, automaton_->open(state));
}

void RingMasker::mask_last(Track& track, const Span& span, size_t end, size_t length) {
  const size_t here = std::min(length, end);
  blank(span.at + end - here, here);
  length -= here;
  for (auto before = track.held.rbegin(); length > 0 && before != track.held.rend(); ++before) {
    const size_t part = std::min(length, before->size);
    blank(before->at + before->size - part, part);
    length -= part;
  }
}

void RingMasker::keep_last(Track& track, Span span, size_t open) {
  if (span.size >= open) {
    track.held.clear();
    const size_t before = span.size - open;
    span = {span.at + before, open, span.offset + before};
  }
  if (span.size > 0) track.held.push_back(span);
  size_t total = 0;
  for (const Span& each : track.held) total += each.size;
  while (total > open) {
    Span& oldest = track.held.front();
    const size_t part = std::min(total - open, oldest.size);
    oldest = {oldest.at + part, oldest.size - part, oldest.offset + part};
    total -= part;
    if (oldest.size == 0) track.held.pop_front();
  }
}

void RingMasker::note_progress() {
  MaskMark& mark = ring_->header().masked[next_mark_];
  mark.offset.store(kUnfinished, std::memory_order_release);
  mark.automaton = automaton_->fingerprint();
  for (size_t i = 0; i < 2; ++i) mark.states[i] = tracks_[i].state;
  mark.offset.store(position_, std::memory_order_release);
  next_mark_ = 1 - next_mark_;
}

}  // namespace hodei::worker
