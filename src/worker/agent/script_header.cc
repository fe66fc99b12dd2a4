#include "src/worker/agent/script_header.h"

#include "src/base/text.h"

namespace hodei::worker {
namespace {

std::string_view first_word(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_of(" \t\r\n"));
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `/usr/bin/env -S bash -x` runs bash.
std::string_view shell_of(std::string_view command) {
  std::string_view word = first_word(command);
  if (base_name(word) != "env") return base_name(word);
  std::string_view rest = command.substr(command.find(word) + word.size());
  for (word = first_word(rest); word.starts_with("-") || word.find('=') != std::string_view::npos;) {
    rest = rest.substr(rest.find(word) + word.size());
    word = first_word(rest);
  }
  return base_name(word);
}

}  // namespace

std::string_view safety_header(std::string_view interpreter) {
  const std::string_view shell = shell_of(interpreter);
  if (shell == "bash" || shell == "zsh" || shell == "ksh") return "set -euo pipefail";
  // Tried in a subshell first: a shell without pipefail ends at an option that it does not know.
  if (shell == "sh" || shell == "dash" || shell == "ash") {
    return "set -eu; if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi";
  }
  return {};
}

std::string with_safety_header(std::string_view interpreter, std::string_view content) {
  const std::string_view header = safety_header(interpreter);
  if (header.empty()) return std::string(content);
  if (!content.starts_with("#!")) return cat(header, "\n", content);
  const size_t end = content.find('\n');
  if (end == std::string_view::npos) return cat(content, "\n", header, "\n");
  return cat(content.substr(0, end + 1), header, "\n", content.substr(end + 1));
}

std::string_view shebang_interpreter(std::string_view content) {
  if (!content.starts_with("#!")) return {};
  std::string_view line = content.substr(2, content.find('\n') - 2);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

}  // namespace hodei::worker
