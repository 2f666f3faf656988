#include "katana/observe/crash/report_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/report.hpp"
#include "katana/observe/crash/report_name.hpp"

namespace katana::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t frames_told = 5;
constexpr mode_t told_mode = 0400;

// The paths of the program's reports, the oldest first: their names sort by time.
Result<std::vector<std::string>> paths_of(const std::string& folder, const std::string& program) {
  std::vector<std::string> paths;
  std::error_code failure;
  fs::directory_iterator at(folder, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    if (is_report_name(at->path().filename().string(), program)) {
      paths.push_back(at->path().string());
    }
  }
  if (failure) {
    return fail(Code::unavailable,
                fmt::format("read the folder '{}': {}", folder, failure.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

// A report that is open for reading.
class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // It has not been told, and no process writes it.
  bool is_new() const noexcept {
    struct stat facts{};
    return descriptor_ >= 0 && ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode) &&
           (facts.st_mode & 0777) != told_mode && ::flock(descriptor_, LOCK_SH | LOCK_NB) == 0;
  }
  std::string read() const {
    std::string text(report_bytes_max, '\0');
    std::size_t used = 0;
    while (used < text.size()) {
      const ssize_t count = ::read(descriptor_, text.data() + used, text.size() - used);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      used += static_cast<std::size_t>(count);
    }
    text.resize(used);
    return text;
  }
  // Where this is refused (another owner), the report is told again at the next start.
  void mark_told() const noexcept { (void)::fchmod(descriptor_, told_mode); }

 private:
  const int descriptor_;
};

std::optional<NewReport> take(const std::string& path) {
  const File file(path);
  if (!file.is_new()) return std::nullopt;
  const auto report = parse_report(file.read());
  file.mark_told();
  if (!report) return NewReport{path, report.error().describe(), {}};
  return NewReport{path, summary_of(*report), top_frames_of(*report, frames_told)};
}

}  // namespace

Result<std::vector<NewReport>> take_new_reports(const std::string& folder,
                                                const std::string& program, std::size_t keep) {
  const auto paths = paths_of(folder, program);
  if (!paths) return std::unexpected(paths.error());
  std::vector<NewReport> found;
  for (const std::string& path : *paths) {
    if (auto report = take(path)) found.push_back(*std::move(report));
  }
  const std::size_t surplus = paths->size() > keep ? paths->size() - keep : 0;
  for (std::size_t index = 0; index < surplus; ++index) {
    std::error_code ignored;  // it is counted and tried again at the next start
    fs::remove((*paths)[index], ignored);
  }
  return found;
}

std::size_t count_reports(const std::string& folder, const std::string& program) {
  const auto paths = paths_of(folder, program);
  return paths ? paths->size() : 0;
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
