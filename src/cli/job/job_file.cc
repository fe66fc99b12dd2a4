#include "src/cli/job/job_file.h"

#include <nlohmann/json.hpp>

#include "hodei/v1/job.pb.h"
#include "hodei/v1/job_service.pb.h"
#include "src/base/status.h"
#include "src/cli/documents/document.h"
#include "src/cli/documents/message_reader.h"

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

// A job that was: its spec, without what belonged to that one submission.
absl::Status read_printed_job(const Node& root, const std::string& name, v1::QueueJobRequest& out) {
  const Node* spec = root.find("spec");
  if (!spec) {
    return absl::InvalidArgumentError(
        cat(name, ":", root.line, ": spec: is missing; `hodei job get ID -o yaml` prints a job with its spec"));
  }
  RETURN_IF_ERROR(read_message(*spec, name, *out.mutable_spec()));
  out.mutable_spec()->clear_idempotency_key();
  out.mutable_spec()->clear_traceparent();
  if (const Node* ns = root.find("namespace")) out.set_namespace_(ns->text);
  return check_spec(out.spec(), *spec, name);
}

absl::Status read_one(const Node& root, const std::string& name, v1::QueueJobRequest& out) {
  if (root.find("short_id")) return read_printed_job(root, name, out);
  if (root.find("spec") || root.find("template") || root.find("parameters")) {
    RETURN_IF_ERROR(read_message(root, name, out));
    const Node* spec = root.find("spec");
    return spec ? check_spec(out.spec(), *spec, name) : absl::OkStatus();
  }
  RETURN_IF_ERROR(read_message(root, name, *out.mutable_spec()));
  return check_spec(out.spec(), root, name);
}

std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find('\n')); }

// One JSON value per line. A single value over several lines is a JSON document.
bool is_json_lines(std::string_view text) {
  const std::string_view first = first_line_of(text);
  return first.size() < text.size() && first.starts_with('{') && nlohmann::json::accept(first);
}

absl::StatusOr<std::vector<Node>> json_lines(std::string_view text, const std::string& name) {
  std::vector<Node> out;
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = first_line_of(text);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ASSIGN_OR_RETURN(std::vector<Node> nodes, parse_documents(line, name, kLargestDocument, number));
    for (Node& node : nodes) {
      if (node.kind != Node::Kind::Null) out.push_back(std::move(node));  // a line with `---`
    }
  }
  return out;
}

// The jobs of a file, one node each.
absl::StatusOr<std::vector<Node>> job_nodes(std::string_view text, const std::string& name) {
  if (text.size() > kLargestJobsFile) {
    return absl::InvalidArgumentError(cat(name, ": is larger than ", kLargestJobsFile, " bytes"));
  }
  if (is_json_lines(text)) return json_lines(text, name);
  ASSIGN_OR_RETURN(std::vector<Node> documents, parse_documents(text, name, kLargestJobsFile));
  std::vector<Node> out;
  for (Node& document : documents) {
    if (document.kind == Node::Kind::Null) continue;  // nothing between two `---`
    if (document.kind == Node::Kind::List) {
      for (Node& item : document.items) out.push_back(std::move(item));
    } else {
      out.push_back(std::move(document));
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<v1::QueueJobRequest>> read_jobs(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<Node> jobs, job_nodes(text, name));
  if (jobs.empty()) return absl::InvalidArgumentError(cat(name, ": is empty"));
  if (jobs.size() > kMostJobsOfAFile) {
    return absl::InvalidArgumentError(
        cat(name, ": contains ", jobs.size(), " jobs; put at most ", kMostJobsOfAFile, " into one file"));
  }
  std::vector<v1::QueueJobRequest> out(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) RETURN_IF_ERROR(read_one(jobs[i], name, out[i]));
  return out;
}

absl::Status read_job(std::string_view text, const std::string& name, v1::QueueJobRequest& out) {
  ASSIGN_OR_RETURN(std::vector<v1::QueueJobRequest> jobs, read_jobs(text, name));
  if (jobs.size() > 1) {
    return absl::InvalidArgumentError(
        cat(name, ": contains ", jobs.size(), " jobs; submit them with `hodei job submit --file`"));
  }
  out = std::move(jobs[0]);
  return absl::OkStatus();
}

absl::Status read_template(std::string_view text, const std::string& name, hodei::v1::Template& out) {
  ASSIGN_OR_RETURN(const Node root, non_empty(text, name));
  RETURN_IF_ERROR(read_message(root, name, out));
  const Node* spec = root.find("spec");
  if (!spec)
    return absl::InvalidArgumentError(cat(name, ": spec: is missing; it must contain the job of the template"));
  return check_spec(out.spec(), *spec, name);
}

}  // namespace hodei::cli
