// The two pipes of one execution on their way into its ring, by the rules that the job set for its output.
//
// What is read but not kept is counted, and the ring's offsets go over it: kept and dropped bytes together are what the
// job wrote, exactly. Under `block` a pipe that cannot be kept is not read: the job waits in write().
#pragma once

#include "src/worker/output/output_limit.h"
#include "src/worker/output/ring.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

// The reading end of one of the pipes.
class OutputPipe {
 public:
  void watch(int epoll, uint64_t key);
  void arm();  // unless it waits for something else
  void disarm();
  void close();

  Fd fd;
  OutputStream stream = OutputStream::Stdout;
  bool blocked = false;  // the ring is full
  bool grown = false;
  MonoTime waits_until = kNever;  // for the rate
  uint64_t left = UINT64_MAX;     // bytes that still count

 private:
  int epoll_ = -1;
  uint64_t key_ = 0;
  bool watched_ = false;
};

class OutputReader {
 public:
  OutputReader(RingMemory* ring, const OutputRules& rules, MonoTime start);

  void open(Fd out, Fd err);            // reading ends that do not block
  void watch(int epoll, uint64_t key);  // tells `key` when stdout can be read, the next number for stderr

  // Each says whether there is something new in the ring.
  bool readable(OutputStream stream, Now now);
  bool room_was_made(Now now);  // in the ring
  bool go_on(Now now);          // a wait for the rate may be over
  // Nobody who may write is left: what the pipes hold now is all there will ever be, even if a stranger keeps them
  // open.
  bool drain_rest(Now now);
  // Nobody will ever read the ring again: what does not fit is counted as dropped. After drain_rest.
  void give_up(Now now);

  MonoTime waits_until() const;                                               // go_on() is wanted then
  bool is_blocked() const { return pipes_[0].blocked || pipes_[1].blocked; }  // by a full ring

  uint64_t written() const { return writer_.log_bytes(); }
  uint64_t dropped_bytes() const { return dropped_bytes_; }
  uint64_t dropped_lines() const { return dropped_lines_; }  // newlines among them

 private:
  bool read_some(OutputPipe& pipe, int most_reads, Now now);
  OutputLimit::Step next_step(MonoTime now);
  RingWriter::Fill keep(OutputPipe& pipe, size_t most, WallTime now);
  RingWriter::Fill discard(OutputPipe& pipe);
  bool overflows();

  RingWriter writer_;
  OutputLimit limit_;
  const bool drops_;
  bool gave_up_ = false;
  bool overflowing_ = false;  // dropping since the ring was full
  OutputPipe pipes_[2];
  uint64_t dropped_bytes_ = 0;
  uint64_t dropped_lines_ = 0;
};

}  // namespace hodei::worker
