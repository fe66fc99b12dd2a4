#include "src/api/calls/admin/admin_calls.h"
#include "src/api/calls/decide.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/secrets.h"
#include "src/base/status.h"
#include "src/core/jobs/spec.h"
#include "src/spec/submission.h"
#include "src/spec/timestamp.h"

namespace hodei::api {
namespace {

absl::StatusOr<core::PutStoredSecret> sealed_command(const v1::PutSecretRequest& in, const server::Vault& vault) {
  core::PutStoredSecret command;
  ASSIGN_OR_RETURN(command.row.ns, spec::namespace_of(in.namespace_()));
  RETURN_IF_ERROR(core::check_secret_name("name", in.name()));
  if (in.value().empty() || in.value().size() > core::kMaxSecretBytes) {
    return bad_field("value", "must have 1 to ", core::kMaxSecretBytes, " bytes, not ", in.value().size());
  }
  command.row.name = in.name();
  command.row.sealed = vault.seal({command.row.ns, in.name(), server::SealedFor::Purpose::Store}, in.value());
  if (!note_about(in.name(), in.value().size()).empty()) command.detail = "too short to be masked";
  return command;
}

}  // namespace

void put_secret(const AdminPorts& p, const Call& call, const v1::PutSecretRequest& in,
                Answer<v1::StoredSecret> answer) {
  absl::StatusOr<core::PutStoredSecret> command = sealed_command(in, p.vault);
  if (!command.ok()) return answer.give(command.status());
  answer->set_namespace_(command->row.ns);
  answer->set_name(in.name());
  answer->set_note(note_about(in.name(), in.value().size()));
  decide<core::SecretPut>(p.commands, call, std::move(*command), answer,
                          [out = answer.out](const core::SecretPut& put) {
                            out->set_revision(put.revision);
                            spec::set_time(put.updated, out->mutable_updated_at());
                          });
}

void delete_secret(const AdminPorts& p, const Call& call, const v1::DeleteSecretRequest& in,
                   Answer<v1::DeleteSecretResponse> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  decide<core::Done>(p.commands, call, core::DropStoredSecret{*ns, in.name()}, std::move(answer),
                     [](const core::Done&) {});
}

void list_secrets(const AdminPorts& p, const Call& call, const v1::ListSecretsRequest& in,
                  Answer<v1::ListSecretsResponse> answer) {
  read(
      p.stored, call, kLong,
      [&p, &in, out = answer.out](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto rows, p.stored.reader.secrets(in.namespace_()));
        for (const core::SecretRow& row : rows) {
          v1::StoredSecret* secret = out->add_secrets();
          secret->set_namespace_(row.ns);
          secret->set_name(row.name);
          secret->set_revision(row.revision);
          spec::set_time(row.updated, secret->mutable_updated_at());
          if (!p.vault.is_mine(row.sealed)) secret->set_note("encrypted with a different key than the server has now");
        }
        return absl::OkStatus();
      },
      answer.give);
}

}  // namespace hodei::api
