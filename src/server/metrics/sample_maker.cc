#include "src/server/metrics/sample_maker.h"

#include <algorithm>

namespace hodei::server {
namespace {

// Per second. A machine that started anew counts from zero again: nothing can be said about that moment.
double rate(int64_t now, int64_t before, Duration between) {
  if (now < before || before < 0 || between <= Duration(0)) return 0;
  return static_cast<double>(now - before) / (static_cast<double>(between.count()) / 1e6);
}

}  // namespace

std::vector<store::MetricSample> SampleMaker::make(const Beat& beat) {
  std::vector<store::MetricSample> out;
  const auto [entry, is_new] = known_.try_emplace(beat.worker);
  Known& known = entry->second;
  store::MetricSample whole;
  whole.at = beat.at.wall;
  whole.worker = beat.worker;
  whole.cpu = beat.cpu_load;
  whole.memory_bytes = beat.memory_bytes;
  if (!is_new) {
    const Duration between = beat.at.mono - known.last.at.mono;
    whole.network_rx = rate(beat.network_rx_bytes, known.last.network_rx_bytes, between);
    whole.network_tx = rate(beat.network_tx_bytes, known.last.network_tx_bytes, between);
    whole.disk_read = rate(beat.disk_read_bytes, known.last.disk_read_bytes, between);
    whole.disk_write = rate(beat.disk_write_bytes, known.last.disk_write_bytes, between);
  }
  out.push_back(whole);

  std::map<ExecutionId, Reading> readings;
  for (const Beat::Execution& e : beat.executions) {
    const auto before = known.executions.find(e.id);
    const bool seen = before != known.executions.end();
    if (seen && before->second.values == e && beat.at.mono - before->second.at < kSameReading) {
      readings.insert(*before);
      continue;
    }
    readings[e.id] = {beat.at.mono, e};
    store::MetricSample sample;
    sample.at = beat.at.wall;
    sample.worker = beat.worker;
    sample.job = e.id.job;
    sample.memory_bytes = e.memory_bytes;
    if (seen) {
      const Reading& last = before->second;
      const Duration between = beat.at.mono - last.at;
      sample.cpu = rate(e.cpu_ms, last.values.cpu_ms, between) / 1000;
      sample.disk_read = rate(e.read_bytes, last.values.read_bytes, between);
      sample.disk_write = rate(e.write_bytes, last.values.write_bytes, between);
    }
    out.push_back(sample);
  }
  known.executions = std::move(readings);
  known.last = beat;
  known.last.executions.clear();
  return out;
}

void SampleMaker::forget_silent(MonoTime now) {
  std::erase_if(known_, [now](const auto& entry) { return now - entry.second.last.at.mono > kForget; });
}

}  // namespace hodei::server
