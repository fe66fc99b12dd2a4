#include "src/cli/job_file.h"

#include "hodei/v1/job.pb.h"
#include "hodei/v1/job_service.pb.h"
#include "src/base/status.h"
#include "src/cli/document.h"
#include "src/cli/message_reader.h"

namespace hodei::cli {
namespace {

absl::StatusOr<Node> non_empty(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(Node root, parse_document(text, name));
  if (root.kind == Node::Kind::Null) return absl::InvalidArgumentError(cat(name, ": is empty"));
  return root;
}

// Where `key` stands, for errors about a value that was read well but makes no sense.
absl::Status at(const std::string& name, const Node& root, std::string_view key, std::string_view what) {
  for (const Node::Field& field : root.fields) {
    if (field.key == key) return absl::InvalidArgumentError(cat(name, ":", field.line, ": ", key, ": ", what));
  }
  return absl::InvalidArgumentError(cat(name, ": ", key, ": ", what));
}

// What costs nothing to see here; the server checks everything again.
absl::Status check_spec(const hodei::v1::JobSpec& spec, const Node& root, const std::string& name) {
  if (spec.timeout_ms() < 0) return at(name, root, "timeout_ms", "must not be negative; 0 means no limit");
  if (spec.max_attempts() < 0) return at(name, root, "max_attempts", "must not be negative");
  if (spec.kill_grace_ms() < 0) return at(name, root, "kill_grace_ms", "must not be negative");
  return absl::OkStatus();
}

}  // namespace

absl::Status read_job(std::string_view text, const std::string& name, hodei::v1::QueueJobRequest& out) {
  ASSIGN_OR_RETURN(const Node root, non_empty(text, name));
  if (root.find("spec") || root.find("template") || root.find("parameters")) {
    RETURN_IF_ERROR(read_message(root, name, out));
    const Node* spec = root.find("spec");
    return spec ? check_spec(out.spec(), *spec, name) : absl::OkStatus();
  }
  RETURN_IF_ERROR(read_message(root, name, *out.mutable_spec()));
  return check_spec(out.spec(), root, name);
}

absl::Status read_template(std::string_view text, const std::string& name, hodei::v1::Template& out) {
  ASSIGN_OR_RETURN(const Node root, non_empty(text, name));
  RETURN_IF_ERROR(read_message(root, name, out));
  const Node* spec = root.find("spec");
  if (!spec)
    return absl::InvalidArgumentError(cat(name, ": spec: is missing; it holds the job that the template makes"));
  return check_spec(out.spec(), *spec, name);
}

}  // namespace hodei::cli
