// The agent's side of secrets: the mask of each execution that was given some, and what goes through it.
#include "src/worker/agent.h"

namespace hodei::worker {

void Agent::ask_mask(ExecutionId execution) {
  const auto kept = kept_.find(execution);
  if (kept == kept_.end() || kept->second.secrets.empty()) return;
  if (std::optional<MaskBuilder::SharedMask> mask = mask_builder_.ask(execution, kept->second.secrets)) {
    masks_[execution] = std::move(*mask);
  }
}

void Agent::hear_masks() {
  for (MaskBuilder::Made& made : mask_builder_.take()) {
    if (!session_.holds(made.execution)) continue;
    pump_.set_mask(made.execution, made.mask);
    masks_[made.execution] = std::move(made.mask);
  }
}

void Agent::follow_output(ExecutionId execution, RingMemory* ring) {
  const auto kept = kept_.find(execution);
  if (kept == kept_.end() || kept->second.secrets.empty()) return pump_.add(execution, ring);
  const auto mask = masks_.find(execution);
  if (mask == masks_.end()) pump_.await_mask(execution);
  pump_.add(execution, ring, mask == masks_.end() ? nullptr : mask->second);
}

bool Agent::holds_secret(ExecutionId execution, const std::string& text) const {
  const auto mask = masks_.find(execution);
  return mask != masks_.end() && mask->second != nullptr && masked(text, *mask->second) != text;
}

void Agent::mask_outputs(ExecutionId execution, RunFacts& facts) const {
  const auto mask = masks_.find(execution);
  if (mask == masks_.end() || mask->second == nullptr) return;
  // Those that were reported before the mask was made.
  std::erase_if(facts.outputs, [&](const auto& output) { return holds_secret(execution, output.first); });
  for (auto& [key, value] : facts.outputs) value = masked(value, *mask->second);
}

}  // namespace hodei::worker
