// `hodei pool …`: how many workers of a kind there are.
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/provider/provider_view.h"
#include "src/cli/session/session.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli {
namespace {

constexpr int64_t kMostWorkers = 10'000;

struct PoolFlags {
  std::string name, provider, image, min, max, spare, idle, slots, cpu, memory, gpus, for_namespace;
  std::vector<std::string> labels;
  bool one_job = false;
  bool reuse = false;
};

using SetCount = void (v1::Pool::*)(int32_t);

absl::Status put_count(std::string_view flag, const std::string& text, v1::Pool& pool, SetCount set) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> n = parse_count(text, 0, kMostWorkers);
  if (!n.ok()) return bad_field(flag, std::string(n.status().message()));
  (pool.*set)(static_cast<int32_t>(*n));
  return absl::OkStatus();
}

absl::Status put_size(const PoolFlags& flags, v1::Pool& pool) {
  if (!flags.cpu.empty()) {
    const absl::StatusOr<int64_t> milli = parse_cores(flags.cpu);
    if (!milli.ok()) return bad_field("--cpu", std::string(milli.status().message()));
    pool.mutable_size()->set_cpu_cores(static_cast<double>(*milli) / 1000);
  }
  if (!flags.memory.empty()) {
    const absl::StatusOr<int64_t> megabytes = parse_megabytes(flags.memory);
    if (!megabytes.ok()) return bad_field("--memory", std::string(megabytes.status().message()));
    pool.mutable_size()->set_memory_mb(*megabytes);
  }
  if (flags.gpus.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> gpus = parse_count(flags.gpus, 0, 1000);
  if (!gpus.ok()) return bad_field("--gpus", std::string(gpus.status().message()));
  pool.mutable_size()->set_gpus(static_cast<int32_t>(*gpus));
  return absl::OkStatus();
}

absl::StatusOr<v1::Pool> pool_of(const PoolFlags& flags) {
  v1::Pool pool;
  pool.set_name(flags.name);
  pool.set_provider(flags.provider);
  pool.set_image(flags.image);
  pool.set_one_job(flags.one_job);
  pool.set_reuse(flags.reuse);
  pool.set_for_namespace(flags.for_namespace);
  RETURN_IF_ERROR(put_count("--min", flags.min, pool, &v1::Pool::set_min));
  RETURN_IF_ERROR(put_count("--max", flags.max, pool, &v1::Pool::set_max));
  RETURN_IF_ERROR(put_count("--spare", flags.spare, pool, &v1::Pool::set_spare));
  RETURN_IF_ERROR(put_count("--slots", flags.slots, pool, &v1::Pool::set_slots));
  if (!flags.idle.empty()) {
    const absl::StatusOr<int64_t> idle = parse_milliseconds(flags.idle);
    if (!idle.ok()) return bad_field("--idle", std::string(idle.status().message()));
    pool.set_idle_ms(*idle);
  }
  RETURN_IF_ERROR(put_size(flags, pool));
  for (const std::string& text : flags.labels) {
    ASSIGN_OR_RETURN(const KeyValue pair, parse_key_value("--label", text));
    (*pool.mutable_labels())[pair.key] = pair.value;
  }
  RETURN_IF_ERROR(check_utf8(pool));
  return pool;
}

absl::StatusOr<std::string> pool_set_text(Session& session, const PoolFlags& flags) {
  ASSIGN_OR_RETURN(const v1::Pool wanted, pool_of(flags));
  ASSIGN_OR_RETURN(const v1::Pool pool, session.client().set_pool(wanted));
  if (const auto data = session.data_text(pool)) return *data;
  if (session.form() == OutputForm::Name) return pool.name() + "\n";
  return cat("pool ", pool.name(), " set; use it in a job with `--pool ", pool.name(), "`\n");
}

absl::StatusOr<std::string> pool_list_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::ListPoolsResponse answer, session.client().list_pools());
  std::vector<const google::protobuf::Message*> messages;
  std::string names;
  for (const v1::Pool& pool : answer.pools()) messages.push_back(&pool), names += pool.name() + "\n";
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (messages.empty()) session.note("no pools; create one with `hodei pool set NAME --max N`");
  return pool_table(answer, {session.style(), session.form() == OutputForm::Wide, session.io.clock->now().wall});
}

absl::StatusOr<std::string> pool_remove_text(Session& session, const std::string& name) {
  RETURN_IF_ERROR(session.client().remove_pool(name));
  return session.done_text("pool", name, "removed",
                           cat("pool ", name, " deleted; its workers finish their jobs and are then removed"));
}

void add_pool_set(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("set", "Create a pool, or replace it");
  auto flags = std::make_shared<PoolFlags>();
  command->add_option("name", flags->name, "name of the pool")->required()->type_name("NAME");
  command->add_option("--provider", flags->provider, "provider of its workers (default: any that can)")
      ->type_name("PROVIDER");
  command->add_option("--image", flags->image, "image of its workers")->type_name("IMAGE");
  command->add_option("--min", flags->min, "workers kept even when no job is waiting (0)")->type_name("N");
  command->add_option("--max", flags->max, "maximum number of workers; 0: as many as the provider creates (0)")
      ->type_name("N");
  command->add_option("--spare", flags->spare, "idle workers kept ready while there is work (0)")->type_name("N");
  command->add_option("--idle", flags->idle, "remove a worker after this long without work (10s)")->type_name("TIME");
  command
      ->add_option("--for-namespace", flags->for_namespace, "run only jobs of this namespace (default: all namespaces)")
      ->type_name("NAMESPACE");
  CLI::Option* one_job = command->add_flag("--one-job", flags->one_job, "use a new worker for every execution");
  command->add_flag("--reuse", flags->reuse, "reuse microVMs, which otherwise run one job each")->excludes(one_job);
  command->add_option("--slots", flags->slots, "executions at once per worker (1)")->type_name("N");
  command->add_option("--cpu", flags->cpu, "CPU cores per worker (default: what the job needs)")->type_name("CORES");
  command->add_option("--memory", flags->memory, "memory per worker: 512Mi, 2Gi")->type_name("SIZE");
  command->add_option("--gpus", flags->gpus, "GPUs per worker")->type_name("N");
  repeatable(*command, "--label", flags->labels, "a label for its workers")->type_name("KEY=VALUE");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return session.show(pool_set_text(session, *flags)); };
  });
}

}  // namespace

void add_pool_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("pool", "Manage pools of workers that providers maintain");
  group->require_subcommand(1);
  add_pool_set(*group, session);
  CLI::App* list = group->add_subcommand("list", "List pools");
  list->alias("ls");
  auto watch = std::make_shared<bool>(false);
  list->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  list->callback([&session, watch] {
    session.action = [&session, watch] { return session.show(*watch, [&] { return pool_list_text(session); }); };
  });
  CLI::App* remove = group->add_subcommand("rm", "Delete a pool");
  remove->alias("delete");
  auto name = std::make_shared<std::string>();
  remove->add_option("name", *name, "name of the pool")->required()->type_name("NAME");
  remove->callback([&session, name] {
    session.action = [&session, name] { return session.show(pool_remove_text(session, *name)); };
  });
}

}  // namespace hodei::cli
