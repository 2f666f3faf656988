#include "katana/stores/database/sqlite/faulty_vfs_test.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

namespace katana::database::sqlite {
namespace {

struct File {
  sqlite3_file base;
  sqlite3_file* real;
  std::string* path;
};

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return of(file).real; }
sqlite3_vfs* system_files() { return sqlite3_vfs_find("unix"); }

int close(sqlite3_file* file) {
  const int code = real(file)->pMethods->xClose(real(file));
  delete of(file).path;
  delete[] reinterpret_cast<char*>(real(file));
  return code;
}
int read(sqlite3_file* file, void* data, int size, sqlite3_int64 at) {
  return faults().read(real(file), data, size, at);
}
int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
  return faults().write(*of(file).path, real(file), data, size, at);
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return faults().truncate(*of(file).path, real(file), size);
}
int sync(sqlite3_file* file, int flags) { return faults().sync(*of(file).path, real(file), flags); }

const sqlite3_io_methods methods = {
    2, close, read, write, truncate, sync,
    [](sqlite3_file* f, sqlite3_int64* size) {
      return real(f)->pMethods->xFileSize(real(f), size);
    },
    [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); },
    [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); },
    [](sqlite3_file* f, int* held) { return real(f)->pMethods->xCheckReservedLock(real(f), held); },
    [](sqlite3_file* f, int op, void* arg) {
      return real(f)->pMethods->xFileControl(real(f), op, arg);
    },
    [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); },
    // A power-safe overwrite would let SQLite flush less than this disk needs.
    [](sqlite3_file*) { return 0; },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** memory) {
      return real(f)->pMethods->xShmMap(real(f), page, size, extend, memory);
    },
    [](sqlite3_file* f, int offset, int count, int flags) {
      return real(f)->pMethods->xShmLock(real(f), offset, count, flags);
    },
    [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); },
    [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); },
    nullptr, nullptr};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  sqlite3_vfs* const system = system_files();
  File& opened = of(file);
  const auto bytes = static_cast<std::size_t>(system->szOsFile);
  opened.real = reinterpret_cast<sqlite3_file*>(new char[bytes]());
  const int code = system->xOpen(system, name, opened.real, flags, flags_out);
  if (code != SQLITE_OK) {
    delete[] reinterpret_cast<char*>(opened.real);
    opened.base.pMethods = nullptr;
    return code;
  }
  opened.path = new std::string(name != nullptr ? name : "");
  opened.base.pMethods = &methods;
  return SQLITE_OK;
}

int remove(sqlite3_vfs*, const char* name, int flush) {
  if (!faults().may_delete(name)) return SQLITE_IOERR_DELETE;
  return system_files()->xDelete(system_files(), name, flush);
}

}  // namespace

Faults& faults() {
  static Faults only;
  return only;
}

Faults::Faults() {
  static sqlite3_vfs layer = *system_files();
  layer.zName = "katana-faulty";
  layer.szOsFile = sizeof(File);
  layer.xOpen = open;
  layer.xDelete = remove;
  layer.pNext = nullptr;
  sqlite3_vfs_register(&layer, 0);
}

bool Faults::strikes(std::initializer_list<Fault> kinds) {
  if (std::find(kinds.begin(), kinds.end(), fault_) == kinds.end() || left_ <= 0) return false;
  if (left_ > 1) {
    --left_;
    return false;
  }
  ++struck_;
  if (!lasting_) left_ = 0;
  return true;
}

void Faults::remember(const std::string& path, sqlite3_file* real, sqlite3_int64 at,
                      sqlite3_int64 size) {
  sqlite3_int64 bytes = 0;
  real->pMethods->xFileSize(real, &bytes);
  Undo undo{at, {}, bytes};
  const sqlite3_int64 there = std::clamp<sqlite3_int64>(bytes - at, 0, size);
  undo.before.resize(static_cast<std::size_t>(there));
  if (there > 0) real->pMethods->xRead(real, undo.before.data(), static_cast<int>(there), at);
  unflushed_[path].push_back(std::move(undo));
}

int Faults::write(const std::string& path, sqlite3_file* real, const void* data, int size,
                  sqlite3_int64 at) {
  const std::lock_guard lock(mutex_);
  if (off_) return SQLITE_IOERR_WRITE;
  if (strikes({Fault::full})) return SQLITE_FULL;
  if (strikes({Fault::read_only})) return SQLITE_READONLY;
  if (strikes({Fault::write_error})) return SQLITE_IOERR_WRITE;
  remember(path, real, at, size);
  if (strikes({Fault::short_write})) {
    real->pMethods->xWrite(real, data, size / 2, at);
    return SQLITE_IOERR_WRITE;
  }
  return real->pMethods->xWrite(real, data, size, at);
}

int Faults::truncate(const std::string& path, sqlite3_file* real, sqlite3_int64 size) {
  const std::lock_guard lock(mutex_);
  if (off_) return SQLITE_IOERR_TRUNCATE;
  sqlite3_int64 bytes = 0;
  real->pMethods->xFileSize(real, &bytes);
  if (bytes > size) remember(path, real, size, bytes - size);
  return real->pMethods->xTruncate(real, size);
}

int Faults::sync(const std::string& path, sqlite3_file* real, int) {
  const std::lock_guard lock(mutex_);
  // The pages of a failed flush are never flushed: the kernel forgets them.
  if (off_ || strikes({Fault::sync_error})) return SQLITE_IOERR_FSYNC;
  unflushed_.erase(path);  // the real flush would only take time: the power is ours
  (void)real;
  return SQLITE_OK;
}

int Faults::read(sqlite3_file* real, void* data, int size, sqlite3_int64 at) {
  {
    const std::lock_guard lock(mutex_);
    if (strikes({Fault::read_error})) return SQLITE_IOERR_READ;
  }
  return real->pMethods->xRead(real, data, size, at);
}

bool Faults::may_delete(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!off_) unflushed_.erase(path);
  return !off_;
}

void Faults::lose_unflushed(const std::string& path) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : {path, path + "-wal"}) {
    auto& undos = unflushed_[name];
    if (!std::filesystem::exists(name)) continue;
    for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) {
      {
        std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(undo->at);
        file.write(undo->before.data(), static_cast<std::streamsize>(undo->before.size()));
      }
      std::filesystem::resize_file(name, static_cast<std::uintmax_t>(undo->size));
    }
  }
  unflushed_.clear();
  std::filesystem::remove(path + "-shm");
  off_ = false;
  fault_ = Fault::none;
}

}  // namespace katana::database::sqlite

// SPDX-License-Identifier: Apache-2.0
