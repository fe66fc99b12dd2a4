// A quick look while something is being made faster: submissions and no-op jobs, without peers and rounds. bench/run is
// the whole thing. Plaintext, no authentication, one server on loopback, everything committed to SQLite.
//   bench-throughput [--hodei PATH] [--seconds N]
#include "bench/lib/arguments.h"
#include "bench/lib/noop_jobs.h"
#include "bench/lib/server_process.h"
#include "bench/lib/submissions.h"
#include "src/base/text.h"

namespace hodei::bench {
namespace {

void show(const std::string& what, double value, const char* unit) {
  std::printf("%-58s %12.1f %s\n", what.c_str(), value, unit);
  std::fflush(stdout);
}

int run(const Arguments& arguments) {
  const std::string hodei = arguments.text("hodei", "build/release/hodei");
  const Bound bound{arguments.number("seconds", 5)};
  {
    const ServerProcess server(hodei);
    for (const int n : {64, 256}) {
      show(cat("no-op jobs end to end, ", n, " in flight"), noop_jobs(server.address(), n, 1, bound).per_second(),
           "jobs/s");
    }
    show("no-op jobs end to end, batches of 100, 2000 in flight",
         noop_jobs(server.address(), 2000, 100, bound).per_second(), "jobs/s");
    show("  server memory", static_cast<double>(server.resident_kb()) / 1024, "MiB");
  }
  const ServerProcess server(hodei);
  for (const int n : {1, 32}) {
    show(cat("bare unary echo, ", n, " in flight"), echoes(server.address(), n, bound).per_second(), "calls/s");
  }
  for (const int n : {1, 32, 256}) {
    show(cat("durable submissions, ", n, " in flight"), submissions(server.address(), n, bound).per_second(), "jobs/s");
  }
  show("durable submissions, batches of 1000", batches(server.address(), 1000, bound).per_second(), "jobs/s");
  show("  server memory with these waiting", static_cast<double>(server.resident_kb()) / 1024, "MiB");
  return 0;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) { return hodei::bench::run({argc, argv}); }
