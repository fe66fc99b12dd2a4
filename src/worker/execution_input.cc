// Standard input of executions, as the supervisor holds it.
#include "src/base/text.h"
#include "src/worker/execution_host.h"

namespace hodei::worker {

void ExecutionHost::take_input(const protocol::Input& piece) {
  Running* running = find(piece.execution);
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
void ExecutionHost::note_half_read(Running& running) {
  if (running.input == nullptr || !running.input->is_half_read()) return;
  running.usage.failure = "input_error";
  running.usage.message = cat("its standard input broke off after ", running.input->received(),
                              " bytes: its client has gone away; the results of the job may be incomplete");
}

std::vector<protocol::InputTaken> ExecutionHost::input_news() {
  std::vector<protocol::InputTaken> news;
  for (const ExecutionId execution : with_input_) {
    InputFeeder& input = *find(execution)->input;
    if (input.take_news()) news.push_back({execution, input.given(), input.is_closed()});
  }
  return news;
}

const InputFeeder* ExecutionHost::input_of(ExecutionId execution) const {
  const auto it = running_.find(execution);
  return it == running_.end() ? nullptr : it->second->input.get();
}

}  // namespace hodei::worker
