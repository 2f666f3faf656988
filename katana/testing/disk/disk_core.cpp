#include "katana/testing/disk/disk_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::testing::detail {
namespace {

std::string_view folder_of(std::string_view path) noexcept {
  return path.substr(0, path.rfind('/') + 1);
}

std::uint64_t in_pages(std::uint64_t bytes) noexcept {
  return (bytes + disk_page_bytes - 1) / disk_page_bytes * disk_page_bytes;
}

}  // namespace

DiskCore::DiskCore(DiskOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      capacity_bytes_(options_.capacity_bytes) {}

// ---- the trace

void DiskCore::note(DiskPoint point, std::string_view path, std::uint64_t at, std::uint64_t bytes,
                    int code) {
  add(point);
  const auto mix = [&](std::uint64_t word) {
    trace_hash_ = std::rotl((trace_hash_ ^ word) * 0x9e3779b97f4a7c15, 29);
  };
  mix(static_cast<std::uint64_t>(point));
  for (const char each : path) mix(static_cast<unsigned char>(each));
  mix(at);
  mix(bytes);
  mix(static_cast<std::uint64_t>(code));
  ++traced_;
  if (options_.trace_lines_max == 0) return;
  if (trace_.size() == options_.trace_lines_max) trace_.pop_front();
  std::string line = fmt::format("{} {} {} {}+{}", traced_, name_of(point),
                                 path.empty() ? "(temporary)" : path, at, bytes);
  if (code != SQLITE_OK) line += fmt::format(": {}", code);
  trace_.push_back(std::move(line));
}

// ---- crashes

bool DiskCore::is_dead(const OpenFile& opened) {
  if (opened.life == life_ && !is_down_) return false;
  add(DiskPoint::dead_call);
  return true;
}

bool DiskCore::begin_operation() noexcept { return ++operations_ == crash_at_; }

int DiskCore::power_failed(int code) {
  CrashTally tally;
  std::uint64_t names_lost = 0;
  names_ = names_after_crash(random_, tally, names_lost);
  durable_names_ = names_;
  name_changes_.clear();
  is_down_ = true;
  add(DiskPoint::page_kept, tally.pages_kept);
  add(DiskPoint::page_lost, tally.pages_lost);
  add(DiskPoint::page_torn, tally.pages_torn);
  add(DiskPoint::page_rotten, tally.pages_rotten);
  add(DiskPoint::size_lost, tally.sizes_lost);
  add(DiskPoint::name_lost, names_lost);
  note(DiskPoint::power_failure, "", operations_, 0, code);
  return code;
}

DiskCore::Names DiskCore::names_after_crash(Random& random, CrashTally& tally,
                                            std::uint64_t& names_lost) const {
  CrashPlan plan;
  plan.kind = static_cast<CrashKind>(random.below(5));
  plan.moment = operations_ - random.below(std::min<std::uint64_t>(operations_, 64) + 1);
  plan.sector_bytes = options_.sector_bytes != 0 ? options_.sector_bytes
                      : random.chance(512)       ? 512
                                                 : disk_page_bytes;
  plan.only_written_bytes = options_.powersafe_overwrite;
  plan.rot_per_1024 = options_.rot_per_1024;
  Names names = durable_names_;
  std::map<std::string_view, bool> lost_names;  // by name: a later change was not kept
  for (const NameChange& change : name_changes_) {
    bool& is_lost = lost_names[change.path];
    bool kept = plan.kind == CrashKind::all_kept;
    if (plan.kind == CrashKind::in_order) kept = change.number <= plan.moment;
    if (plan.kind > CrashKind::in_order) kept = random.chance(512);
    is_lost = is_lost || !kept;
    if (is_lost) {
      ++names_lost;
    } else if (change.file == nullptr) {
      names.erase(change.path);
    } else {
      names[change.path] = change.file;
    }
  }
  for (auto& [name, file] : names) file = file->after_crash(random, plan, tally);
  return names;
}

void DiskCore::end_life(bool power_fails) {
  const std::lock_guard lock(mutex_);
  if (is_down_) return;
  if (power_fails) {
    power_failed(SQLITE_OK);
    return;
  }
  // The files live on in the system; locks and shared memory go with the process.
  for (auto& [name, file] : names_) {
    file->locks = std::make_unique<FileLocks>();
    file->shared_index.reset();
  }
  is_down_ = true;
  note(DiskPoint::process_end, "", operations_, 0, SQLITE_OK);
}

void DiskCore::crash_at(std::uint64_t operation) {
  const std::lock_guard lock(mutex_);
  crash_at_ = operation;
}

std::uint64_t DiskCore::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

bool DiskCore::is_down() const {
  const std::lock_guard lock(mutex_);
  return is_down_;
}

void DiskCore::restart() {
  const std::lock_guard lock(mutex_);
  ++life_;
  is_down_ = false;
  crash_at_ = 0;
}

std::unique_ptr<DiskCore> DiskCore::after_crash(std::uint64_t seed) const {
  DiskOptions options = options_;
  options.seed = seed;
  auto left = std::make_unique<DiskCore>(std::move(options));
  const std::lock_guard lock(mutex_);
  CrashTally tally;
  std::uint64_t names_lost = 0;
  left->names_ = names_after_crash(left->random_, tally, names_lost);
  left->durable_names_ = left->names_;
  left->add(DiskPoint::power_failure);
  left->add(DiskPoint::page_kept, tally.pages_kept);
  left->add(DiskPoint::page_lost, tally.pages_lost);
  left->add(DiskPoint::page_torn, tally.pages_torn);
  left->add(DiskPoint::page_rotten, tally.pages_rotten);
  left->add(DiskPoint::size_lost, tally.sizes_lost);
  left->add(DiskPoint::name_lost, names_lost);
  return left;
}

// ---- faults

bool DiskCore::strikes(DiskFault fault, std::string_view path, std::uint32_t per_1024) {
  Planned& planned = planned_[static_cast<std::size_t>(fault)];
  if (planned.times > 0 && path.ends_with(planned.suffix)) {
    if (planned.before == 0) {
      if (planned.times != disk_fault_always) --planned.times;
      return true;
    }
    --planned.before;
  }
  return per_1024 != 0 && random_.chance(per_1024);
}

void DiskCore::fail(DiskFault fault, std::uint64_t at, std::uint64_t times,
                    std::string_view suffix) {
  KATANA_REQUIRE(at > 0);
  const std::lock_guard lock(mutex_);
  planned_[static_cast<std::size_t>(fault)] = {at - 1, times, std::string(suffix)};
}

void DiskCore::set_capacity(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_bytes_ = bytes;
}

void DiskCore::heal() {
  const std::lock_guard lock(mutex_);
  planned_ = {};
  capacity_bytes_ = options_.capacity_bytes;
}

bool DiskCore::flip_bit(std::string_view path, std::uint64_t bit) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  if (found == names_.end()) return false;
  char byte = 0;
  if (found->second->read(&byte, 1, bit / 8) != 1) return false;
  byte = static_cast<char>(byte ^ (1 << (bit % 8)));
  found->second->overwrite(byte, bit / 8);
  return true;
}

