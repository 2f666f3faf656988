#include "katana/app/service_manager.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "katana/http/server/inherited_listeners.hpp"

namespace katana::app {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

// A whole number, or why the variable has none. Not set: nothing.
Result<std::optional<std::int64_t>> number_in(const ServiceManager::Variables& variables,
                                              const char* name) {
  const char* const text = variables(name);
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  std::int64_t number = 0;
  const auto [behind, failure] = std::from_chars(text, end, number);
  if (failure == std::errc() && behind == end && number >= 0) return number;
  return fail(Code::invalid_argument,
              fmt::format("{} is '{}', and no whole number: unset it, or let the service manager "
                          "set it",
                          name, text));
}

std::vector<std::string_view> names_in(const char* text) {
  std::vector<std::string_view> names;
  for (std::string_view left = text != nullptr ? text : ""; !left.empty();) {
    const std::size_t colon = left.find(':');
    names.push_back(left.substr(0, colon));
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
  return names;
}

sockaddr_un address_of(const std::string& name, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = 0;
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return address;
}

// A variable of a notification as one line, whatever line ends the text has.
std::string line_of(std::string_view name, std::string_view text) {
  std::string line(text);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  return fmt::format("{}={}", name, line);
}

}  // namespace

Result<ServiceManager> ServiceManager::make(const Variables& variables, int process_id) {
  ServiceManager made;
  if (const char* const address = variables("NOTIFY_SOCKET"); address != nullptr && *address != 0) {
    if (auto opened = made.open(address); !opened) return std::unexpected(opened.error());
  }
  for (const char* name : {"WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"}) {
    if (auto number = number_in(variables, name); !number) return std::unexpected(number.error());
  }
  const auto number = [&](const char* name) { return *number_in(variables, name); };
  // Without a process id the watchdog is for any process that hears of it (sd_watchdog_enabled(3)).
  if (number("WATCHDOG_PID").value_or(process_id) == process_id) {
    made.watchdog_ = microseconds(number("WATCHDOG_USEC").value_or(0));
  }
  if (number("LISTEN_PID") == process_id) {
    const std::int64_t count = number("LISTEN_FDS").value_or(0);
    const std::vector<std::string_view> names = names_in(variables("LISTEN_FDNAMES"));
    for (int fd = first_listener; fd < first_listener + count; ++fd) {
      const auto index = static_cast<std::size_t>(fd - first_listener);
      const bool is_inherited =
          index < names.size() && names[index].starts_with(server::InheritedListeners::prefix);
      if (is_inherited) continue;
      if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return fail(Code::invalid_argument,
                    fmt::format("LISTEN_FDS is {}, but descriptor {} is not open", count, fd));
      }
      made.listeners_.push_back(fd);
    }
  }
  return made;
}

Result<ServiceManager> ServiceManager::of_this_process() {
  auto made = make([](const char* name) { return std::getenv(name); }, ::getpid());
  for (const char* name : {"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"}) ::unsetenv(name);
  return made;
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept { *this = std::move(other); }

ServiceManager& ServiceManager::operator=(ServiceManager&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(socket_, other.socket_);
  std::swap(watchdog_, other.watchdog_);
  std::swap(listeners_, other.listeners_);
  return *this;
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

// A path, or with "@" a name that is in no folder.
Result<void> ServiceManager::open(std::string_view address) {
  const bool known = address.front() == '/' || address.front() == '@';
  if (!known || address.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(Code::invalid_argument,
                fmt::format("NOTIFY_SOCKET is '{}', and neither a path nor '@' and a name of at "
                            "most {} bytes",
                            address, sizeof(sockaddr_un::sun_path) - 1));
  }
  address_ = address;
  // The first notification shows whether the manager exists. The socket is connected, because in a
  // sandbox a socket without a file may send only to the address that it is connected to.
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) {
    return fail(Code::resource_exhausted,
                fmt::format("make a socket for NOTIFY_SOCKET: {}", reason_of(errno)));
  }
  socklen_t size = 0;
  const sockaddr_un to = address_of(address_, size);
  (void)::connect(socket_, reinterpret_cast<const sockaddr*>(&to), size);
  return {};
}

Result<void> ServiceManager::notify(std::string_view lines) const {
  if (socket_ < 0) return {};
  socklen_t size = 0;
  const sockaddr_un to = address_of(address_, size);
  const ssize_t sent = ::sendto(socket_, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                reinterpret_cast<const sockaddr*>(&to), size);
  if (sent == static_cast<ssize_t>(lines.size())) return {};
  return fail(Code::unavailable,
              fmt::format("cannot notify the service manager at NOTIFY_SOCKET '{}': {}", address_,
                          reason_of(errno)));
}

Result<void> ServiceManager::ready(std::string_view status) const {
  return notify("READY=1\n" + line_of("STATUS", status));
}
Result<void> ServiceManager::reloading(Instant monotonic) const {
  return notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic.ns / 1'000));
}
Result<void> ServiceManager::stopping(std::string_view status) const {
  return notify("STOPPING=1\n" + line_of("STATUS", status));
}
Result<void> ServiceManager::ready_and_replaceable(std::string_view status) const {
  return notify("READY=1\n" + line_of("STATUS", status) + "\nX_KATANA_RESTART=possible");
}
Result<void> ServiceManager::replaced_by(int process_id) const {
  return notify(
      fmt::format("MAINPID={}\nREADY=1\nSTATUS=process {} serves", process_id, process_id));
}
Result<void> ServiceManager::not_replaced(std::string_view why) const {
  return notify("X_KATANA_RESTART=failed\n" + line_of("STATUS", why));
}
Result<void> ServiceManager::alive() const { return notify("WATCHDOG=1"); }

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
