// One measurement of a server that is already there, as a line of JSON. bench/run puts them together.
//   bench-load COMMAND --server HOST:PORT [--seconds N] [--most N] …
#include "bench/lib/arguments.h"
#include "bench/lib/exec_jobs.h"
#include "bench/lib/facts.h"
#include "bench/lib/job_output.h"
#include "bench/lib/live_jobs.h"
#include "bench/lib/noop_jobs.h"
#include "bench/lib/quantiles.h"
#include "bench/lib/submissions.h"

namespace hodei::bench {
namespace {

constexpr const char* kUsage = R"(usage: bench-load COMMAND --server HOST:PORT [--seconds N] [--most N] …
  echo          calls that nothing is done for                --in-flight N
  submit        durable submissions                           --in-flight N
  batch         durable submissions, many per call            --size N
  noop          jobs through a worker that starts no process  --in-flight N --batch N
  noop-latency  from the call to such a worker                --rate N (per second; 0: idle)
  drain         ends all that waits, through such a worker
  exec          jobs through the real worker                  --in-flight N --command PATH [--limits 1]
  exec-latency  from the call to the child's main()           --rate N --stamp PROGRAM --file PATH
  logs          the output of one job to a subscriber         --program PATH --lines N
)";

// A measurement in which nothing ended, or something failed, is none.
int tell(const Rate& rate) {
  Facts facts;
  facts.add("per_s", rate.per_second())
      .add("count", rate.count)
      .add("failed", rate.failed)
      .add("seconds", rate.seconds);
  if (rate.longest_pause > 0) facts.add("longest_pause_ms", 1000 * rate.longest_pause);
  facts.print();
  return rate.failed == 0 && rate.count > 0 ? 0 : 1;
}

int tell(std::vector<int64_t> latencies) {
  Facts facts;
  Quantiles(std::move(latencies)).add_to(facts);
  facts.print();
  return 0;
}

int tell(const Output& output) {
  Facts()
      .add("lines_per_s", static_cast<double>(output.lines) / output.seconds)
      .add("mb_per_s", static_cast<double>(output.bytes) / output.seconds / 1e6)
      .add("lines", output.lines)
      .add("pieces", output.pieces)
      .add("bytes", output.bytes)
      .add("gaps", output.gaps)
      .add("seconds", output.seconds)
      .print();
  return output.gaps == 0 ? 0 : 1;
}

v1::JobSpec exec_spec(const Arguments& arguments) {
  v1::JobSpec spec;
  spec.set_name("exec");
  spec.mutable_command()->mutable_shell()->set_cmd(arguments.text("command", "/bin/true"));
  if (arguments.whole("limits", 0) != 0) {
    // Small enough for many at once on few cores, large enough that none of them is ever in the way.
    spec.mutable_resources()->set_cpu_cores(0.03);
    spec.mutable_resources()->set_memory_mb(16);
    spec.mutable_resources()->set_pids(64);
  }
  return spec;
}

int run(const Arguments& arguments) {
  const std::string& command = arguments.command();
  const std::string server = arguments.text("server");
  const Bound bound{arguments.number("seconds", 3), static_cast<int64_t>(arguments.number("most", 5e6))};
  const int in_flight = arguments.whole("in-flight", 64);
  const double rate = arguments.number("rate", 0);
  if (server.empty()) return std::fputs(kUsage, stderr), 2;
  if (command == "echo") return tell(echoes(server, in_flight, bound));
  if (command == "submit") return tell(submissions(server, in_flight, bound));
  if (command == "batch") return tell(batches(server, arguments.whole("size", 1000), bound));
  if (command == "noop") return tell(noop_jobs(server, in_flight, arguments.whole("batch", 1), bound));
  if (command == "noop-latency") return tell(noop_latencies(server, rate, bound));
  if (command == "drain") {
    Facts().add("count", drain(server, arguments.number("seconds", 120)).count).print();
    return 0;
  }
  if (command == "exec") return tell(exec_jobs(server, exec_spec(arguments), in_flight, bound));
  if (command == "exec-latency") {
    return tell(exec_latencies(server, arguments.text("stamp"), arguments.text("file"), rate, bound));
  }
  if (command == "logs") {
    return tell(job_output(server, arguments.text("program"), static_cast<int64_t>(arguments.number("lines", 1000))));
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) { return hodei::bench::run({argc, argv}); }
