#include "katana/app/sandbox/privileges.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>

namespace katana::sandbox {
namespace {

std::string reason() { return std::generic_category().message(errno); }

std::optional<unsigned> number_of(const std::string& text) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

constexpr std::size_t entry_bytes_max = 64 * 1024;

std::optional<gid_t> group_of(const std::string& name) {
  if (const auto number = number_of(name)) return *number;
  std::vector<char> room(entry_bytes_max);
  group entry{};
  group* found = nullptr;
  if (::getgrnam_r(name.c_str(), &entry, room.data(), room.size(), &found) != 0) return {};
  return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
}

std::vector<gid_t> groups_of(const std::string& name, gid_t group) {
  std::vector<gid_t> groups(64);
  auto count = static_cast<int>(groups.size());
  while (::getgrouplist(name.c_str(), group, groups.data(), &count) < 0) {
    groups.resize(groups.size() * 2);
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

// glibc has no function for it without libcap.
bool set_capabilities(std::uint32_t effective, std::uint32_t permitted) noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {{effective, permitted, 0}, {0, 0, 0}};
  return ::syscall(SYS_capset, &header, data) == 0;
}

// Those that could come back by executing a program; refused only where there are none.
void empty_bounding_set() noexcept {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

Error cannot(const char* what, const Identity& identity) {
  return {Code::permission_denied,
          fmt::format("{} '{}' ({}): {}; start as root, or leave process.user empty", what,
                      identity.name, identity.user, reason())};
}

}  // namespace

bool is_root() noexcept { return ::geteuid() == 0; }

Result<Identity> find_identity(const std::string& user, const std::string& group) {
  Identity identity;
  std::vector<char> room(entry_bytes_max);
  passwd entry{};
  passwd* found = nullptr;
  const auto number = number_of(user);
  const int error = number ? ::getpwuid_r(*number, &entry, room.data(), room.size(), &found)
                           : ::getpwnam_r(user.c_str(), &entry, room.data(), room.size(), &found);
  if (error != 0 || (found == nullptr && !number)) {
    return fail(Code::not_found,
                fmt::format("there is no user '{}': make one (useradd --system)", user));
  }
  if (found == nullptr && group.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("user {} has no entry, so its group is not known: give one", user));
  }
  identity.user = number ? *number : found->pw_uid;
  identity.name = found != nullptr ? found->pw_name : user;
  if (group.empty()) {
    identity.group = found->pw_gid;
  } else if (const auto given = group_of(group)) {
    identity.group = *given;
  } else {
    return fail(Code::not_found, fmt::format("there is no group '{}'", group));
  }
  identity.groups =
      found != nullptr ? groups_of(identity.name, identity.group) : std::vector{identity.group};
  return identity;
}

Result<void> become(const Identity& identity, Until until) {
  const bool is_already = ::getuid() == identity.user && ::geteuid() == identity.user &&
                          ::getgid() == identity.group && ::getegid() == identity.group;
  if (is_already) return {};
  if (!is_root()) {
    errno = EPERM;
    return std::unexpected(cannot("become", identity));
  }
  const bool keeps = until == Until::started;
  empty_bounding_set();
  if (::setgroups(identity.groups.size(), identity.groups.data()) != 0 ||
      ::setresgid(identity.group, identity.group, identity.group) != 0) {
    return std::unexpected(cannot("become a member of the groups of", identity));
  }
  // With root as the saved user the permitted capabilities stay, until the saved user changes, too.
  if (::setresuid(identity.user, identity.user, keeps ? 0 : identity.user) != 0) {
    return std::unexpected(cannot("become", identity));
  }
  const std::uint32_t kept = keeps ? 1u << CAP_NET_BIND_SERVICE : 0;
  if (!set_capabilities(kept, kept)) return std::unexpected(cannot("give up rights as", identity));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return std::unexpected(cannot("set no_new_privs as", identity));
  }
  return {};
}

// The C library changes the user of every thread, and the kernel then removes the capabilities that
// each was still permitted.
Result<void> give_up_root(const Identity& identity) {
  uid_t real = 0, effective = 0, saved = 0;
  ::getresuid(&real, &effective, &saved);
  if (saved == identity.user) return {};
  if (::setresuid(identity.user, identity.user, identity.user) != 0) {
    return std::unexpected(cannot("become for good", identity));
  }
  return {};
}

std::uint16_t first_free_port() noexcept {
  constexpr std::uint16_t usual = 1024;
  try {
    std::ifstream file("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    unsigned port = 0;
    return file >> port && port <= 65535 ? static_cast<std::uint16_t>(port) : usual;
  } catch (const std::exception&) {
    return usual;
  }
}

Result<void> keep_memory_private() noexcept {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return fail(Code::internal, fmt::format("turn core dumps off: {}", reason()));
  }
  return {};
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
