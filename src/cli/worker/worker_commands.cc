// `hodei worker …` and `hodei otp …`
#include <CLI/CLI.hpp>

#include "src/base/counted.h"
#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"
#include "src/cli/worker/worker_lookup.h"
#include "src/cli/worker/worker_view.h"

namespace hodei::cli {
namespace {

absl::StatusOr<std::string> worker_list_text(Session& session, bool all) {
  v1::ListWorkersRequest request;
  request.set_include_terminated(all);
  ASSIGN_OR_RETURN(const v1::ListWorkersResponse answer, session.client().list_workers(request));
  std::vector<const google::protobuf::Message*> messages;
  std::string names;
  for (const v1::Worker& worker : answer.workers()) messages.push_back(&worker), names += worker.info().id() + "\n";
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (messages.empty()) session.note("no workers; start one with `hodei agent` and a token from `hodei otp create`");
  return worker_table(answer, {session.style(), session.form() == OutputForm::Wide, session.io.clock->now().wall});
}

absl::StatusOr<std::string> worker_get_text(Session& session, const std::string& typed) {
  ASSIGN_OR_RETURN(const std::string id, find_worker(session, typed));
  ASSIGN_OR_RETURN(const v1::Worker worker, session.client().get_worker(id));
  if (const auto data = session.data_text(worker)) return *data;
  if (session.form() == OutputForm::Name) return id + "\n";
  return worker_page(worker, {session.style(), true, session.io.clock->now().wall});
}

absl::StatusOr<std::string> drain_text(Session& session, v1::DrainWorkerRequest request) {
  ASSIGN_OR_RETURN(const std::string id, find_worker(session, request.worker_id()));
  request.set_worker_id(id);
  ASSIGN_OR_RETURN(const v1::DrainWorkerResponse answer, session.client().drain_worker(request));
  if (const auto data = session.data_text(answer)) return *data;
  if (session.form() == OutputForm::Name) return id + "\n";
  return cat(id, " takes no new jobs; ", counted(answer.executions_left(), "execution"), " left\n");
}

absl::StatusOr<std::string> undrain_text(Session& session, const std::string& typed) {
  v1::UndrainWorkerRequest request;
  ASSIGN_OR_RETURN(*request.mutable_worker_id(), find_worker(session, typed));
  ASSIGN_OR_RETURN(const v1::Worker worker, session.client().undrain_worker(request));
  if (const auto data = session.data_text(worker)) return *data;
  if (session.form() == OutputForm::Name) return request.worker_id() + "\n";
  return cat(request.worker_id(), " takes jobs again\n");
}

absl::StatusOr<std::string> unregister_text(Session& session, v1::RemoveWorkerRequest request) {
  ASSIGN_OR_RETURN(const std::string id, find_worker(session, request.worker_id()));
  request.set_worker_id(id);
  RETURN_IF_ERROR(session.client().remove_worker(request));
  return session.done_text("worker", id, "unregistered", id + " removed; its jobs are queued again");
}

struct TaintFlags {
  std::string id;
  std::vector<std::string> taints;
  bool clear = false;
};

absl::StatusOr<v1::TaintWorkerRequest> taint_request(const TaintFlags& flags) {
  if (flags.taints.empty() == !flags.clear) {
    return bad_field("taint", "no taints given; write for example gpu=only:NoSchedule, or --clear to remove all");
  }
  v1::TaintWorkerRequest request;
  for (const std::string& typed : flags.taints) {
    ASSIGN_OR_RETURN(const WorkerTaint parsed, parse_taint(typed));
    v1::Taint& taint = *request.add_taints();
    taint.set_key(parsed.key);
    taint.set_value(parsed.value);
    v1::Taint::Effect effect{};
    v1::Taint::Effect_Parse(parsed.effect, &effect);
    taint.set_effect(effect);
  }
  return request;
}

absl::StatusOr<std::string> taint_text(Session& session, const TaintFlags& flags) {
  ASSIGN_OR_RETURN(v1::TaintWorkerRequest request, taint_request(flags));
  ASSIGN_OR_RETURN(const std::string id, find_worker(session, flags.id));
  request.set_worker_id(id);
  ASSIGN_OR_RETURN(const v1::Worker worker, session.client().taint_worker(request));
  if (const auto data = session.data_text(worker)) return *data;
  if (session.form() == OutputForm::Name) return id + "\n";
  std::string taints;
  for (const v1::Taint& t : worker.info().taints()) {
    taints += cat(taints.empty() ? "" : ", ", t.key(), "=", t.value(), ":", v1::Taint::Effect_Name(t.effect()));
  }
  return cat(id, taints.empty() ? " has no taints" : cat(" has the taints ", taints), "\n");
}

absl::StatusOr<std::string> otp_text(Session& session, const std::string& worker_id) {
  v1::CreateOtpRequest request;
  request.set_worker_id(worker_id);
  ASSIGN_OR_RETURN(const v1::CreateOtpResponse otp, session.client().create_otp(request));
  if (const auto data = session.data_text(otp)) return *data;
  const bool any = otp.worker_id().empty();
  session.note(cat("for ", any ? "one new worker" : cat("worker ", otp.worker_id()), ", once, until ",
                   expiry(otp, session.style())));
  session.note(cat("HODEI_TOKEN=", otp.token(), " hodei agent", any ? "" : cat(" --worker-id ", otp.worker_id())));
  return otp.token() + "\n";
}

void add_worker_list(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("list", "List workers");
  command->alias("ls");
  auto all = std::make_shared<bool>(false);
  auto watch = std::make_shared<bool>(false);
  command->add_flag("--all", *all, "include terminated workers");
  command->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  command->callback([&session, all, watch] {
    session.action = [&session, all, watch] {
      return session.show(*watch, [&] { return worker_list_text(session, *all); });
    };
  });
}

void add_worker_get(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("get", "Show a worker");
  auto id = std::make_shared<std::string>();
  auto watch = std::make_shared<bool>(false);
  command->add_option("id", *id, "the worker's id, the start of it, or its name")->required()->type_name("WORKER");
  command->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  command->callback([&session, id, watch] {
    session.action = [&session, id, watch] {
      return session.show(*watch, [&] { return worker_get_text(session, *id); });
    };
  });
}

struct LeaveFlags {
  std::string id, reason;
};

void add_drain(CLI::App& group, Session& session) {
  CLI::App* command =
      group.add_subcommand("drain", "Give a worker no new jobs; it leaves when its running jobs have ended");
  auto flags = std::make_shared<LeaveFlags>();
  command->add_option("id", flags->id, "the worker's id, the start of it, or its name")
      ->required()
      ->type_name("WORKER");
  command->add_option("--reason", flags->reason, "why")->type_name("TEXT");
  command->callback([&session, flags] {
    session.action = [&session, flags] {
      v1::DrainWorkerRequest request;
      request.set_worker_id(flags->id);
      request.set_reason(flags->reason);
      return session.show(drain_text(session, request));
    };
  });
}

void add_undrain(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("undrain", "Let a draining worker take jobs again");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "the worker's id, the start of it, or its name")->required()->type_name("WORKER");
  command->callback(
      [&session, id] { session.action = [&session, id] { return session.show(undrain_text(session, *id)); }; });
}

absl::StatusOr<std::string> logs_text(Session& session, v1::GetWorkerLogsRequest request) {
  ASSIGN_OR_RETURN(const std::string id, find_worker(session, request.worker_id()));
  request.set_worker_id(id);
  ASSIGN_OR_RETURN(const v1::GetWorkerLogsResponse answer, session.client().worker_logs(request));
  if (const auto data = session.data_text(answer)) return *data;
  if (session.form() == OutputForm::Name) return id + "\n";
  const bool whole = answer.text().empty() || answer.text().back() == '\n';
  return printable_lines(answer.text()) + (whole ? "" : "\n");  // other programs wrote it
}

void add_logs(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("logs", "Show the log of a worker that a provider created");
  auto id = std::make_shared<std::string>();
  auto tail = std::make_shared<std::string>("100");
  command->add_option("id", *id, "the worker's id, the start of it, or its name")->required()->type_name("WORKER");
  command->add_option("--tail", *tail, "number of lines from the end (100)")->type_name("N");
  command->callback([&session, id, tail] {
    session.action = [&session, id, tail] {
      const absl::StatusOr<int64_t> lines = parse_count(*tail, 1, 10'000);
      if (!lines.ok()) return session.fail(bad_field("--tail", std::string(lines.status().message())));
      v1::GetWorkerLogsRequest request;
      request.set_worker_id(*id);
      request.set_tail(static_cast<int32_t>(*lines));
      return session.show(logs_text(session, request));
    };
  });
}

void add_taint(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("taint", "Set taints, which keep away jobs that do not tolerate them");
  auto flags = std::make_shared<TaintFlags>();
  command->add_option("id", flags->id, "the worker's id, the start of it, or its name")
      ->required()
      ->type_name("WORKER");
  command
      ->add_option("taint", flags->taints,
                   "all taints of the worker; the effect is NoSchedule, PreferNoSchedule, or NoExecute, which also "
                   "requeues running jobs")
      ->type_name("KEY[=VALUE][:EFFECT]...");
  command->add_flag("--clear", flags->clear, "remove all taints");
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return session.show(taint_text(session, *flags)); }; });
}

