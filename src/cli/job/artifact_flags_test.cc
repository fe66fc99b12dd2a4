#include "src/cli/job/artifact_flags.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::cli::artifact_flags_test {
namespace {

using testing::ElementsAre;

TEST(ArtifactFlags, BecomeInputsAndOutputsOfTheSpec) {
  v1::JobSpec spec;
  ASSERT_TRUE(set_artifacts({.inputs = {"hodei:a/b", "https://h/x?sig=1=in/x"},
                             .archives = {"http://h/y.tar=src"},
                             .outputs = {"out/r=https://h/z?a=b"}},
                            spec)
                  .ok());
  ASSERT_EQ(spec.inputs_size(), 3);
  EXPECT_EQ(spec.inputs(0).url(), "hodei:a/b");
  EXPECT_EQ(spec.inputs(0).path(), "");
  EXPECT_EQ(spec.inputs(1).url(), "https://h/x?sig=1");
  EXPECT_EQ(spec.inputs(1).path(), "in/x");
  EXPECT_FALSE(spec.inputs(1).unpack());
  EXPECT_TRUE(spec.inputs(2).unpack());
  ASSERT_EQ(spec.outputs_size(), 1);
  EXPECT_EQ(spec.outputs(0).path(), "out/r");
  EXPECT_EQ(spec.outputs(0).url(), "https://h/z?a=b");
}

TEST(ArtifactFlags, AnOutputNeedsPathAndUrl) {
  v1::JobSpec spec;
  EXPECT_FALSE(set_artifacts({.outputs = {"result"}}, spec).ok());
  EXPECT_FALSE(set_artifacts({.outputs = {"=hodei:x"}}, spec).ok());
}

TEST(ArtifactFlags, AnOutputOfTheJobIsToldFromTheFormOfWhatIsPrinted) {
  std::vector<std::string> words = {"job",      "submit",    "--output",           "json",
                                    "--output", "a=hodei:a", "--output=b=hodei:b", "--output=yaml",
                                    "--name",   "x=y"};
  tell_outputs_apart(words);
  EXPECT_THAT(words, ElementsAre("job", "submit", "--output", "json", "--output-to", "a=hodei:a",
                                 "--output-to=b=hodei:b", "--output=yaml", "--name", "x=y"));
}

}  // namespace
}  // namespace hodei::cli::artifact_flags_test
