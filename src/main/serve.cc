#include "src/main/serve.h"

#include <unistd.h>

#include <algorithm>
#include <future>

#include "src/api/grpc/host.h"
#include "src/api/http/http_host.h"
#include "src/api/http/observability.h"
#include "src/api/wiring/server_calls.h"
#include "src/base/core_dumps.h"
#include "src/base/descriptor_limit.h"
#include "src/base/journal.h"
#include "src/base/printable.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/base/version.h"
#include "src/main/built_in_providers.h"
#include "src/main/dev_worker.h"
#include "src/main/first_command.h"
#include "src/main/process_signals.h"
#include "src/server/provisioning/worker_terms.h"
#include "src/server/server.h"

namespace hodei {
namespace {

constexpr int kCannotStart = 1;
constexpr Duration kEndWorkers = 10s;
constexpr Duration kLookEvery = 200ms;  // at workers that stop
constexpr Duration kPastGrace = 15s;    // for jobs that were told to end, and for their last output

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
  if (!in.advertise.empty() || in.listen.port != 0) {
    out.address = in.advertise.empty() ? server::reachable(to_string(in.listen)) : in.advertise;
  }
  out.secret_key = in.secret_key;
  out.secret_key_file = in.secret_key_file;
  if (in.artifact_retention_age > Duration(0)) out.artifacts.max_age = in.artifact_retention_age;
  if (in.artifact_store_bytes > 0) out.artifacts.max_bytes = in.artifact_store_bytes;
  if (in.stdin_bytes > 0) out.inputs.per_job = in.stdin_bytes;
  if (in.stdin_store_bytes > 0) out.inputs.total = in.stdin_store_bytes;
  if (in.stdin_wait > Duration(0)) out.inputs.patience = in.stdin_wait;
  // Safe however long it is: a worker ends what it runs when its lease ends, and only later is that given to others.
  out.engine.unhealthy_after = in.lease;
  out.engine.lost_after = in.lease * 3 / 2;
  out.engine.unmakable_limit = in.provision_limit;
  out.engine.registration_limit = in.registration_limit;
  out.engine.otp_life = in.otp_life;
  return out;
}

// Makes a one-time token from inside the server, as CreateOtp does from outside.
absl::StatusOr<std::string> make_token(server::Loop& loop, const std::string& worker) {
  std::promise<absl::Status> made;
  const std::string token = random_uuid();
  loop.post(
      core::MakeOtp{secret_hash(token), WorkerId(worker)},
      [&made](absl::StatusOr<core::Reply> reply) { made.set_value(reply.status()); }, core::from_server());
  RETURN_IF_ERROR(made.get_future().get());
  return token;
}

struct Running {
  std::unique_ptr<server::Server> server;
  std::unique_ptr<api::ServerCalls> calls;
  std::unique_ptr<api::GrpcHost> host;
  std::unique_ptr<api::HttpHost> http;  // null: off
};

// A port that nobody asked for may be in use by anything: then the server does without.
absl::StatusOr<std::unique_ptr<api::HttpHost>> open_http(const cli::ServerOptions& options,
                                                         const server::ServerParts& server) {
  if (!options.http_listen) return nullptr;
  api::Router router;
  RETURN_IF_ERROR(api::add_observability(router, server.loop, server.status));
  auto host = api::HttpHost::open(options.http_listen->host, options.http_listen->port, std::move(router));
  if (host.ok())
    say(cat("metrics on http://", to_string(cli::Address{options.http_listen->host, (*host)->port()}), "/metrics"));
  if (host.ok() || options.http_was_chosen) return host;
  say(cat("warning: ", std::string(host.status().message()), "; continuing without HTTP"));
  return nullptr;
}

// Workers find the server where it listens, also when the port was chosen by the machine.
std::string address_for_workers(const cli::ServerOptions& options, int port) {
  if (!options.advertise.empty()) return options.advertise;
  return server::reachable(to_string(cli::Address{options.listen.host, port}));
}

// Stops what was opened, the transports before what stands behind them; also of a server that was opened half way.
void close(Running& running) {
  if (running.host != nullptr) running.host->leave();
  if (running.server != nullptr) running.server->begin_stop();
  if (running.host != nullptr) running.host->stop();
  if (running.http != nullptr) running.http->stop();
  if (running.calls != nullptr) running.calls->stop();
  if (running.server != nullptr) running.server->stop();
}

// Both ports first: they may be taken. Providers come last, because from then on there is something to clean up.
absl::Status open_parts(const cli::ServerOptions& options, bool is_dev, std::function<api::LocalWorker()> local_worker,
                        Running& out) {
  ASSIGN_OR_RETURN(out.server, server::Server::open(server_options(options)));
  const std::string listen = to_string(options.listen);
  out.calls = std::make_unique<api::ServerCalls>(out.server->parts(), listen, std::move(local_worker));
  RETURN_IF_ERROR(out.server->start());
  out.calls->start();
  ASSIGN_OR_RETURN(out.host, api::GrpcHost::open(out.calls->all(), listen));
  ASSIGN_OR_RETURN(out.http, open_http(options, out.server->parts()));
  const auto open_port = [host = out.host.get()](const std::string& address) {
    return host->open_worker_port(address);
  };
  return out.server->start_providers(address_for_workers(options, out.host->port()),
                                     built_in_providers(options, is_dev), open_port);
}

absl::StatusOr<Running> open(const cli::ServerOptions& options, bool is_dev,
                             std::function<api::LocalWorker()> local_worker) {
  ASSIGN_OR_RETURN(const Level level, parse_level(options.log_level.empty() ? "info" : options.log_level));
  set_journal_level(level);
  raise_descriptor_limit();  // connections, and files of inputs and artifacts
  Running out;
  if (const absl::Status opened = open_parts(options, is_dev, std::move(local_worker), out); !opened.ok()) {
    close(out);
    return opened;
  }
  if (!cli::is_loopback(options.listen)) {
    say(cat(
        "warning: listening on ", to_string(options.listen),
        ", which is not a loopback address: anyone who can reach it can run commands here; this version has no client "
        "authentication or TLS"));
  }
  return out;
}

// Once a second until a stop signal comes or the store is lost to another server.
void run_until_stopped(Running& running, StopSignals& signals, const std::function<void()>& each_second) {
  while (!signals.wait(1s)) {
    running.server->tick();
    const server::LoopHealth health = running.server->parts().loop.health();
    running.host->tell_health();
    if (health.deposed) {
      say("error: another server has taken over this data folder; stopping");
      return;
    }
    each_second();
  }
}

// A worker that is to be ended with the server, and how many executions the engine knows it to have.
struct Leaving {
  WorkerId id;
  bool made = false;  // by a provider
  int64_t executions = 0;
};

// The worker of `hodei dev` itself, and those that providers made for it. Workers that somebody joined stay.
std::vector<Leaving> leaving_workers(server::Loop& loop) {
  std::promise<std::vector<Leaving>> found;
  loop.post(core::Question(core::DescribeWorkers{"", false}), [&found](absl::StatusOr<core::Reply> reply) {
    std::vector<Leaving> all;
    const auto* views = reply.ok() ? std::get_if<core::WorkerViews>(&*reply) : nullptr;
    for (const core::WorkerView& view : views == nullptr ? std::vector<core::WorkerView>() : views->workers) {
      const core::WorkerInfo& info = view.record->info;
      if (info.made || info.id.str() == kDevWorkerId) {
        all.push_back({info.id, info.made.has_value(), static_cast<int64_t>(view.executions.size())});
      }
    }
    found.set_value(std::move(all));
  });
  return found.get_future().get();
}

int64_t executions_of(const std::vector<Leaving>& workers, bool only_made = false) {
  int64_t sum = 0;
  for (const Leaving& worker : workers) sum += worker.made || !only_made ? worker.executions : 0;
  return sum;
}

void drain_made(server::Loop& loop, const std::vector<Leaving>& workers, bool now) {
  for (const Leaving& worker : workers) {
    if (!worker.made) continue;
    loop.post(core::DrainWorker{worker.id, "hodei dev is being stopped", now}, nullptr, core::from_server());
  }
}

std::string jobs_in_words(int64_t count) { return cat(count, count == 1 ? " job" : " jobs"); }

// Why somebody has sent our own worker away since then, such as "drained"; empty: nobody has. Then it does not come
// back by itself. One that crashed does.
std::string sent_away(server::Loop& loop, WallTime since) {
  std::promise<std::string> found;
  loop.post(core::Question(core::DescribeWorkers{kDevWorkerId, false}),
            [&found, since](absl::StatusOr<core::Reply> reply) {
              const auto* views = reply.ok() ? std::get_if<core::WorkerViews>(&*reply) : nullptr;
              std::string why;
              for (const core::WorkerView& view : views == nullptr ? std::vector<core::WorkerView>() : views->workers) {
                const core::WorkerRecord& record = *view.record;
                const bool is_ours = record.info.id.str() == kDevWorkerId && record.info.ended >= since;
                if (is_ours && record.has_left_for_good()) why = record.info.end_reason;
              }
              found.set_value(std::move(why));
            });
  return found.get_future().get();
}

// Workers drain while the server still stands beside them: what never started waits for the next start, what runs may
// end within the grace time and is put back into the queue when it does not.
void stop_workers(Running& running, DevWorker& worker, Duration grace, StopSignals& signals) {
  server::Loop& loop = running.server->parts().loop;
  server::Provisioner& provisioner = running.server->parts().provisioner;
  const SystemClock clock;
  const MonoTime grace_ends = clock.now().mono + grace;
  const MonoTime limit = grace_ends + kPastGrace;
  // First: nobody is to make workers for what those that stop give back.
  provisioner.make_no_more();
  std::vector<Leaving> workers = leaving_workers(loop);
  const int64_t count = executions_of(workers);
  if (count == 0) say("stopping");
  if (count > 0) {
    say(cat("stopping: ", jobs_in_words(count), " may finish within ", grace.count() / 1'000'000,
            " s; unfinished jobs run again at the next start (Ctrl-C again to stop now)"));
  }
  worker.tell_to_stop();
  drain_made(loop, workers, false);
  bool hurry = false;
  MonoTime next_tick = clock.now().mono + 1s;
  MonoTime next_look{0};
  while (clock.now().mono < limit) {
    if (signals.wait(20ms)) {
      hurry = true;
      if (const int64_t left = executions_of(leaving_workers(loop)); left > 0)
        say(cat("stopping ", jobs_in_words(left), " now"));
      worker.tell_to_stop();
    }
    if (clock.now().mono < next_look) continue;
    next_look = clock.now().mono + kLookEvery;
    workers = leaving_workers(loop);
    const bool made_may_go_on = executions_of(workers, true) > 0 && !hurry && clock.now().mono < grace_ends;
    if (worker.is_gone() && !made_may_go_on) break;
    if (clock.now().mono < next_tick) continue;
    next_tick = clock.now().mono + 1s;
    running.server->tick();
  }
  if (!worker.is_gone()) worker.end_now();
  drain_made(loop, workers, true);
  if (!provisioner.end_all(kEndWorkers)) say("warning: some workers created by providers could not be stopped in time");
}

}  // namespace

