// Job and template files in YAML and JSON: refused with the file and the line, or printed and read back the same.
#include "hodei/v1/job_service.pb.h"
#include "src/cli/documents/message_text.h"
#include "src/cli/job/job_file.h"
#include "src/cli/text/utf8.h"
#include "src/spec/job_spec.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

static const std::string kName = "job.yaml";

static void printed_and_read(const v1::JobSpec& spec) {
  for (const cli::TextForm form : {cli::TextForm::Json, cli::TextForm::JsonLine, cli::TextForm::Yaml}) {
    const std::string text = cli::message_text(spec, form);
    v1::QueueJobRequest again;
    const absl::Status read = cli::read_job(text, kName, again);
    REQUIRE(read.ok(), fuzz::words(read), "\n", text);
    REQUIRE(fuzz::same(spec, again.spec()), text, "\nread as ", again.spec().ShortDebugString());
  }
}

FUZZ_TARGET(input) {
  v1::QueueJobRequest request;
  if (const absl::Status read = cli::read_job(input, kName, request); !read.ok()) {
    REQUIRE(fuzz::words(read).starts_with(kName + ":"), fuzz::words(read));
    REQUIRE(fuzz::words(read).size() > kName.size() + 2, fuzz::words(read));
  } else if (cli::check_utf8(request).ok()) {
    const absl::Status valid = core::validate(spec::from_proto(request.spec()));
    REQUIRE(valid.ok() || fuzz::names_a_field(valid), fuzz::words(valid));
    if (valid.ok()) printed_and_read(request.spec());
  }
  v1::Template stored;
  if (const absl::Status read = cli::read_template(input, kName, stored); !read.ok()) {
    REQUIRE(fuzz::words(read).starts_with(kName + ":"), fuzz::words(read));
  } else {
    cli::message_text(stored, cli::TextForm::Yaml);
  }
}