// ---- names

void DiskCore::change_name(std::string_view path, std::shared_ptr<DiskFile> file) {
  name_changes_.push_back({operations_, std::string(path), file});
  if (file == nullptr) {
    names_.erase(names_.find(path));
  } else {
    names_.insert_or_assign(std::string(path), std::move(file));
  }
}

void DiskCore::sync_folder(std::string_view path) {
  if (options_.ignores_sync) return;
  const std::string_view folder = folder_of(path);
  std::erase_if(name_changes_, [&](const NameChange& change) {
    if (folder_of(change.path) != folder) return false;
    if (change.file == nullptr) {
      durable_names_.erase(change.path);
    } else {
      durable_names_[change.path] = change.file;
    }
    return true;
  });
}

int DiskCore::open(const char* path, int flags, OpenFile& opened) {
  const std::lock_guard lock(mutex_);
  if (is_down_) return SQLITE_CANTOPEN;
  opened.life = life_;
  opened.removed_at_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
  if (path == nullptr) {
    opened.file = std::make_shared<DiskFile>();
    ++open_files_;
    return SQLITE_OK;
  }
  opened.path = path;
  const auto found = names_.find(path);
  const bool creates = (flags & SQLITE_OPEN_CREATE) != 0;
  if (found != names_.end()) {
    if (creates && (flags & SQLITE_OPEN_EXCLUSIVE) != 0) return SQLITE_CANTOPEN;
    opened.file = found->second;
    note(DiskPoint::open, path, 0, opened.file->size(), SQLITE_OK);
  } else {
    if (!creates) return SQLITE_CANTOPEN;
    const bool crashes = begin_operation();
    opened.file = std::make_shared<DiskFile>();
    change_name(path, opened.file);
    if (crashes) return power_failed(SQLITE_CANTOPEN);
    note(DiskPoint::create, path, 0, 0, SQLITE_OK);
  }
  constexpr int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  opened.syncs_folder = creates && (flags & journals) != 0;
  ++open_files_;
  return SQLITE_OK;
}

