// Ids and names as people and programs give them.
#include "src/base/ids.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;

static void job_id(std::string_view text) {
  const absl::StatusOr<JobId> id = parse_job_id(text);
  if (!id.ok()) {
    REQUIRE(fuzz::names_a_field(id.status()), fuzz::words(id.status()));
    return;
  }
  REQUIRE(number(*id) > 0 && number(*id) < uint64_t{1} << 60, number(*id));
  REQUIRE(*parse_job_id(short_id(*id)) == *id, short_id(*id));
  REQUIRE(*parse_job_id(public_id(*id)) == *id, public_id(*id));
}

static void execution_id(std::string_view text) {
  const absl::StatusOr<ExecutionId> id = parse_execution_id(text);
  if (!id.ok()) {
    REQUIRE(fuzz::names_a_field(id.status()), fuzz::words(id.status()));
    return;
  }
  REQUIRE(id->number > 0, to_string(*id));
  REQUIRE(*parse_execution_id(to_string(*id)) == *id, to_string(*id));
}

static void a_name(std::string_view text) {
  const absl::Status good = check_name("name", text);
  if (!good.ok()) {
    REQUIRE(fuzz::names_a_field(good), fuzz::words(good));
    return;
  }
  // A name becomes a part of paths, command lines and log lines.
  REQUIRE(!text.empty() && text.size() <= 100, text.size());
  REQUIRE(text.find_first_of(std::string_view("/\\\0\n\r \t;$`'\"|&<>*?", 18)) == std::string_view::npos, text);
  REQUIRE(text[0] != '-' && text[0] != '.', text);
}

FUZZ_TARGET(input) {
  job_id(input);
  execution_id(input);
  a_name(input);
}
