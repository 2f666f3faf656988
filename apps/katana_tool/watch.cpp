#include "katana_tool/watch.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t changes =
    IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;

// Editors write hidden files and files with ~ beside the saved ones; vim probes a folder by 4913.
bool is_ignored(std::string_view name) {
  return name.starts_with('.') || name.ends_with('~') || name == "4913" || name.ends_with(".swp");
}
bool is_left_out(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return is_ignored(name) || name == "build" || name == "var" || name == "node_modules" ||
         fs::exists(folder / "CMakeCache.txt");
}

}  // namespace

Result<FileWatch> FileWatch::open(const fs::path& root) {
  FileWatch made(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (made.descriptor_ < 0) {
    return fail(Code::unavailable,
                fmt::format("cannot watch files: {}", std::generic_category().message(errno)));
  }
  if (auto added = made.add(root); !added) return std::unexpected(added.error());
  return made;
}

FileWatch::~FileWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileWatch::FileWatch(FileWatch&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), folders_(std::move(other.folders_)) {}

Result<void> FileWatch::add(const fs::path& folder) {
  const int watch = inotify_add_watch(descriptor_, folder.c_str(), changes | IN_ONLYDIR);
  if (watch < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};  // gone again
    const char* const remedy =
        errno == ENOSPC ? "; raise fs.inotify.max_user_watches with sysctl" : "";
    return fail(Code::unavailable, fmt::format("cannot watch '{}': {}{}", folder.string(),
                                               std::generic_category().message(errno), remedy));
  }
  folders_[watch] = folder;
  std::error_code error;  // a folder that vanishes meanwhile has nothing to watch
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
    if (!each.is_directory(error) || each.is_symlink(error) || is_left_out(each.path())) continue;
    if (auto added = add(each.path()); !added) return added;
  }
  return {};
}

std::vector<std::string> FileWatch::take() {
  std::set<std::string> changed;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer;
  ssize_t count = 0;
  while ((count = ::read(descriptor_, buffer.data(), buffer.size())) > 0) {
    for (const char* at = buffer.data(); at < buffer.data() + count;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event.len;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end() || event.len == 0 || is_ignored(event.name)) continue;
      const fs::path path = (folder->second / event.name).lexically_normal();
      if ((event.mask & IN_ISDIR) == 0) {
        changed.insert(path.string());
      } else if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0 && !is_left_out(path)) {
        (void)add(path);  // ignored: without a watch its changes are not seen, as before
        changed.insert(path.string());
      }
    }
  }
  return {changed.begin(), changed.end()};
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
