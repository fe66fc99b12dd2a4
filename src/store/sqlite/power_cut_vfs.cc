#include "src/store/sqlite/power_cut_vfs.h"

#include <new>
#include <string>

namespace hodei::store {
namespace {

// SQLite allocates this and, right behind it, the file of the real layer.
struct ShimFile {
  sqlite3_file base;
  PowerCutDisk* disk;
  std::string* path;  // null: a temporary file, which no restart looks for

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

ShimFile& shim(sqlite3_file* file) { return *reinterpret_cast<ShimFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return shim(file).real(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }
sqlite3_vfs* real_vfs() { return sqlite3_vfs_find("unix"); }
PowerCutDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<PowerCutDisk*>(vfs->pAppData); }

int close_file(sqlite3_file* file) {
  delete shim(file).path;
  return methods(file).xClose(real(file));
}

int read_file(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
  return methods(file).xRead(real(file), out, size, at);
}

bool would_grow(sqlite3_file* file, sqlite3_int64 to) {
  sqlite3_int64 now = 0;
  methods(file).xFileSize(real(file), &now);
  return to > now;
}

int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  ShimFile& f = shim(file);
  if (f.disk->is_full() && would_grow(file, at + size)) return SQLITE_FULL;
  if (f.path != nullptr) {
    PowerCutDisk::Operation operation{.at = static_cast<uint64_t>(at),
                                      .data = std::string(static_cast<const char*>(data), static_cast<size_t>(size))};
    if (!f.disk->begin(*f.path, std::move(operation))) return SQLITE_IOERR_WRITE;
  }
  return methods(file).xWrite(real(file), data, size, at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  ShimFile& f = shim(file);
  const PowerCutDisk::Operation operation{.truncates = true, .at = static_cast<uint64_t>(size)};
  if (f.path != nullptr && !f.disk->begin(*f.path, operation)) return SQLITE_IOERR_TRUNCATE;
  return methods(file).xTruncate(real(file), size);
}

// The real files need no sync: only this layer's memory of them outlives the cut.
int sync_file(sqlite3_file* file, int) {
  ShimFile& f = shim(file);
  return f.path == nullptr || f.disk->sync(*f.path) ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) { return methods(file).xFileSize(real(file), size); }
int lock_file(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int check_lock(sqlite3_file* file, int* out) { return methods(file).xCheckReservedLock(real(file), out); }
int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }

int file_control(sqlite3_file* file, int op, void* argument) {
  // Room taken ahead of writes would change files behind this layer's back.
  if (op == SQLITE_FCNTL_SIZE_HINT || op == SQLITE_FCNTL_CHUNK_SIZE) return SQLITE_OK;
  return methods(file).xFileControl(real(file), op, argument);
}

// Shared memory is memory: gone after the cut.
int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  return methods(file).xShmMap(real(file), region, size, extend, out);
}
int shm_lock(sqlite3_file* file, int at, int n, int flags) { return methods(file).xShmLock(real(file), at, n, flags); }
void shm_barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) { return methods(file).xShmUnmap(real(file), remove); }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  ShimFile& f = shim(file);
  f.base.pMethods = nullptr;
  const int code = real_vfs()->xOpen(real_vfs(), name, f.real(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  f.disk = &disk_of(vfs);
  f.path = name == nullptr ? nullptr : new std::string(name);
  if (f.path != nullptr) f.disk->created(*f.path);
  f.base.pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  if (!disk_of(vfs).remove(name)) return SQLITE_IOERR_DELETE;
  return real_vfs()->xDelete(real_vfs(), name, sync_folder);
}

}  // namespace

sqlite3_vfs make_power_cut_vfs(PowerCutDisk& disk, const char* name) {
  sqlite3_vfs vfs = *real_vfs();
  vfs.szOsFile += static_cast<int>(sizeof(ShimFile));
  vfs.pNext = nullptr;
  vfs.zName = name;
  vfs.pAppData = &disk;
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  return vfs;
}

}  // namespace hodei::store
