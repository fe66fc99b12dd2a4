#include "src/api/calls/secrets.h"

#include "src/base/status.h"
#include "src/core/jobs/spec.h"

namespace hodei::api {
namespace {

using Purpose = server::SealedFor::Purpose;

std::string field(int index, std::string_view name) { return cat("secrets[", index, "].", name); }

absl::Status unknown_secret(int index, const std::string& name, const std::string& ns) {
  return absl::FailedPreconditionError(cat(field(index, "name"), ": secret '", name, "' does not exist in namespace '",
                                           ns, "'; store it with `hodei secret set ", name,
                                           ns == kDefaultNamespace ? std::string() : cat(" -n ", ns),
                                           "`, or set its value in the job"));
}

absl::StatusOr<core::SecretRow> referenced(const v1::JobSpec& spec, int index, const std::string& ns,
                                           store::Reader& reader) {
  const std::string& name = spec.secrets(index).name();
  RETURN_IF_ERROR(core::check_secret_name(field(index, "name"), name));
  absl::StatusOr<core::SecretRow> row = reader.secret(ns, name);
  if (absl::IsNotFound(row.status())) return unknown_secret(index, name, ns);
  return row;
}

absl::StatusOr<std::string> value_of(const v1::Secret& secret, const std::string& ns, const SecretPorts& ports) {
  if (!secret.sealed().empty()) return ports.vault.open({ns, secret.name(), Purpose::Job}, secret.sealed());
  ASSIGN_OR_RETURN(const core::SecretRow row, ports.reader.secret(ns, secret.name()));
  return ports.vault.open({ns, secret.name(), Purpose::Store}, row.sealed);
}

absl::Status too_large(size_t bytes) {
  return bad_field("secrets", "must have at most ", core::kMaxSecretBytes, " bytes of values in total, not ", bytes);
}

absl::Status open_all(const v1::JobSpec& spec, const std::string& ns, const SecretPorts& ports, v1::RunJob* order) {
  size_t bytes = 0;
  for (const v1::Secret& secret : spec.secrets()) {
    ASSIGN_OR_RETURN(std::string value, value_of(secret, ns, ports));
    bytes += value.size();
    if (bytes > core::kMaxSecretBytes) return too_large(bytes);
    (*order->mutable_secrets())[secret.name()] = std::move(value);
  }
  return absl::OkStatus();
}

}  // namespace

std::string note_about(std::string_view name, size_t value_size) {
  if (value_size >= kShortestMasked) return {};
  return cat("the value of secret '", name, "' is shorter than ", kShortestMasked,
             " characters and is not masked in output");
}

absl::Status make_storable(const v1::JobSpec& given, const std::string& ns, const SecretPorts& ports,
                           StorableSpec& out) {
  out.spec = &given;
  if (given.secrets_size() == 0) return absl::OkStatus();
  out.copy = given;
  out.spec = &out.copy;
  size_t bytes = 0;
  for (int i = 0; i < given.secrets_size(); ++i) {
    v1::Secret& secret = *out.copy.mutable_secrets(i);
    if (!secret.sealed().empty())
      return bad_field(field(i, "sealed"), "is set by the server; set `value`, or only `name`");
    size_t size = secret.value().size();
    if (size == 0) {
      ASSIGN_OR_RETURN(const core::SecretRow row, referenced(given, i, ns, ports.reader));
      size = server::Vault::value_size(row.sealed);
    } else {
      secret.set_sealed(ports.vault.seal({ns, secret.name(), Purpose::Job}, secret.value()));
      secret.clear_value();
    }
    bytes += size;
    if (bytes > core::kMaxSecretBytes) return too_large(bytes);
    const std::string note = note_about(secret.name(), size);
    if (!note.empty()) out.note += cat(out.note.empty() ? "" : "; ", note);
  }
  if (given.takes_stdin() && !given.secret_files()) {
    out.copy.clear_takes_stdin();
    out.note +=
        cat(out.note.empty() ? "" : "; ",
            "standard input is not sent: the job's secrets come on its standard input (with --secret-files they "
            "come as files, and standard input is free)");
  }
  return absl::OkStatus();
}

absl::Status check_references(const v1::JobSpec& spec, const std::string& ns, store::Reader& reader) {
  for (int i = 0; i < spec.secrets_size(); ++i) {
    if (!spec.secrets(i).sealed().empty()) continue;
    RETURN_IF_ERROR(referenced(spec, i, ns, reader).status());
  }
  return absl::OkStatus();
}

void deliver_secrets(const core::SpecRow& row, const SecretPorts& ports, v1::RunJob* order) {
  v1::JobSpec spec;
  absl::Status opened = absl::DataLossError("the job's spec cannot be read");
  if (spec.ParseFromString(row.bytes)) opened = open_all(spec, row.ns, ports, order);
  if (opened.ok()) return;
  order->clear_secrets();
  order->set_secret_error(std::string(opened.message()));
}

}  // namespace hodei::api
