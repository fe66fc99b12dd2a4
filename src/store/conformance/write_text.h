// Every field of a write as one line of text, so that tests compare whole stores and print what differs.
#pragma once

#include <string>
#include <vector>

#include "src/store/store.h"

namespace hodei::store {

std::string to_text(const core::JobHead& job);
std::string to_text(const core::SpecRow& spec);
std::string to_text(const core::Write& write);
std::string to_text(const JobView& view);

// All that load() tells, in its order.
std::vector<std::string> load_text(Store& store);

// All jobs, live and finished, newest first, with their spec bytes.
std::vector<std::string> history_text(Reader& reader);

}  // namespace hodei::store
