#include "src/worker/supervisor/execution_input.h"

#include "src/base/text.h"

namespace hodei::worker {

void ExecutionInputs::begin(Running& running) {
  running.input = std::make_unique<InputFeeder>();
  with_input_.insert(running.execution);
}

void ExecutionInputs::take(const protocol::Input& piece) {
  Running* running = table_.find(piece.execution);
  if (running == nullptr || running->input == nullptr) return;
  running->input->add(piece.offset, piece.data, piece.end && !piece.broken);
  if (!piece.broken || running->input->is_done()) return;
  running->input->break_off();
  if (!piece.end) return;
  // The server cannot give it, not even its beginning.
  running->usage.failure = "input_error";
  running->usage.message = "the server refused to send its standard input; the worker's log says why";
}

// A job that has read half of its input may well end with 0.
void ExecutionInputs::note_half_read(Running& running) {
  if (running.input == nullptr || !running.input->is_half_read()) return;
  running.usage.failure = "input_error";
  running.usage.message = cat("its standard input broke off after ", running.input->received(),
                              " bytes: its client has gone away; the results of the job may be incomplete");
}

std::vector<protocol::InputTaken> ExecutionInputs::news() {
  std::vector<protocol::InputTaken> news;
  for (const ExecutionId execution : with_input_) {
    InputFeeder& input = *table_.find(execution)->input;
    if (input.take_news()) news.push_back({execution, input.given(), input.is_closed()});
  }
  return news;
}

const InputFeeder* ExecutionInputs::of(ExecutionId execution) const {
  const Running* running = table_.find(execution);
  return running == nullptr ? nullptr : running->input.get();
}

}  // namespace hodei::worker
