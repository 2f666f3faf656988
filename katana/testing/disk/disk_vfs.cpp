#include "katana/testing/disk/disk_vfs.hpp"

#include <cstring>
#include <memory>

#include "katana/base/system/check.hpp"
#include "katana/testing/disk/disk_core.hpp"

namespace katana::testing::detail {
namespace {

// SQLite makes room for it, and fills `base` alone.
struct Handle {
  sqlite3_file base;
  DiskCore* core;
  OpenFile* opened;
};

DiskCore& core_of(sqlite3_vfs* vfs) noexcept { return *static_cast<DiskCore*>(vfs->pAppData); }
DiskCore& core_of(sqlite3_file* file) noexcept { return *reinterpret_cast<Handle*>(file)->core; }
OpenFile& opened_of(sqlite3_file* file) noexcept {
  return *reinterpret_cast<Handle*>(file)->opened;
}

int close_file(sqlite3_file* file) {
  const std::unique_ptr<OpenFile> opened(&opened_of(file));
  core_of(file).close(*opened);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  return core_of(file).read(opened_of(file), static_cast<char*>(to),
                            static_cast<std::size_t>(bytes), static_cast<std::uint64_t>(at));
}

int write_file(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 at) {
  return core_of(file).write(opened_of(file),
                             {static_cast<const char*>(data), static_cast<std::size_t>(bytes)},
                             static_cast<std::uint64_t>(at));
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return core_of(file).truncate(opened_of(file), static_cast<std::uint64_t>(size));
}

int sync_file(sqlite3_file* file, int) { return core_of(file).sync(opened_of(file)); }

int size_of_file(sqlite3_file* file, sqlite3_int64* bytes) {
  return core_of(file).size(opened_of(file), *bytes);
}

int lock_file(sqlite3_file* file, int level) { return core_of(file).lock(opened_of(file), level); }

int unlock_file(sqlite3_file* file, int level) {
  return core_of(file).unlock(opened_of(file), level);
}

int check_reserved(sqlite3_file* file, int* result) {
  bool reserved = false;
  const int code = core_of(file).is_reserved(opened_of(file), reserved);
  *result = reserved ? 1 : 0;
  return code;
}

int control_file(sqlite3_file* file, int operation, void* argument) {
  switch (operation) {
    case SQLITE_FCNTL_HAS_MOVED:
      *static_cast<int*>(argument) = core_of(file).has_moved(opened_of(file)) ? 1 : 0;
      return SQLITE_OK;
    case SQLITE_FCNTL_LOCKSTATE:
      *static_cast<int*>(argument) = opened_of(file).lock;
      return SQLITE_OK;
    case SQLITE_FCNTL_SIZE_HINT: return SQLITE_OK;
    default: return SQLITE_NOTFOUND;
  }
}

// As SQLite's unix VFS has it, whatever the disk's own sectors are.
int sector_bytes(sqlite3_file*) { return 4096; }

int characteristics(sqlite3_file* file) {
  return core_of(file).options().powersafe_overwrite ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0;
}

int map_index(sqlite3_file* file, int region, int bytes, int extend, void volatile** memory) {
  return core_of(file).map_index(opened_of(file), static_cast<std::size_t>(region),
                                 static_cast<std::size_t>(bytes), extend != 0, memory);
}

int lock_index(sqlite3_file* file, int first, int count, int flags) {
  return core_of(file).lock_index(opened_of(file), first, count, flags);
}

void index_barrier(sqlite3_file* file) { core_of(file).barrier(); }

int unmap_index(sqlite3_file* file, int) {
  core_of(file).unmap_index(opened_of(file));
  return SQLITE_OK;
}

constexpr sqlite3_io_methods methods = {
    .iVersion = 2,  // with shared memory, without mapped files
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved,
    .xFileControl = control_file,
    .xSectorSize = sector_bytes,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = index_barrier,
    .xShmUnmap = unmap_index,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  auto& handle = *reinterpret_cast<Handle*>(file);
  handle.base.pMethods = nullptr;
  auto opened = std::make_unique<OpenFile>();
  const int code = core_of(vfs).open(path, flags, *opened);
  if (code != SQLITE_OK) return code;
  handle = {{&methods}, &core_of(vfs), opened.release()};
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  return core_of(vfs).remove(path, sync_folder != 0);
}

int access_file(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  bool there = false;
  // An empty file does not exist for SQLite: it would be a journal that was not begun.
  const int code = core_of(vfs).access(full_path(path), flags == SQLITE_ACCESS_EXISTS, there);
  *result = there ? 1 : 0;
  return code;
}

int write_full_path(sqlite3_vfs*, const char* path, int bytes, char* to) {
  const std::string full = full_path(path);
  if (full.size() + 1 > static_cast<std::size_t>(bytes)) return SQLITE_CANTOPEN;
  std::memcpy(to, full.c_str(), full.size() + 1);
  return SQLITE_OK;
}

int random_bytes(sqlite3_vfs* vfs, int bytes, char* to) {
  return core_of(vfs).random_bytes(to, bytes);
}

// In ms since noon of 24 November 4714 BC, as SQLite counts days.
int current_time(sqlite3_vfs* vfs, sqlite3_int64* ms) {
  constexpr sqlite3_int64 unix_epoch_ms = 210'866'760'000'000;
  const auto& clock = core_of(vfs).options().unix_time_ms;
  if (clock) {
    *ms = unix_epoch_ms + clock();
    return SQLITE_OK;
  }
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  return system->xCurrentTimeInt64(system, ms);
}

int current_day(sqlite3_vfs* vfs, double* day) {
  sqlite3_int64 ms = 0;
  const int code = current_time(vfs, &ms);
  *day = static_cast<double>(ms) / 86'400'000.0;
  return code;
}

int last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

std::string full_path(std::string_view path) {
  return path.starts_with('/') ? std::string(path) : "/" + std::string(path);
}

DiskVfs::DiskVfs(DiskCore& core, const std::string& name) : vfs(*sqlite3_vfs_find(nullptr)) {
  vfs.szOsFile = sizeof(Handle);
  vfs.pNext = nullptr;
  vfs.zName = name.c_str();
  vfs.pAppData = &core;
  vfs.xOpen = open_file;
  vfs.xDelete = remove_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = write_full_path;
  vfs.xRandomness = random_bytes;
  vfs.xCurrentTime = current_day;
  vfs.xCurrentTimeInt64 = current_time;
  vfs.xGetLastError = last_error;
  KATANA_CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

DiskVfs::~DiskVfs() { sqlite3_vfs_unregister(&vfs); }

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
