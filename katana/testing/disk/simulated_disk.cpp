#include "katana/testing/disk/simulated_disk.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/testing/disk/disk_core.hpp"
#include "katana/testing/disk/disk_vfs.hpp"

namespace katana::testing {
namespace {

std::string next_vfs_name() {
  static std::atomic<std::uint64_t> last = 0;
  return fmt::format("katana-disk-{}", ++last);
}

}  // namespace

SimulatedDisk::SimulatedDisk(DiskOptions options)
    : SimulatedDisk(std::make_unique<detail::DiskCore>(std::move(options))) {}

SimulatedDisk::SimulatedDisk(std::unique_ptr<detail::DiskCore> core)
    : core_(std::move(core)),
      vfs_name_(next_vfs_name()),
      registered_(std::make_unique<detail::DiskVfs>(*core_, vfs_name_)) {
  const std::size_t sector = core_->options().sector_bytes;
  KATANA_REQUIRE(sector == 0 || sector == 512 || sector == detail::disk_page_bytes);
}

SimulatedDisk::~SimulatedDisk() { KATANA_REQUIRE(core_->open_files() == 0); }

void SimulatedDisk::crash() { core_->end_life(true); }
void SimulatedDisk::end_process() { core_->end_life(false); }
void SimulatedDisk::crash_at(std::uint64_t operation) { core_->crash_at(operation); }
std::uint64_t SimulatedDisk::operations() const { return core_->operations(); }
bool SimulatedDisk::is_down() const { return core_->is_down(); }
void SimulatedDisk::restart() { core_->restart(); }

std::unique_ptr<SimulatedDisk> SimulatedDisk::after_crash(std::uint64_t seed) const {
  return std::unique_ptr<SimulatedDisk>(new SimulatedDisk(core_->after_crash(seed)));
}

void SimulatedDisk::fail(DiskFault fault, std::uint64_t at, std::uint64_t times,
                         std::string_view suffix) {
  core_->fail(fault, at, times, suffix);
}
void SimulatedDisk::set_capacity(std::uint64_t bytes) { core_->set_capacity(bytes); }
void SimulatedDisk::heal() { core_->heal(); }
bool SimulatedDisk::flip_bit(std::string_view path, std::uint64_t bit) {
  return core_->flip_bit(detail::full_path(path), bit);
}

std::uint64_t SimulatedDisk::count(DiskPoint point) const { return core_->count(point); }

std::string SimulatedDisk::coverage() const {
  std::string text;
  for (std::size_t index = 0; index < disk_point_count; ++index) {
    const std::uint64_t reached = core_->count(static_cast<DiskPoint>(index));
    if (reached == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(static_cast<DiskPoint>(index)),
                        reached);
  }
  return text;
}

Duration SimulatedDisk::delay() const { return core_->delay(); }
std::uint64_t SimulatedDisk::trace_hash() const { return core_->trace_hash(); }
std::vector<std::string> SimulatedDisk::trace() const { return core_->trace(); }
std::vector<std::string> SimulatedDisk::files() const { return core_->files(); }
std::uint64_t SimulatedDisk::file_bytes(std::string_view path) const {
  return core_->file_bytes(detail::full_path(path));
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