void DiskCore::close(OpenFile& opened) {
  unmap_index(opened);
  (void)unlock(opened, SQLITE_LOCK_NONE);
  if (opened.removed_at_close && !opened.path.empty()) (void)remove(opened.path, false);
  const std::lock_guard lock(mutex_);
  --open_files_;
}

int DiskCore::remove(std::string_view path, bool sync_folder) {
  const std::lock_guard lock(mutex_);
  if (is_down_) return SQLITE_IOERR_DELETE;
  if (!names_.contains(path)) return SQLITE_IOERR_DELETE_NOENT;
  const bool crashes = begin_operation();
  change_name(path, nullptr);
  if (crashes) return power_failed(SQLITE_IOERR_DELETE);
  note(DiskPoint::remove, path, 0, 0, SQLITE_OK);
  if (!sync_folder) return SQLITE_OK;
  if (begin_operation()) return power_failed(SQLITE_IOERR_DIR_FSYNC);
  this->sync_folder(path);
  note(DiskPoint::folder_sync, folder_of(path), 0, 0, SQLITE_OK);
  return SQLITE_OK;
}

int DiskCore::access(std::string_view path, bool must_have_bytes, bool& result) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  result = !is_down_ && found != names_.end() && (!must_have_bytes || found->second->size() > 0);
  return SQLITE_OK;
}

bool DiskCore::has_moved(const OpenFile& opened) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(opened.path);
  return found == names_.end() || found->second != opened.file;
}

// ---- bytes

int DiskCore::read(const OpenFile& opened, char* to, std::size_t bytes, std::uint64_t at) {
  int code = SQLITE_OK;
  {
    const std::lock_guard lock(mutex_);
    if (is_dead(opened)) return SQLITE_IOERR_READ;
    if (strikes(DiskFault::read_error, opened.path, options_.read_errors_per_1024)) {
      note(DiskPoint::read_failed, opened.path, at, bytes, SQLITE_IOERR_READ);
      return SQLITE_IOERR_READ;
    }
    if (opened.file->read(to, bytes, at) < bytes) code = SQLITE_IOERR_SHORT_READ;
    note(DiskPoint::read, opened.path, at, bytes, code);
    delay_ += options_.read_time;
  }
  if (options_.on_delay && options_.read_time > Duration{}) options_.on_delay(options_.read_time);
  return code;
}

