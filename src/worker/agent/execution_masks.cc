#include "src/worker/agent/execution_masks.h"

#include <optional>
#include <utility>

namespace hodei::worker {

void ExecutionMasks::ask(ExecutionId execution) {
  const auto notes = notes_.find(execution);
  if (notes == notes_.end() || notes->second.secrets.empty()) return;
  if (std::optional<MaskBuilder::SharedMask> mask = builder_.ask(execution, notes->second.secrets)) {
    masks_[execution] = std::move(*mask);
  }
}

std::vector<MaskBuilder::Made> ExecutionMasks::take() {
  std::vector<MaskBuilder::Made> made = builder_.take();
  std::erase_if(made, [this](const MaskBuilder::Made& each) { return !notes_.contains(each.execution); });
  for (const MaskBuilder::Made& each : made) masks_[each.execution] = each.mask;
  return made;
}

bool ExecutionMasks::is_awaited(ExecutionId execution) const {
  const auto notes = notes_.find(execution);
  return notes != notes_.end() && !notes->second.secrets.empty() && !masks_.contains(execution);
}

MaskBuilder::SharedMask ExecutionMasks::of(ExecutionId execution) const {
  const auto mask = masks_.find(execution);
  return mask == masks_.end() ? nullptr : mask->second;
}

bool ExecutionMasks::hides(ExecutionId execution, const std::string& text) const {
  const MaskBuilder::SharedMask mask = of(execution);
  return mask != nullptr && worker::masked(text, *mask) != text;
}

ProgressLine ExecutionMasks::masked(ExecutionId execution, const ProgressLine& progress) const {
  const MaskBuilder::SharedMask mask = of(execution);
  if (mask == nullptr) return progress;
  const TextEnd end = progress.is_cut ? TextEnd::Cut : TextEnd::Whole;
  return {progress.percent, worker::masked(progress.message, *mask, end)};
}

void ExecutionMasks::mask_outputs(ExecutionId execution, RunFacts& facts) const {
  const MaskBuilder::SharedMask mask = of(execution);
  if (mask == nullptr) return;
  // Those that were reported before the mask was made.
  std::erase_if(facts.outputs, [&](const auto& output) { return hides(execution, output.first); });
  for (auto& [key, value] : facts.outputs) value = worker::masked(value, *mask);
}

}  // namespace hodei::worker
