#include "src/cli/job/artifact_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"

namespace hodei::cli {
namespace {

constexpr std::string_view kOutputFlag = "--output";
constexpr std::string_view kOutputToFlag = "--output-to";

// URL=PATH, where the URL may have = in its query and the path may not: the last one parts them. Without a path the job
// finds the file under the last part of the URL.
void add_input(const std::string& text, bool unpack, v1::JobSpec& spec) {
  v1::Artifact& artifact = *spec.add_inputs();
  const size_t equals = text.rfind('=');
  artifact.set_url(text.substr(0, equals));
  if (equals != std::string::npos) artifact.set_path(text.substr(equals + 1));
  artifact.set_unpack(unpack);
}

}  // namespace

void add_artifact_flags(CLI::App& command, ArtifactFlags& flags) {
  repeatable(command, "--input", flags.inputs,
             "fetch a file into the job's folder before it starts: hodei:NAME, https://…, file:///…")
      ->type_name("URL[=PATH]");
  repeatable(command, "--input-archive", flags.archives,
             "fetch an archive and unpack it (tar, tar.gz, .zst, .xz, .bz2, zip)")
      ->type_name("URL[=FOLDER]");
  repeatable(command, "--output-to", flags.outputs,
             "upload a file after the job has succeeded; same as --output PATH=URL")
      ->type_name("PATH=URL");
}

absl::Status set_artifacts(const ArtifactFlags& flags, v1::JobSpec& spec) {
  for (const std::string& text : flags.inputs) add_input(text, false, spec);
  for (const std::string& text : flags.archives) add_input(text, true, spec);
  for (const std::string& text : flags.outputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_field("--output", "'", text, "' is not PATH=URL; write --output result.txt=hodei:result.txt");
    }
    v1::Artifact& artifact = *spec.add_outputs();
    artifact.set_path(text.substr(0, equals));
    artifact.set_url(text.substr(equals + 1));
  }
  return absl::OkStatus();
}

void tell_outputs_apart(std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const bool next_has_path = i + 1 < words.size() && words[i + 1].find('=') != std::string::npos;
    if (words[i] == kOutputFlag && next_has_path) words[i] = kOutputToFlag;
    const std::string joined = cat(kOutputFlag, "=");
    if (words[i].starts_with(joined) && words[i].find('=', joined.size()) != std::string::npos) {
      words[i].replace(0, kOutputFlag.size(), kOutputToFlag);
    }
  }
}

}  // namespace hodei::cli
