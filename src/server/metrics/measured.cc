#include "src/server/metrics/measured.h"

namespace hodei::server {

absl::Status MeasuredStore::commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) {
  const MonoTime start = clock_.now().mono;
  absl::Status done = store_.commit(writes, epoch, batch);
  metrics_.committed(clock_.now().mono - start, done.ok());
  return done;
}

void MeasuredOutlet::carry_out(const core::Turn& turn, store::Epoch epoch) {
  outlet_.carry_out(turn, epoch);
  for (const core::Effect& effect : turn.effects) {
    if (const auto* moved = std::get_if<core::JobMoved>(&effect)) metrics_.moved(*moved->job, moved->first);
    if (std::holds_alternative<core::ExecutionLost>(effect)) metrics_.execution_lost();
  }
}

}  // namespace hodei::server
