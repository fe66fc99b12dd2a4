// AdminService: the calls about the installation, stored secrets and the audit trail, and their lines of the table.
#pragma once

#include <string_view>

#include "hodei/v1/admin_service.pb.h"
#include "src/api/calls/call.h"
#include "src/api/calls/line.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/server_ports.h"
#include "src/server/secrets/vault.h"

namespace hodei::api {

struct AdminPorts {
  Commands& commands;
  System& system;
  Stored stored;
  const server::Vault& vault;
};

// system_status.cc
void get_system_status(const AdminPorts& p, const Call& call, const v1::GetSystemStatusRequest& in,
                       Answer<v1::SystemStatus> answer);

// stored_secrets.cc
void put_secret(const AdminPorts& p, const Call& call, const v1::PutSecretRequest& in, Answer<v1::StoredSecret> answer);
void delete_secret(const AdminPorts& p, const Call& call, const v1::DeleteSecretRequest& in,
                   Answer<v1::DeleteSecretResponse> answer);
void list_secrets(const AdminPorts& p, const Call& call, const v1::ListSecretsRequest& in,
                  Answer<v1::ListSecretsResponse> answer);

// audit_trail.cc
void list_audit(const AdminPorts& p, const Call& call, const v1::ListAuditRequest& in,
                Answer<v1::ListAuditResponse> answer);

struct AdminCalls {
  static constexpr std::string_view service = "hodei.v1.AdminService";
  using Ports = AdminPorts;
  static Ports ports(const ServerPorts& s) { return {s.commands, s.system, s.stored, s.vault}; }
  template <class Visitor>
  static void lines(Visitor& v) {
    using enum Http;
    v.unary({"GetSystemStatus", Who::Viewer, By::Loop, Get, "/api/v1/status"}, get_system_status);
    v.unary({"PutSecret", Who::Admin, By::Loop, Put, "/api/v1/secrets/{name}", Audited::Yes}, put_secret);
    v.unary({"DeleteSecret", Who::Admin, By::Loop, Delete, "/api/v1/secrets/{name}", Audited::Yes}, delete_secret);
    v.unary({"ListSecrets", Who::Admin, By::Store, Get, "/api/v1/secrets"}, list_secrets);
    v.unary({"ListAudit", Who::Admin, By::Store, Get, "/api/v1/audit"}, list_audit);
  }
};

}  // namespace hodei::api