// The bytes of a write that fit on the disk.
std::uint64_t DiskCore::room_for(const OpenFile& opened, std::size_t bytes,
                                 std::uint64_t at) const {
  if (capacity_bytes_ == UINT64_MAX || at + bytes <= opened.file->size()) return bytes;
  std::uint64_t others = 0;
  for (const auto& [name, file] : names_) {
    if (file != opened.file) others += in_pages(file->size());
  }
  const std::uint64_t size_max = std::max(
      capacity_bytes_ > others ? (capacity_bytes_ - others) / disk_page_bytes * disk_page_bytes : 0,
      opened.file->size());
  return at >= size_max ? 0 : std::min<std::uint64_t>(bytes, size_max - at);
}

int DiskCore::write(const OpenFile& opened, std::string_view data, std::uint64_t at) {
  {
    const std::lock_guard lock(mutex_);
    if (is_dead(opened)) return SQLITE_IOERR_WRITE;
    const bool crashes = begin_operation();
    const std::uint64_t room = room_for(opened, data.size(), at);
    const bool fails = strikes(DiskFault::write_error, opened.path, options_.write_errors_per_1024);
    const std::uint64_t written = fails ? random_.below(room + 1) : room;
    if (written > 0) opened.file->write(data.substr(0, written), at, operations_);
    if (crashes) return power_failed(SQLITE_IOERR_WRITE);
    if (fails) {
      note(DiskPoint::write_failed, opened.path, at, data.size(), SQLITE_IOERR_WRITE);
      return SQLITE_IOERR_WRITE;
    }
    if (room < data.size()) {
      note(DiskPoint::full, opened.path, at, data.size(), SQLITE_FULL);
      return SQLITE_FULL;
    }
    note(DiskPoint::write, opened.path, at, data.size(), SQLITE_OK);
    delay_ += options_.write_time;
  }
  if (options_.on_delay && options_.write_time > Duration{}) options_.on_delay(options_.write_time);
  return SQLITE_OK;
}

int DiskCore::truncate(const OpenFile& opened, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (is_dead(opened)) return SQLITE_IOERR_TRUNCATE;
  const bool crashes = begin_operation();
  opened.file->truncate(size, operations_);
  if (crashes) return power_failed(SQLITE_IOERR_TRUNCATE);
  note(DiskPoint::truncate, opened.path, size, 0, SQLITE_OK);
  return SQLITE_OK;
}

int DiskCore::sync(OpenFile& opened) {
  {
    const std::lock_guard lock(mutex_);
    if (is_dead(opened)) return SQLITE_IOERR_FSYNC;
    if (begin_operation()) return power_failed(SQLITE_IOERR_FSYNC);
    delay_ += options_.sync_time;
    if (strikes(DiskFault::sync_error, opened.path, options_.sync_errors_per_1024)) {
      const bool stay_cached = random_.chance(512);
      opened.file->fail_sync(random_, stay_cached);
      if (!stay_cached) add(DiskPoint::pages_dropped);
      note(DiskPoint::sync_failed, opened.path, 0, 0, SQLITE_IOERR_FSYNC);
      return SQLITE_IOERR_FSYNC;
    }
    if (!options_.ignores_sync) opened.file->sync();
    note(DiskPoint::sync, opened.path, 0, 0, SQLITE_OK);
    if (opened.syncs_folder) {
      if (begin_operation()) return power_failed(SQLITE_IOERR_DIR_FSYNC);
      sync_folder(opened.path);
      opened.syncs_folder = false;
      note(DiskPoint::folder_sync, folder_of(opened.path), 0, 0, SQLITE_OK);
    }
  }
  if (options_.on_delay && options_.sync_time > Duration{}) options_.on_delay(options_.sync_time);
  return SQLITE_OK;
}

int DiskCore::size(const OpenFile& opened, sqlite3_int64& bytes) {
  const std::lock_guard lock(mutex_);
  if (is_dead(opened)) return SQLITE_IOERR_FSTAT;
  bytes = static_cast<sqlite3_int64>(opened.file->size());
  return SQLITE_OK;
}

// ---- locks: those of a dead file belong to a process that is gone

