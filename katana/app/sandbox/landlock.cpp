#include "katana/app/sandbox/landlock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace katana::sandbox {
namespace {

// The installed linux/landlock.h is often older than the kernel. Therefore the declarations that
// are used stand here.
struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t ports;   // from version 4
  std::uint64_t scopes;  // from version 6
};
struct PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
} __attribute__((packed));
struct PortRule {
  std::uint64_t allowed;
  std::uint64_t port;
};
constexpr int path_rule = 1;
constexpr int port_rule = 2;
constexpr std::uint32_t ask_version = 1;

constexpr std::uint64_t bit(int place) { return std::uint64_t{1} << place; }
constexpr std::uint64_t execute = bit(0);
constexpr std::uint64_t write_file = bit(1);
constexpr std::uint64_t read_file = bit(2);
constexpr std::uint64_t read_folder = bit(3);
constexpr std::uint64_t refer = bit(13);      // from version 2
constexpr std::uint64_t truncate = bit(14);   // from version 3
constexpr std::uint64_t ioctl_dev = bit(15);  // from version 5
constexpr std::uint64_t of_version_1 = bit(13) - 1;
constexpr std::uint64_t devices = bit(6) | bit(11);  // make character and block devices: never
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | ioctl_dev;
constexpr std::uint64_t bind_tcp = bit(0);
constexpr std::uint64_t connect_tcp = bit(1);
constexpr std::uint64_t scope_abstract_sockets = bit(0);
constexpr std::uint64_t scope_signals = bit(1);

std::uint64_t file_rights(int version) {
  std::uint64_t rights = of_version_1;
  if (version >= 2) rights |= refer;
  if (version >= 3) rights |= truncate;
  if (version >= 5) rights |= ioctl_dev;
  return rights;
}

std::string reason_of(int error_number) { return std::generic_category().message(error_number); }

class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const noexcept { return value_; }

 private:
  const int value_;
};

// Adds a rule for a path. False: the path does not exist.
Result<bool> add_path(int ruleset, const std::string& path, std::uint64_t rights) {
  const Descriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return fail(Code::unsupported,
                fmt::format("open '{}' for a rule of Landlock: {}", path, reason_of(errno)));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISDIR(status.st_mode)) rights &= of_files;
  const PathRule rule{rights, file.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset, path_rule, &rule, 0) == 0) return true;
  return fail(Code::unsupported,
              fmt::format("a rule of Landlock for '{}': {}", path, reason_of(errno)));
}

Result<std::size_t> add_paths(int ruleset, const std::vector<std::string>& paths,
                              std::uint64_t rights, LandlockReport& report) {
  std::size_t count = 0;
  for (const std::string& path : paths) {
    const auto added = add_path(ruleset, path, rights);
    if (!added) return std::unexpected(added.error());
    if (*added) {
      ++count;
    } else if (std::ranges::find(report.absent, path) == report.absent.end()) {
      report.absent.push_back(path);
    }
  }
  return count;
}

Result<void> add_ports(int ruleset, const std::vector<std::uint16_t>& ports) {
  for (const std::uint16_t port : ports) {
    const PortRule rule{bind_tcp, port};
    if (::syscall(SYS_landlock_add_rule, ruleset, port_rule, &rule, 0) != 0) {
      return fail(Code::unsupported,
                  fmt::format("a rule of Landlock for port {}: {}", port, reason_of(errno)));
    }
  }
  return {};
}

void note_not_enforced(const LandlockRules& rules, LandlockReport& report) {
  const auto note = [&report](std::string text) { report.not_enforced.push_back(std::move(text)); };
  if (report.version == 0) {
    note("files and TCP ports: this kernel has no Landlock (Linux 5.13), or it is disabled");
    return;
  }
  if (report.version < 3) note("truncating files outside (Linux 6.2)");
  const bool about_ports = rules.bind.has_value() || !rules.connect;
  if (about_ports && report.version < 4) note("which TCP ports are used (Linux 6.7)");
  if (report.version >= 6) return;
  if (!rules.signals) note("signals to other processes (Linux 6.12)");
  if (!rules.abstract_sockets) note("abstract Unix sockets of other processes (Linux 6.12)");
}

}  // namespace

int landlock_version() noexcept {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, ask_version);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<LandlockReport> restrict_files(const LandlockRules& rules, int version_max) {
  LandlockReport report;
  report.version = std::min(landlock_version(), version_max);
  note_not_enforced(rules, report);
  if (report.version == 0) return report;

  RulesetAttributes attributes{};
  attributes.files = file_rights(report.version);
  if (report.version >= 4) {
    attributes.ports = (rules.bind ? bind_tcp : 0) | (rules.connect ? 0 : connect_tcp);
    report.ports = true;
  }
  if (report.version >= 6) {
    attributes.scopes =
        (rules.signals ? 0 : scope_signals) | (rules.abstract_sockets ? 0 : scope_abstract_sockets);
  }
  // An older kernel refuses a structure that is larger than its own, unless the rest of it is zero.
  const Descriptor ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (ruleset.get() < 0) {
    return fail(Code::unsupported, fmt::format("make the rules of Landlock: {}", reason_of(errno)));
  }
  const std::uint64_t read = read_file | read_folder | (rules.execute ? execute : 0);
  const auto readable = add_paths(ruleset.get(), rules.read, read, report);
  if (!readable) return std::unexpected(readable.error());
  const std::uint64_t write = attributes.files & ~(execute | ioctl_dev | devices);
  const auto writable = add_paths(ruleset.get(), rules.write, write, report);
  if (!writable) return std::unexpected(writable.error());
  report.read = *readable;
  report.write = *writable;
  if (report.version >= 4 && rules.bind) {
    if (auto added = add_ports(ruleset.get(), *rules.bind); !added) {
      return std::unexpected(added.error());
    }
  }
  // The kernel demands it: no program with more rights may start under these rules.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return fail(Code::unsupported,
                fmt::format("enforce the rules of Landlock: {}", reason_of(errno)));
  }
  return report;
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
