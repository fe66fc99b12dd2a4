#include "src/main/serve.h"

#include <unistd.h>

#include <algorithm>
#include <future>

#include "src/api/grpc/host.h"
#include "src/api/http/http_host.h"
#include "src/api/http/observability.h"
#include "src/base/core_dumps.h"
#include "src/base/journal.h"
#include "src/base/printable.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/base/version.h"
#include "src/main/built_in_providers.h"
#include "src/main/dev_worker.h"
#include "src/main/process_signals.h"
#include "src/server/provisioning/worker_terms.h"
#include "src/server/server.h"

namespace hodei {
namespace {

constexpr int kCannotStart = 1;
constexpr Duration kEndWorkers = 10s;
constexpr Duration kPastGrace = 15s;  // for jobs that were told to end, and for their last output

// Words for the person at the terminal; what happens later goes to the journal.
void say(const std::string& line) { fmt::print(stderr, "hodei: {}\n", printable_lines(line)); }

int refuse(const absl::Status& why) {
  say(cat("error: ", std::string(why.message())));
  return kCannotStart;
}

size_t usual_queue_memory(const core::EngineConfig& usual) {
  const auto machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return std::min(usual.max_job_bytes, machine / 2);
}

server::ServerOptions server_options(const cli::ServerOptions& in) {
  server::ServerOptions out;
  out.data_dir = in.data_dir;
  if (in.log_retention_age > Duration(0)) out.log_retention.max_age = in.log_retention_age;
  if (in.metrics_retention_age > Duration(0)) out.metrics_retention = in.metrics_retention_age;
  out.otlp_endpoint = in.otlp_endpoint;
  out.worker_binary = find_worker_binary();
  if (in.log_retention_bytes > 0) out.log_retention.max_bytes = in.log_retention_bytes;
  out.engine.audit_life = in.audit_retention_age;
  out.job_retention = {in.job_retention_age, in.job_retention_count};
  out.engine.max_job_bytes =
      in.queue_memory > 0 ? static_cast<size_t>(in.queue_memory) : usual_queue_memory(out.engine);
  out.secret_key = in.secret_key;
  out.secret_key_file = in.secret_key_file;
  if (in.artifact_retention_age > Duration(0)) out.artifacts.max_age = in.artifact_retention_age;
  if (in.artifact_store_bytes > 0) out.artifacts.max_bytes = in.artifact_store_bytes;
  // Safe however long it is: a worker ends what it runs when its lease ends, and only later is that given to others.
  out.engine.unhealthy_after = in.lease;
  out.engine.lost_after = in.lease * 3 / 2;
  out.engine.registration_limit = in.registration_limit;
  out.engine.otp_life = in.otp_life;
  return out;
}

// Makes a one-time token from inside the server, as CreateOtp does from outside.
absl::StatusOr<std::string> make_token(server::Server& server, const std::string& worker) {
  std::promise<absl::Status> made;
  const std::string token = random_uuid();
  server.loop().post(core::MakeOtp{secret_hash(token), WorkerId(worker), "server"},
                     [&made](absl::StatusOr<core::Reply> reply) { made.set_value(reply.status()); });
  RETURN_IF_ERROR(made.get_future().get());
  return token;
}

struct Running {
  std::unique_ptr<server::Server> server;
  std::unique_ptr<api::GrpcHost> host;
  std::unique_ptr<api::HttpHost> http;  // null: off
};

// A port that nobody asked for may be in use by anything: then the server does without.
absl::StatusOr<std::unique_ptr<api::HttpHost>> open_http(const cli::ServerOptions& options, server::Server& server) {
  if (!options.http_listen) return nullptr;
  api::Router router;
  api::add_observability(router, server);
  auto host = api::HttpHost::open(options.http_listen->host, options.http_listen->port, std::move(router));
  if (host.ok())
    say(cat("metrics on http://", to_string(cli::Address{options.http_listen->host, (*host)->port()}), "/metrics"));
  if (host.ok() || options.http_was_chosen) return host;
  say(cat("warning: ", std::string(host.status().message()), "; going on without HTTP"));
  return nullptr;
}

// Workers find the server where it listens, also when the port was chosen by the machine.
std::string address_for_workers(const cli::ServerOptions& options, int port) {
  if (!options.advertise.empty()) return options.advertise;
  return server::reachable(to_string(cli::Address{options.listen.host, port}));
}

absl::StatusOr<Running> open(const cli::ServerOptions& options, bool is_dev,
                             std::function<api::LocalWorker()> local_worker) {
  ASSIGN_OR_RETURN(const Level level, parse_level(options.log_level.empty() ? "info" : options.log_level));
  set_journal_level(level);
  Running out;
  ASSIGN_OR_RETURN(out.server, server::Server::open(server_options(options)));
  RETURN_IF_ERROR(out.server->start());
  ASSIGN_OR_RETURN(out.host, api::GrpcHost::open(*out.server, to_string(options.listen), std::move(local_worker)));
  const auto open_door = [host = out.host.get()](const std::string& address) {
    return host->open_worker_door(address);
  };
  RETURN_IF_ERROR(out.server->start_providers(address_for_workers(options, out.host->port()),
                                              built_in_providers(options, is_dev), open_door));
  ASSIGN_OR_RETURN(out.http, open_http(options, *out.server));
  if (!cli::is_loopback(options.listen)) {
    say(cat(
        "warning: listening on ", to_string(options.listen),
        ", which is not loopback: whoever reaches this address may run commands here; client authentication and TLS "
        "are not part of this version"));
  }
  return out;
}

// Once a second until a stop signal comes or the store is lost to another server.
void run_until_stopped(Running& running, StopSignals& signals, const std::function<void()>& each_second) {
  while (!signals.wait(1s)) {
    running.server->tick();
    const server::LoopHealth health = running.server->loop().health();
    running.host->tell_health();
    if (health.deposed) {
      say("error: another server has taken over this data folder; stopping");
      return;
    }
    each_second();
  }
}

void close(Running& running) {
  running.host->leave();
  running.server->begin_stop();
  running.host->stop();
  if (running.http != nullptr) running.http->stop();
  running.server->stop();
}

// Executions that a worker holds, as the engine knows.
int64_t executions_of(server::Server& server, const std::string& worker) {
  std::promise<int64_t> count;
  server.loop().post(core::Question(core::DescribeWorkers{worker, true}), [&count](absl::StatusOr<core::Reply> reply) {
    const auto* views = reply.ok() ? std::get_if<core::WorkerViews>(&*reply) : nullptr;
    count.set_value(
        views == nullptr || views->workers.empty() ? 0 : static_cast<int64_t>(views->workers[0].executions.size()));
  });
  return count.get_future().get();
}

std::string jobs_in_words(int64_t count) { return cat(count, count == 1 ? " job" : " jobs"); }

// The worker drains while the server still stands beside it: what never started waits for the next start, what runs may
// end within the grace time and is put back into the queue when it does not.
void stop_worker(Running& running, DevWorker& worker, Duration grace, StopSignals& signals) {
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + grace + kPastGrace;
  const int64_t count = executions_of(*running.server, kDevWorkerId);
  if (count == 0) say("stopping");
  if (count > 0) {
    say(cat("stopping: ", jobs_in_words(count), " may end within ", grace.count() / 1'000'000,
            " s; what does not will run again at the next start (Ctrl-C again: do not wait)"));
  }
  worker.tell_to_stop();
  MonoTime next_tick = clock.now().mono + 1s;
  while (!worker.is_gone() && clock.now().mono < limit) {
    if (signals.wait(20ms)) {
      if (const int64_t left = executions_of(*running.server, kDevWorkerId); left > 0)
        say(cat("ending ", jobs_in_words(left), " now"));
      worker.tell_to_stop();
    }
    if (clock.now().mono < next_tick) continue;
    next_tick = clock.now().mono + 1s;
    running.server->tick();
  }
  if (!worker.is_gone()) worker.end_now();
}

}  // namespace

int run_server(const cli::ServerOptions& options) {
  forbid_core_dumps(FoundBy::Nobody);
  StopSignals signals;
  absl::StatusOr<Running> running = open(options, false, [] { return api::LocalWorker{}; });
  if (!running.ok()) return refuse(running.status());
  say(cat("server ", kVersion, " listens on ", to_string(options.listen), ", data in ", options.data_dir));
  run_until_stopped(*running, signals, [] {});
  say("shutting down");
  close(*running);
  return 0;
}

int run_dev(const cli::DevOptions& options) {
  forbid_core_dumps(FoundBy::Nobody);
  StopSignals signals;
  const std::string address = to_string(options.server.listen);
  std::unique_ptr<DevWorker> worker;
  absl::StatusOr<Running> running = open(options.server, true, [&worker] {
    return worker == nullptr ? api::LocalWorker{} : api::LocalWorker{worker->supervisor_pid(), worker->agent_pid()};
  });
  if (!running.ok()) return refuse(running.status());
  server::Server& server = *running->server;
  worker = std::make_unique<DevWorker>(options, address, [&server] { return make_token(server, kDevWorkerId); });
  const auto keep_worker = [&worker] {
    if (const absl::Status kept = worker->keep(); !kept.ok()) say(cat("warning: ", std::string(kept.message())));
  };
  keep_worker();
  say(cat("server ", kVersion, " with one worker on ", address, ", data in ", options.server.data_dir));
  say("try in another terminal: hodei run -- echo hello        (Ctrl-C here ends everything)");
  run_until_stopped(*running, signals, keep_worker);
  // First: nobody is to make workers for what the one that stops gives back.
  if (!server.provisioner().end_all(kEndWorkers)) say("warning: some workers of providers could not be ended in time");
  stop_worker(*running, *worker, options.agent.stop_grace, signals);
  say("shutting down");
  close(*running);
  return 0;
}

}  // namespace hodei