int run_server(const cli::ServerOptions& options) {
  forbid_core_dumps(FoundBy::Nobody);
  StopSignals signals;
  absl::StatusOr<Running> running = open(options, false, [] { return api::LocalWorker{}; });
  if (!running.ok()) return refuse(running.status());
  say(cat("server ", kVersion, " listening on ", to_string(options.listen), ", data in ", options.data_dir));
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
  server::Loop& loop = running->server->parts().loop;
  worker = std::make_unique<DevWorker>(options, address, [&loop] { return make_token(loop, kDevWorkerId); });
  const WallTime begun = running->server->parts().clock.now().wall;
  std::string told;
  const auto may_return = [&loop, begun, &told] {
    const std::string why = sent_away(loop, begun);
    if (!why.empty() && told != why)
      say(cat("worker ", kDevWorkerId, " has left: ", why, "; restart `hodei dev` for a new one"));
    told = why;
    return why.empty();
  };
  const auto keep_worker = [&worker, &may_return] {
    const absl::Status kept = worker->keep(may_return);
    if (!kept.ok()) say(cat("warning: ", std::string(kept.message())));
  };
  keep_worker();
  say(cat("server ", kVersion, " with one worker on ", address, ", data in ", options.server.data_dir));
  say(cat("try this in another terminal: ", first_command(options.server.listen),
          "        (Ctrl-C here stops everything)"));
  run_until_stopped(*running, signals, keep_worker);
  stop_workers(*running, *worker, options.agent.stop_grace, signals);
  say("shutting down");
  close(*running);
  return 0;
}

}  // namespace hodei
