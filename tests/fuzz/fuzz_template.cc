// Templates and their parameters: what is filled in is there, what is undeclared is refused, and nothing grows without
// bound.
#include "hodei/v1/job_service.pb.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/base/codec.h"
#include "src/core/jobs/spec.h"
#include "src/core/jobs/template.h"
#include "src/spec/templates.h"
#include "src/store/memory/memory_store.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

// A text without placeholders stays as it is; an escaped one comes out as it was meant.
static void substitution(std::string_view text, const std::string& value) {
  const core::Values values{{"a", value}};
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "${") escaped += '$';
    escaped += text[i];
  }
  const absl::StatusOr<std::string> literal = core::substitute(escaped, values);
  REQUIRE(literal.ok() && *literal == text, escaped);
  const absl::StatusOr<std::string> out = core::substitute(text, values);
  REQUIRE(out.ok() || fuzz::names_a_field(out.status()), fuzz::words(out.status()));
  if (text.find("${") == std::string_view::npos) REQUIRE(*out == text, *out);
}

static void stored_and_used(const v1::PutTemplateRequest& put, v1::QueueJobRequest request) {
  const absl::StatusOr<core::TemplateRow> row = spec::template_row(put.template_(), "default");
  if (!row.ok()) {
    REQUIRE(fuzz::names_a_field(row.status()), fuzz::words(row.status()));
    return;
  }
  fuzz::require_readable(spec::to_proto(*row));
  store::MemoryStore store;
  const store::Epoch epoch = *store.new_epoch();
  REQUIRE(store.commit({core::Put<core::TemplateRow>{*row}}, epoch, store::BatchNo{1}).ok(), "");
  request.set_template_(row->name);
  const absl::StatusOr<v1::JobSpec> spec = api::rendered_spec(request, "default", store);
  if (!spec.ok()) {
    REQUIRE(fuzz::names_a_field(spec.status()), fuzz::words(spec.status()));
    return;
  }
  // What is set beside the template comes on top; the template's own part is what parameters could blow up.
  REQUIRE(spec->ByteSizeLong() <= 2 * core::kMaxSpecBytes + request.ByteSizeLong(), spec->ByteSizeLong());
}

FUZZ_TARGET(input) {
  Decoder in(input);
  const std::string_view text = in.text();
  const std::string value(in.text());
  substitution(text, value);
  v1::PutTemplateRequest put;
  v1::QueueJobRequest request;
  if (fuzz::parses(in.text(), put) && fuzz::parses(in.text(), request)) stored_and_used(put, std::move(request));
}