void add_unregister(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("unregister", "Remove a worker for good");
  auto flags = std::make_shared<LeaveFlags>();
  command->add_option("id", flags->id, "the worker's id, the start of it, or its name")
      ->required()
      ->type_name("WORKER");
  command->add_option("--reason", flags->reason, "why")->type_name("TEXT");
  command->callback([&session, flags] {
    session.action = [&session, flags] {
      v1::RemoveWorkerRequest request;
      request.set_worker_id(flags->id);
      request.set_reason(flags->reason);
      return session.show(unregister_text(session, request));
    };
  });
}

}  // namespace

void add_worker_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("worker", "List, inspect, drain and remove workers");
  group->require_subcommand(1);
  add_worker_list(*group, session);
  add_worker_get(*group, session);
  add_logs(*group, session);
  add_drain(*group, session);
  add_undrain(*group, session);
  add_taint(*group, session);
  add_unregister(*group, session);

  CLI::App* otp = root.add_subcommand("otp", "Create one-time tokens with which workers register");
  otp->require_subcommand(1);
  CLI::App* create = otp->add_subcommand("create", "Create a token and print it");
  auto id = std::make_shared<std::string>();
  create->add_option("worker-id,--worker-id", *id, "only for the worker with this id (default: any new worker)")
      ->type_name("ID");
  create->callback(
      [&session, id] { session.action = [&session, id] { return session.show(otp_text(session, *id)); }; });
}

}  // namespace hodei::cli
