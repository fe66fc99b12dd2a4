#include "src/cli/output/error_text.h"

#include <nlohmann/json.hpp>

#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/cli/documents/message_text.h"

namespace hodei::cli {
namespace {

constexpr std::string_view kLongFlag = "--output=";

std::string as_text(absl::StatusCode code, std::string_view message) {
  std::string text(message);
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) text.insert(at + 1, "  ");
  if (text.empty()) text = absl::StatusCodeToString(code);
  return cat("hodei: error: ", printable_lines(text), "\n");
}

}  // namespace

ErrorForm error_form(std::string_view output) {
  if (output == "json") return ErrorForm::Json;
  return output == "yaml" ? ErrorForm::Yaml : ErrorForm::Text;
}

ErrorForm error_form_in(const std::vector<std::string>& words) {
  ErrorForm found = ErrorForm::Text;
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const bool has_next = i + 1 < words.size();
    const std::string_view word = words[i];
    if ((word == "-o" || word == "--output") && has_next) found = error_form(words[i + 1]);
    if (word.starts_with(kLongFlag)) found = error_form(word.substr(kLongFlag.size()));
    if (word == "-ojson" || word == "-oyaml") found = error_form(word.substr(2));
  }
  return found;
}

std::string error_text(ErrorForm form, absl::StatusCode code, std::string_view message) {
  if (form == ErrorForm::Text) return as_text(code, message);
  const size_t end = message.find('\n');
  nlohmann::ordered_json error = {{"code", absl::StatusCodeToString(code)}, {"message", message.substr(0, end)}};
  if (end != std::string_view::npos) error["hint"] = message.substr(end + 1);
  const nlohmann::ordered_json json = {{"error", error}};
  return json_text(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                   form == ErrorForm::Json ? TextForm::JsonLine : TextForm::Yaml);
}

}  // namespace hodei::cli
