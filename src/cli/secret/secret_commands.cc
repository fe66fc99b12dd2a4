// `hodei secret …`: the server's store of secrets, and `hodei audit …`: what was done with them.
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/job/job_view.h"
#include "src/cli/job/secret_flags.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/text/moments.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/utf8.h"

namespace hodei::cli {
namespace {

constexpr int kAuditPage = 1000;

struct SetFlags {
  std::string name, file;
  bool from_stdin = false;
};

absl::StatusOr<std::string> value_to_set(const Session& session, const SetFlags& flags) {
  if (flags.from_stdin && !flags.file.empty()) return bad_field("--value-stdin", "and --from-file cannot be combined");
  if (flags.file == "-" || flags.from_stdin) return read_secret_from_stdin(session.io);
  if (!flags.file.empty()) return read_small_file(flags.file, kLargestSecret);
  if (session.io.read_hidden) return session.io.read_hidden(cat("Value of ", flags.name, ": "));
  return absl::InvalidArgumentError(
      cat("value: there is no terminal to ask on; use --from-file FILE or --value-stdin, "
          "never the command line, which everyone can read"));
}

absl::StatusOr<std::string> secret_set_text(Session& session, const SetFlags& flags) {
  v1::PutSecretRequest request;
  request.set_namespace_(session.name_space());
  request.set_name(flags.name);
  ASSIGN_OR_RETURN(*request.mutable_value(), value_to_set(session, flags));
  if (request.value().empty())
    return bad_field("value", "is empty; `hodei secret rm ", flags.name, "` deletes a secret");
  RETURN_IF_ERROR(check_utf8(request));
  ASSIGN_OR_RETURN(const v1::StoredSecret stored, session.client().put_secret(request));
  if (!stored.note().empty()) session.note(cat("note: ", stored.note()));
  if (const auto data = session.data_text(stored)) return *data;
  if (session.form() == OutputForm::Name) return stored.name() + "\n";
  return cat("secret ", stored.name(), " stored, revision ", stored.revision(), "\n");
}

absl::StatusOr<std::string> secret_list_text(Session& session) {
  v1::ListSecretsRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListSecretsResponse answer, session.client().list_secrets(request));
  std::vector<const google::protobuf::Message*> messages;
  Table table({"NAME", "NAMESPACE", "REVISION", "UPDATED", "NOTE"});
  std::string names;
  for (const v1::StoredSecret& secret : answer.secrets()) {
    messages.push_back(&secret);
    names += secret.name() + "\n";
    table.add({secret.name(), secret.namespace_(), cat(secret.revision()),
               age(secret.updated_at(), session.io.clock->now().wall), secret.note()});
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (table.empty()) session.note("no secrets; store one with `hodei secret set NAME`");
  return table.text(session.style());
}

absl::StatusOr<std::string> secret_remove_text(Session& session, const std::string& name) {
  v1::DeleteSecretRequest request;
  request.set_namespace_(session.name_space());
  request.set_name(name);
  RETURN_IF_ERROR(session.client().delete_secret(request));
  return session.done_text("secret", name, "removed", cat("secret ", name, " deleted"));
}

struct AuditFlags {
  std::string since, action, subject, limit;
};

absl::StatusOr<v1::ListAuditRequest> audit_request(const Session& session, const AuditFlags& flags) {
  v1::ListAuditRequest request;
  request.set_namespace_(session.name_space());
  request.set_action(flags.action);
  request.set_subject(flags.subject);
  if (flags.since.empty()) return request;
  ASSIGN_OR_RETURN(const WallTime since,
                   parse_moment("--since", flags.since, session.io.clock->now().wall, session.utc));
  request.mutable_since()->set_seconds(since.us / 1'000'000);
  return request;
}

absl::StatusOr<std::vector<v1::AuditEntry>> audit_entries(Session& session, const AuditFlags& flags) {
  ASSIGN_OR_RETURN(v1::ListAuditRequest request, audit_request(session, flags));
  int64_t left = 100;
  if (!flags.limit.empty()) {
    const absl::StatusOr<int64_t> limit = parse_count(flags.limit, 1, 1'000'000);
    if (!limit.ok()) return bad_field("--limit", std::string(limit.status().message()));
    left = *limit;
  }
  std::vector<v1::AuditEntry> out;
  do {
    request.set_limit(static_cast<int32_t>(std::min<int64_t>(left, kAuditPage)));
    ASSIGN_OR_RETURN(const v1::ListAuditResponse page, session.client().list_audit(request));
    out.insert(out.end(), page.entries().begin(), page.entries().end());
    left -= page.entries_size();
    request.set_page_token(page.next_page_token());
  } while (left > 0 && !request.page_token().empty());
  return out;
}

absl::StatusOr<std::string> audit_text(Session& session, const AuditFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<v1::AuditEntry> entries, audit_entries(session, flags));
  std::vector<const google::protobuf::Message*> messages;
  Table table({"NUMBER", "TIME", "ACTION", "SUBJECT", "WHO", "DETAIL"});
  table.keep_whole("TIME");
  table.keep_whole("ACTION");
  table.may_leave_out({"WHO"});
  std::string numbers;
  for (const v1::AuditEntry& entry : entries) {
    messages.push_back(&entry);
    numbers += cat(entry.number(), "\n");
    const WallTime at{entry.at().seconds() * 1'000'000};
    table.add({cat(entry.number()), shown_time(at, session.style()), entry.action(), printable(entry.subject()),
               printable(entry.principal()), printable(entry.detail())});
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return numbers;
  if (table.empty()) session.note("no entries");
  return table.text(session.style());
}

void add_secret_set(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("set", "Store or change a secret");
  auto flags = std::make_shared<SetFlags>();
  command->add_option("name", flags->name, "name of the secret: letters, digits, _ . -")->required()->type_name("NAME");
  command->add_option("--from-file", flags->file, "read the value from this file, byte for byte")->type_name("FILE");
  command->add_flag("--value-stdin", flags->from_stdin,
                    "read the value from standard input, without a newline at its end");
  command->footer(
      "Without a flag, you are asked for the value on the terminal. Use the secret in a job with `--secret NAME`.");
  command->callback([&session, flags] {
    session.action = [&session, flags] { return session.show(secret_set_text(session, *flags)); };
  });
}

void add_audit(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("audit", "Show the audit trail");
  group->require_subcommand(1);
  CLI::App* command = group->add_subcommand("list", "List the newest entries");
  command->alias("ls");
  auto flags = std::make_shared<AuditFlags>();
  command->add_option("--since", flags->since, "only entries newer than this: 1h, 7d, 2026-11-15T15:04:05Z")
      ->type_name("TIME");
  command
      ->add_option("--action", flags->action,
                   "only this action: secret.set, secret.delivered, secret.deleted, secret.failed, worker.refused, "
                   "job.delete, provider.added, …")
      ->type_name("ACTION");
  command->add_option("--subject", flags->subject, "subject: a secret, an execution, a worker, a job, a provider")
      ->type_name("NAME");
  command->add_option("--limit", flags->limit, "maximum number of entries (100)")->type_name("N");
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return session.show(audit_text(session, *flags)); }; });
}

}  // namespace

void add_secret_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("secret", "Manage secrets for jobs");
  group->require_subcommand(1);
  add_secret_set(*group, session);
  CLI::App* list = group->add_subcommand("list", "List the names of secrets; no command shows a value");
  list->alias("ls");
  list->callback([&session] { session.action = [&session] { return session.show(secret_list_text(session)); }; });
  CLI::App* remove = group->add_subcommand("rm", "Delete a secret");
  remove->alias("delete");
  auto name = std::make_shared<std::string>();
  remove->add_option("name", *name, "name of the secret")->required()->type_name("NAME");
  remove->callback([&session, name] {
    session.action = [&session, name] { return session.show(secret_remove_text(session, *name)); };
  });
  add_audit(root, session);
}

}  // namespace hodei::cli
