// Prints an error: as text for people, or as data for programs that use `-o json` or `-o yaml`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hodei::cli {

enum class ErrorForm { Text, Json, Yaml };

ErrorForm error_form(std::string_view output);  // the value of -o

// Of a command line that could not be parsed: what its -o says, wherever it stands.
ErrorForm error_form_in(const std::vector<std::string>& words);

// The first line of the message says what is wrong, the others what to do. As JSON it is one line, so that a program
// that reads stderr line by line finds it among the notes.
std::string error_text(ErrorForm form, absl::StatusCode code, std::string_view message);

}  // namespace hodei::cli
