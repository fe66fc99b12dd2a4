#include "tests/sim/output_pipe.h"

namespace hodei::sim {

OutputPipe::OutputPipe(World& world, Outputs& outputs, ExecutionId execution, size_t ring_bytes)
    : world_(world),
      outputs_(outputs),
      execution_(execution),
      ring_(*worker::RingMemory::create(std::max(ring_bytes, kRing))),
      writer_(&ring_) {
  ring_.close_fd();
}

void OutputPipe::print(std::string bytes) {
  waiting_.push_back(std::move(bytes));
  room_was_made();
}

void OutputPipe::room_was_made() {
  while (!waiting_.empty()) {
    const auto stream = waiting_.front().size() % 3 == 0 ? worker::OutputStream::Stderr : worker::OutputStream::Stdout;
    if (!writer_.append(stream, world_.now().wall, waiting_.front())) {
      ring_.header().starved.store(1);
      return;
    }
    outputs_.printed(execution_, waiting_.front());
    waiting_.pop_front();
  }
}

void OutputPipe::leave_out(const std::string& bytes) {
  if (!waiting_.empty()) return;  // it waits in write()
  outputs_.printed(execution_, bytes);
  outputs_.dropped(execution_, bytes.size());
  writer_.skip(bytes.size());
}

void OutputPipe::give_up() {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    outputs_.printed(execution_, waiting_.front());
    outputs_.dropped(execution_, waiting_.front().size());
    writer_.skip(waiting_.front().size());
  }
}

}  // namespace hodei::sim
