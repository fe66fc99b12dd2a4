#include "src/store/store.h"

#include <utility>

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {
namespace {

template <class Row>
absl::StatusOr<std::vector<Row>> of_namespace(Reader& reader, const std::string& ns) {
  return ns.empty() ? reader.list<Row>() : reader.list<Row>(ns);
}

}  // namespace

absl::StatusOr<core::TemplateRow> Reader::job_template(const std::string& ns, const std::string& name) {
  ASSIGN_OR_RETURN(std::optional<core::TemplateRow> row, find<core::TemplateRow>({ns, name}));
  if (!row) return no_such_template(ns, name);
  return *std::move(row);
}

absl::StatusOr<std::vector<core::TemplateRow>> Reader::job_templates(const std::string& ns) {
  return of_namespace<core::TemplateRow>(*this, ns);
}

absl::StatusOr<core::SecretRow> Reader::secret(const std::string& ns, const std::string& name) {
  ASSIGN_OR_RETURN(std::optional<core::SecretRow> row, find<core::SecretRow>({ns, name}));
  if (!row) return no_such_secret(ns, name);
  return *std::move(row);
}

absl::StatusOr<std::vector<core::SecretRow>> Reader::secrets(const std::string& ns) {
  return of_namespace<core::SecretRow>(*this, ns);
}

}  // namespace hodei::store