int DiskCore::lock(OpenFile& opened, int level) {
  const std::lock_guard lock(mutex_);
  if (is_dead(opened)) return SQLITE_IOERR_LOCK;
  if (opened.lock < level) opened.lock = opened.file->locks->raise(&opened, opened.lock, level);
  return opened.lock >= level ? SQLITE_OK : SQLITE_BUSY;
}

int DiskCore::unlock(OpenFile& opened, int level) {
  const std::lock_guard lock(mutex_);
  if (opened.life != life_ || is_down_ || opened.lock <= level) return SQLITE_OK;
  opened.file->locks->lower(&opened, opened.lock, level);
  opened.lock = level;
  return SQLITE_OK;
}

int DiskCore::is_reserved(const OpenFile& opened, bool& result) {
  const std::lock_guard lock(mutex_);
  if (is_dead(opened)) return SQLITE_IOERR_CHECKRESERVEDLOCK;
  result = opened.file->locks->is_reserved();
  return SQLITE_OK;
}

int DiskCore::map_index(OpenFile& opened, std::size_t region, std::size_t bytes, bool extend,
                        void volatile** memory) {
  const std::lock_guard lock(mutex_);
  *memory = nullptr;
  if (is_dead(opened)) return SQLITE_IOERR_SHMMAP;
  if (!opened.index) {
    opened.index = opened.file->shared_index.lock();
    if (!opened.index) {
      opened.index = std::make_shared<SharedIndex>();
      opened.file->shared_index = opened.index;
    }
  }
  auto& regions = opened.index->regions;
  if (region >= regions.size() && !extend) return SQLITE_OK;
  while (regions.size() <= region) regions.push_back(std::make_unique<char[]>(bytes));
  *memory = regions[region].get();
  return SQLITE_OK;
}

int DiskCore::lock_index(OpenFile& opened, int first, int count, int flags) {
  const std::lock_guard lock(mutex_);
  const auto from = static_cast<std::size_t>(first);
  const auto slots = static_cast<std::size_t>(count);
  const bool is_lock = (flags & SQLITE_SHM_LOCK) != 0;
  if (is_lock && is_dead(opened)) return SQLITE_IOERR_SHMLOCK;
  if (!opened.index) return SQLITE_IOERR_SHMLOCK;
  if (!is_lock) {
    opened.index->unlock(opened.shared_slots, opened.exclusive_slots, from, slots);
    return SQLITE_OK;
  }
  const bool is_exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const bool taken =
      opened.index->lock(opened.shared_slots, opened.exclusive_slots, from, slots, is_exclusive);
  return taken ? SQLITE_OK : SQLITE_BUSY;
}

void DiskCore::barrier() { const std::lock_guard lock(mutex_); }

void DiskCore::unmap_index(OpenFile& opened) {
  const std::lock_guard lock(mutex_);
  if (!opened.index) return;
  opened.index->unlock(opened.shared_slots, opened.exclusive_slots, 0, SharedIndex::slots);
  opened.index.reset();
}

int DiskCore::random_bytes(char* to, int bytes) {
  const std::lock_guard lock(mutex_);
  for (int at = 0; at < bytes; ++at) to[at] = static_cast<char>(random_.next() & 0xff);
  return bytes;
}

// ---- what happened

std::uint64_t DiskCore::count(DiskPoint point) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<std::size_t>(point)];
}

Duration DiskCore::delay() const {
  const std::lock_guard lock(mutex_);
  return delay_;
}

std::uint64_t DiskCore::trace_hash() const {
  const std::lock_guard lock(mutex_);
  return trace_hash_;
}

std::vector<std::string> DiskCore::trace() const {
  const std::lock_guard lock(mutex_);
  return {trace_.begin(), trace_.end()};
}

std::vector<std::string> DiskCore::files() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [name, file] : names_) found.push_back(name);
  return found;
}

std::uint64_t DiskCore::file_bytes(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(path);
  return found == names_.end() ? 0 : found->second->size();
}

std::size_t DiskCore::open_files() const {
  const std::lock_guard lock(mutex_);
  return open_files_;
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
