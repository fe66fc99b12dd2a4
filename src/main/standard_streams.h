// Streams 0, 1 and 2 of a program that was started without them (`hodei run … <&-`).
#pragma once

namespace hodei {

// What is closed would otherwise be the next file or socket that is opened, and whatever is printed would go into it.
// Each becomes one that fails when it is used, so that a command still notices. Linking this file is enough: it runs
// before main, and before libraries open descriptors of their own.
void fill_missing_streams();

}  // namespace hodei
