// What all fuzz targets share: the entrance, and how a broken property is said.
//
// A target is one file. FUZZ_TARGET(input) { … } is run for every input; REQUIRE says what must hold for each of them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/journal.h"
#include "src/base/text.h"

namespace hodei::fuzz {

[[noreturn]] inline void broken(const char* condition, const std::string& about, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: must hold: %s\n  %s\n", file, line, condition, about.c_str());
  std::abort();
}

// What a person is told when something from outside is refused: which field, and why.
inline bool names_a_field(const absl::Status& status) {
  const std::string_view text(status.message().data(), status.message().size());
  const size_t colon = text.find(": ");
  return colon != std::string_view::npos && colon > 0 && text[0] >= 'a' && text[0] <= 'z' && colon + 2 < text.size();
}

inline std::string words(const absl::Status& status) { return std::string(status.message()); }

}  // namespace hodei::fuzz

#define REQUIRE(condition, ...) \
  ((condition) ? void() : ::hodei::fuzz::broken(#condition, ::hodei::cat(__VA_ARGS__), __FILE__, __LINE__))

#define FUZZ_TARGET(input)                                                  \
  static void fuzz_one(std::string_view input);                             \
  extern "C" int LLVMFuzzerInitialize(int*, char***) {                      \
    ::hodei::set_journal_level(::hodei::Level::Off);                        \
    return 0;                                                               \
  }                                                                         \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    fuzz_one(std::string_view(reinterpret_cast<const char*>(data), size));  \
    return 0;                                                               \
  }                                                                         \
  static void fuzz_one(std::string_view input)
