// Masks secrets in an execution's output where it lies, in the ring, before anything of it is sent. What is sent again after
// a broken stream, or by the next agent, is masked already, wherever the sending begins.
//
// A secret may be spread over several records with those of the other stream in between, and may not be complete yet. So
// only what lies before safe() may be sent: the bytes behind it could still become part of a secret.
#pragma once

#include <deque>
#include <memory>

#include "src/worker/automaton.h"
#include "src/worker/ring.h"

namespace hodei::worker {

class RingMasker {
 public:
  // Goes on where an earlier agent stopped. The memory outlives it.
  RingMasker(RingMemory* ring, std::shared_ptr<const Automaton> automaton);

  void look();                 // at all output that has come since
  void ended();                // nothing more will come: what is held back is no secret
  uint64_t safe() const;       // an offset in the output
  // Output that is held back fills the ring, so that its rest can never come: masked as it is, and let go.
  void give_way();

 private:
  struct Span {
    char* at;
    size_t size;
    uint64_t offset;
  };
  struct Track {               // one stream
    Automaton::State state = Automaton::kStart;
    std::deque<Span> held;     // the bytes that could still become part of a secret, oldest first
    size_t blind = 0;          // so many bytes are masked whatever they are
  };

  void resume();
  void distrust();
  void catch_up(uint64_t until);
  void scan(Track& track, Span span);
  void mask_last(Track& track, const Span& span, size_t end, size_t length);
  static void keep_last(Track& track, Span span, size_t open);
  void note_progress();

  RingMemory* ring_;
  std::shared_ptr<const Automaton> automaton_;
  RingReader reader_;
  Track tracks_[2];
  uint64_t position_ = 0;
  size_t next_mark_ = 0;
};

}  // namespace hodei::worker
