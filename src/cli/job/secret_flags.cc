#include "src/cli/job/secret_flags.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/repeatable.h"

namespace hodei::cli {
namespace {

// A secret of this name that the file or the template brought is replaced.
v1::Secret& named_secret(v1::JobSpec& spec, const std::string& name) {
  for (v1::Secret& secret : *spec.mutable_secrets()) {
    if (secret.name() != name) continue;
    secret.Clear();
    secret.set_name(name);
    return secret;
  }
  v1::Secret& secret = *spec.add_secrets();
  secret.set_name(name);
  return secret;
}

}  // namespace

void add_secret_flags(CLI::App& command, SecretFlags& f) {
  repeatable(command, "--secret", f.names, "a secret stored on the server; the job reads it from standard input")
      ->type_name("NAME");
  repeatable(command, "--secret-from", f.from, "a secret with its value from a file (- for standard input)")
      ->type_name("NAME=FILE");
  command.add_flag("--secret-files", f.files, "provide secrets also as files in $HODEI_SECRETS, on a private tmpfs");
}

absl::StatusOr<std::string> read_secret_from_stdin(const Surroundings& io) {
  ASSIGN_OR_RETURN(std::string value, io.read_stdin());
  if (value.ends_with("\n")) value.pop_back();
  return value;
}

absl::Status set_secrets(const SecretFlags& flags, const Surroundings& io, v1::JobSpec& spec) {
  for (const std::string& name : flags.names) named_secret(spec, name);
  for (const std::string& text : flags.from) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return bad_field("--secret-from", "'", text,
                       "' is not NAME=FILE; write --secret-from token=token.txt, or token=- for "
                       "standard input");
    }
    const std::string file = text.substr(equals + 1);
    ASSIGN_OR_RETURN(std::string value,
                     file == "-" ? read_secret_from_stdin(io) : read_small_file(file, kLargestSecret));
    if (value.empty()) return bad_field("--secret-from", file, " is empty");
    named_secret(spec, text.substr(0, equals)).set_value(std::move(value));
  }
  if (flags.files) spec.set_secret_files(true);
  return absl::OkStatus();
}

void merge_secrets(const v1::JobSpec& given, v1::JobSpec& spec) {
  for (const v1::Secret& secret : given.secrets()) named_secret(spec, secret.name()) = secret;
  if (given.secret_files()) spec.set_secret_files(true);
}

}  // namespace hodei::cli
