// Masks secrets in an execution's output where it lies, in the ring, before anything of it is sent. What is sent again
// after a broken stream, or by the next agent, is masked already, wherever the sending begins.
//
// A secret may be spread over several records with those of the other stream in between, and may not be complete yet.
// So only what lies before safe() may be sent: the bytes behind it could still become part of a secret.
//
// Where output was left out, a secret may be cut in two. Its beginning before the gap and its end behind it are masked
// too.
#pragma once

#include <memory>
#include <vector>

#include "src/worker/output/mask.h"
#include "src/worker/output/mask_track.h"
#include "src/worker/output/ring.h"

namespace hodei::worker {

static_assert(Mask::kMostParts <= kMaskStates);

class RingMasker {
 public:
  // Encoders print their lines at once. What ends in bytes that are skipped, such as white space, and has no more
  // behind it for so long is let go: a line that happens to end like the beginning of a secret in base64 must not wait
  // for the next one.
  static constexpr Duration kBreakWait = 50ms;

  // Goes on where an earlier agent stopped. The memory outlives it.
  RingMasker(RingMemory* ring, std::shared_ptr<const Mask> mask, Duration break_wait = kBreakWait);

  // At output that has come since, up to about `most` bytes. True: there is more.
  bool look(MonoTime now, size_t most = SIZE_MAX);
  // Nothing more will come. What is held back is masked if so much of a secret is not there by chance, or if output was
  // left out behind it.
  void ended(uint64_t log_bytes);
  uint64_t safe() const;  // an offset in the output
  uint64_t seen() const { return position_; }
  MonoTime lets_go_at() const;  // look() may let something go then, also without new output
  // Output that is held back fills the ring, so that its rest can never come: masked as it is, and let go.
  void give_way();

 private:
  using Track = MaskTrack;
  using Span = MaskTrack::Span;
  struct Stream {
    Track tracks[Mask::kMostParts];
    char before = '\0';  // its last byte, as it was printed
    size_t blind = 0;    // so many bytes are masked whatever they are
    MonoTime last{0};    // when bytes came
  };

  void resume();
  void distrust();
  void catch_up(uint64_t until);
  void meet_gap();
  void scan(Stream& stream, Span span, MonoTime now);
  void let_go(MonoTime now);
  void note_progress();

  RingMemory* ring_;
  std::shared_ptr<const Mask> mask_;
  const Duration break_wait_;
  RingReader reader_;
  Stream streams_[2];
  uint64_t position_ = 0;
  size_t next_mark_ = 0;
};

}  // namespace hodei::worker
