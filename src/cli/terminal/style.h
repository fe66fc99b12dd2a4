// How text for people is laid out: colours, headers, the width of the terminal, the time zone.
#pragma once

#include <string>

#include "src/base/time.h"

namespace hodei::cli {

struct Style {
  bool colours = false;
  bool headers = true;
  bool utc = false;
  size_t columns = 0;  // of the terminal; 0: as wide as the text is
};

// 2026-11-15T15:04:05.123+01:00 in the zone of the machine (TZ), or, where that is UTC or asked for, with a Z.
std::string shown_time(WallTime time, const Style& style);

}  // namespace hodei::cli
