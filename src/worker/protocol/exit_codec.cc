#include "src/worker/protocol/exit_codec.h"

namespace hodei::worker {

void put(Encoder& out, ExecutionId id) { out.u64(number(id.job)).u64(id.number); }

ExecutionId get_execution(Decoder& in) {
  const JobId job{in.u64()};
  return {job, static_cast<uint32_t>(in.u64())};
}

void put(Encoder& out, const Exit& exit) {
  put(out, exit.execution);
  out.u64(static_cast<uint64_t>(exit.outcome)).i64(exit.exit_code).i64(exit.signal);
  out.text(exit.failure).text(exit.message).i64(exit.started.us).i64(exit.ended.us);
  out.i64(exit.log_bytes);
  put(out, exit.facts);
}

Exit get_exit(Decoder& in) {
  Exit exit;
  exit.execution = get_execution(in);
  exit.outcome = static_cast<Outcome>(in.u64());
  exit.exit_code = static_cast<int>(in.i64());
  exit.signal = static_cast<int>(in.i64());
  exit.failure = in.text();
  exit.message = in.text();
  exit.started.us = in.i64();
  exit.ended.us = in.i64();
  exit.log_bytes = in.i64();
  exit.facts = get_run_facts(in);
  return exit;
}

}  // namespace hodei::worker
