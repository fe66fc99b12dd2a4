// `hodei-worker install PATH`: the program copies itself. An image made from scratch has nothing else that could: this
// is how the worker comes from its own image into the pod of another (src/providers/kubernetes).
#pragma once

namespace hodei {

// True: the command line asked for it; `exit_code` says how it ended.
bool was_self_install(int argc, char** argv, int& exit_code);

}  // namespace hodei
