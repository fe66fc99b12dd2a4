// Templates of jobs.
#include "src/api/calls/decide.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/read_call.h"
#include "src/base/status.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"

namespace hodei::api {

void put_template(const JobPorts& p, const Call& call, const v1::PutTemplateRequest& in, Answer<v1::Template> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  absl::StatusOr<core::TemplateRow> row = spec::template_row(in.template_(), *ns);
  if (!row.ok()) return answer.give(row.status());
  decide<core::TemplatePut>(p.commands, call, core::PutJobTemplate{std::move(*row)}, answer,
                            [out = answer.out](const core::TemplatePut& put) { *out = spec::to_proto(put.row); });
}

void delete_template(const JobPorts& p, const Call& call, const v1::DeleteTemplateRequest& in,
                     Answer<v1::DeleteTemplateResponse> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  decide<core::Done>(p.commands, call, core::DropJobTemplate{*ns, in.name()}, std::move(answer),
                     [](const core::Done&) {});
}

void get_template(const JobPorts& p, const Call& call, const v1::GetTemplateRequest& in, Answer<v1::Template> answer) {
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  read(
      p.stored, call, kQuick,
      [&p, &in, out = answer.out, ns = *ns](const store::ReadLimit&) {
        const absl::StatusOr<core::TemplateRow> row = p.stored.reader.job_template(ns, in.name());
        if (row.ok()) *out = spec::to_proto(*row);
        return row.status();
      },
      answer.give);
}

void list_templates(const JobPorts& p, const Call& call, const v1::ListTemplatesRequest& in,
                    Answer<v1::ListTemplatesResponse> answer) {
  if (!in.namespace_().empty()) {
    if (const absl::Status bad = check_name("namespace", in.namespace_()); !bad.ok()) return answer.give(bad);
  }
  read(
      p.stored, call, kLong,
      [&p, &in, out = answer.out](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const auto rows, p.stored.reader.job_templates(in.namespace_()));
        for (const core::TemplateRow& row : rows) *out->add_templates() = spec::to_proto(row);
        return absl::OkStatus();
      },
      answer.give);
}

}  // namespace hodei::api
