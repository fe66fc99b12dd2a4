#include "src/api/calls/admin/admin_calls.h"
#include "src/api/calls/read_call.h"
#include "src/base/status.h"
#include "src/spec/timestamp.h"

namespace hodei::api {
namespace {

constexpr int kDefaultAuditPage = 100;
constexpr int kMaxAuditPage = 1000;

absl::StatusOr<uint64_t> audit_page_start(const std::string& token) {
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
  spec::set_time(row.at, out->mutable_at());
  out->set_namespace_(row.ns);
  out->set_principal(row.principal);
  out->set_action(row.action);
  out->set_subject(row.subject);
  out->set_detail(row.detail);
}

absl::StatusOr<store::AuditQuery> audit_query(const v1::ListAuditRequest& in) {
  if (in.limit() < 0 || in.limit() > kMaxAuditPage) {
    return bad_field("limit", "must be between 0 and ", kMaxAuditPage, ", not ", in.limit());
  }
  store::AuditQuery query;
  ASSIGN_OR_RETURN(query.before, audit_page_start(in.page_token()));
  query.ns = in.namespace_();
  query.action = in.action();
  query.subject = in.subject();
  if (in.has_since()) query.since = spec::from_proto(in.since());
  query.limit = static_cast<size_t>(in.limit() == 0 ? kDefaultAuditPage : in.limit());
  return query;
}

}  // namespace

void list_audit(const AdminPorts& p, const Call& call, const v1::ListAuditRequest& in,
                Answer<v1::ListAuditResponse> answer) {
  const absl::StatusOr<store::AuditQuery> query = audit_query(in);
  if (!query.ok()) return answer.give(query.status());
  read(
      p.stored, call, kLong,
      [&p, query = *query, out = answer.out](const store::ReadLimit& limit) -> absl::Status {
        ASSIGN_OR_RETURN(const store::AuditPage page, p.stored.reader.audit(query, limit));
        for (const core::AuditRow& row : page.rows) audit_entry(row, out->add_entries());
        if (page.next != 0) out->set_next_page_token(cat(page.next));
        return absl::OkStatus();
      },
      answer.give);
}

}  // namespace hodei::api
