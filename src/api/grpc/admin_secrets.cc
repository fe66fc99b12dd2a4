// AdminService: stored secrets and the audit trail.
#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/read_call.h"
#include "src/api/grpc/secrets.h"
#include "src/api/grpc/submissions.h"
#include "src/api/grpc/unary.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr int kDefaultAuditPage = 100;
constexpr int kMaxAuditPage = 1000;

absl::StatusOr<uint64_t> page_start(const std::string& token) {
  if (token.empty()) return uint64_t{0};
  const absl::Status bad = bad_field("page_token", "must be the next_page_token of the previous page");
  uint64_t number = 0;
  for (const char c : token) {
    if (c < '0' || c > '9' || number > UINT64_MAX / 100) return bad;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

void audit_entry(const core::AuditRow& row, v1::AuditEntry* out) {
  out->set_number(static_cast<int64_t>(row.number));
  set_time(row.at, out->mutable_at());
  out->set_namespace_(row.ns);
  out->set_principal(row.principal);
  out->set_action(row.action);
  out->set_subject(row.subject);
  out->set_detail(row.detail);
}

absl::StatusOr<core::PutStoredSecret> sealed_command(const v1::PutSecretRequest& in, const server::Vault& vault) {
  core::PutStoredSecret command;
  ASSIGN_OR_RETURN(command.row.ns, namespace_of(in.namespace_()));
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

// There is no authentication yet: everybody is local, and the address says which one.
std::string principal_of(const grpc::ServerContextBase& context) { return cat("local (", context.peer(), ")"); }

AdminService::Unary* AdminService::PutSecret(Context* c, const v1::PutSecretRequest* in, v1::StoredSecret* out) {
  absl::StatusOr<core::PutStoredSecret> command = sealed_command(*in, server_.vault());
  if (!command.ok()) return finish(c, command.status());
  command->principal = principal_of(*c);
  out->set_namespace_(command->row.ns);
  out->set_name(in->name());
  out->set_note(note_about(in->name(), in->value().size()));
  return decide<core::SecretPut>(server_, c, std::move(*command), [out](const core::SecretPut& put) {
    out->set_revision(put.revision);
    set_time(put.updated, out->mutable_updated_at());
  });
}

AdminService::Unary* AdminService::DeleteSecret(Context* c, const v1::DeleteSecretRequest* in,
                                                v1::DeleteSecretResponse*) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  return decide<core::Done>(server_, c, core::DropStoredSecret{*ns, in->name(), principal_of(*c)},
                            [](const core::Done&) {});
}

AdminService::Unary* AdminService::ListSecrets(Context* c, const v1::ListSecretsRequest* in,
                                               v1::ListSecretsResponse* out) {
  return read(server_, *c, kLong, [this, in, out](const store::ReadLimit&) -> absl::Status {
    ASSIGN_OR_RETURN(const auto rows, server_.reader().secrets(in->namespace_()));
    for (const core::SecretRow& row : rows) {
      v1::StoredSecret* secret = out->add_secrets();
      secret->set_namespace_(row.ns);
      secret->set_name(row.name);
      secret->set_revision(row.revision);
      set_time(row.updated, secret->mutable_updated_at());
      if (!server_.vault().is_mine(row.sealed))
        secret->set_note("encrypted with a different key than the server has now");
    }
    return absl::OkStatus();
  });
}

AdminService::Unary* AdminService::ListAudit(Context* c, const v1::ListAuditRequest* in, v1::ListAuditResponse* out) {
  if (in->limit() < 0 || in->limit() > kMaxAuditPage) {
    return finish(c, bad_field("limit", "must be between 0 and ", kMaxAuditPage, ", not ", in->limit()));
  }
  const absl::StatusOr<uint64_t> before = page_start(in->page_token());
  if (!before.ok()) return finish(c, before.status());
  store::AuditQuery query;
  query.ns = in->namespace_();
  query.action = in->action();
  query.subject = in->subject();
  if (in->has_since()) query.since = from_proto(in->since());
  query.before = *before;
  query.limit = static_cast<size_t>(in->limit() == 0 ? kDefaultAuditPage : in->limit());
  return read(server_, *c, kLong, [this, query, out](const store::ReadLimit& limit) -> absl::Status {
    ASSIGN_OR_RETURN(const store::AuditPage page, server_.reader().audit(query, limit));
    for (const core::AuditRow& row : page.rows) audit_entry(row, out->add_entries());
    if (page.next != 0) out->set_next_page_token(cat(page.next));
    return absl::OkStatus();
  });
}

}  // namespace hodei::api
