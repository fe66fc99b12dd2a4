// `hodei-worker @console LIMIT`: writes what comes on its standard input to its standard output, up to a limit, and
// reads on behind it. Between a microVM and the file of its console: a monitor that wrote there itself would be ended
// by a full file, and the guest with it.
#pragma once

namespace hodei {

// True: it was that, and has ended. It goes into the background first.
bool was_console_keeper(int argc, char** argv, int& exit_code);

}  // namespace hodei
