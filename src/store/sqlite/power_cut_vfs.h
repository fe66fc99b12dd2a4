// The table of functions that puts a PowerCutDisk between SQLite and the real file layer.
#pragma once

#include <sqlite3.h>

#include "src/store/sqlite/power_cut_disk.h"

namespace hodei::store {

// `name` must live as long as the layer is registered.
sqlite3_vfs make_power_cut_vfs(PowerCutDisk& disk, const char* name);

}  // namespace hodei::store
