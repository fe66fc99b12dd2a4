// Numbers that people write: what is none is refused where it was written, before a server hears of it.
#include "gmock/gmock.h"
#include "hodei/v1/job_service.pb.h"
#include "src/cli/job/job_file.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli::numbers_test {
namespace {

using testing::HasSubstr;

constexpr const char* kNoNumbers[] = {"nan",      "NaN",   "-nan", "nan(1)", ".nan", "inf", "-inf",  ".inf",
                                      "infinity", "1e999", "-1",   "1e",     "0x10", "",    "1e308", "-1e308"};

TEST(Numbers, OfTheCommandLineAreDigitsAndAPoint) {
  for (const std::string text : kNoNumbers) {
    EXPECT_FALSE(parse_number(text).ok()) << text;
    EXPECT_FALSE(parse_cores(text).ok()) << text;
    EXPECT_FALSE(parse_rate(text + "/s").ok()) << text;
    EXPECT_FALSE(parse_bytes(text + "G").ok()) << text;
    EXPECT_FALSE(parse_duration(text + "s").ok()) << text;
  }
  const std::string huge(400, '9');
  EXPECT_FALSE(parse_number(huge).ok());
  EXPECT_FALSE(parse_cores(huge).ok());
  EXPECT_FALSE(parse_bytes(huge + "T").ok());
  EXPECT_FALSE(parse_duration(huge + "d").ok());
  EXPECT_EQ(parse_number("0.000").value(), 0);
}

TEST(Numbers, OfAFileAreFinite) {
  for (const char* text : {"nan", "NaN", ".nan", "inf", "-inf", ".inf", "infinity", "1e999", "nan(1)"}) {
    v1::QueueJobRequest request;
    const absl::Status status = read_job(
        std::string("command: {shell: {cmd: x}}\nresources: {cpu_cores: ") + text + "}\n", "job.yaml", request);
    EXPECT_THAT(std::string(status.message()), HasSubstr("job.yaml:2: resources.cpu_cores: must be ")) << text;
  }
  v1::QueueJobRequest request;
  EXPECT_TRUE(read_job("command: {shell: {cmd: x}}\nresources: {cpu_cores: -0.0}\n", "job.yaml", request).ok());
}

}  // namespace
}  // namespace hodei::cli::numbers_test
