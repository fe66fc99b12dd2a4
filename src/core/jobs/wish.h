// A job that a module of the engine wants, as it is stored and handed to whoever makes jobs of wishes (PrepareJob). The
// engine builds no specs: a wish names a template, or has the bytes of a spec that somebody else wrote.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/core/jobs/template.h"

namespace hodei::core {

struct JobWish {
  std::string ns;
  std::string template_name = {};   // in the same namespace; empty: the spec is the whole job
  std::string spec = {};            // a serialized JobSpec; beside a template, what wins over it
  Values parameters = {};           // of the template
  std::string correlation_id = {};  // empty: one is made

  bool operator==(const JobWish&) const = default;
};

std::string encode(const JobWish& wish);
// DATA_LOSS: these are not the bytes of a wish.
absl::StatusOr<JobWish> decode_wish(std::string_view bytes);

}  // namespace hodei::core
