#include "katana/http/server/inherited_listeners.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "katana/base/values/ip_address.hpp"
#include "katana/http/server/listener_options.hpp"
#include "katana/net/engine/sockets.hpp"

namespace katana::server {
namespace {

constexpr int first_inherited = 3;
constexpr std::string_view ready_name = "katana.ready";
constexpr std::string_view given_name = "katana.given";

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  int number = -1;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), number);
  return number;
}

std::vector<std::string> names_in(const char* variable) {
  std::vector<std::string> names;
  const char* const text = std::getenv(variable);
  std::string_view left = text != nullptr ? text : "";
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    names.emplace_back(left.substr(0, colon));
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
  return names;
}

bool is_same_address(const std::string& left, const std::string& right) {
  if (left == right) return true;
  const auto one = IpAddress::read(left);
  return one && one == IpAddress::read(right);
}

}  // namespace

BoundAddress bound_address_of(int socket) {
  sockaddr_un local{};
  socklen_t size = sizeof local;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) == 0 &&
      local.sun_family == AF_UNIX) {
    const std::size_t path_size =
        size - std::min<std::size_t>(size, offsetof(sockaddr_un, sun_path));
    const std::string_view path(local.sun_path, path_size);
    if (path.empty() || path[0] == 0) return {};
    return {std::string(unix_prefix) + std::string(path.substr(0, path.find('\0')))};
  }
  return {engine::address_of(socket), engine::port_of(socket)};
}

Result<std::unique_ptr<InheritedListeners>> InheritedListeners::of_this_process() {
  const std::vector<std::string> names = names_in("LISTEN_FDNAMES");
  const auto is_ours = [](const std::string& name) { return name.starts_with(prefix); };
  if (number_in("LISTEN_PID") != ::getpid() || !std::ranges::any_of(names, is_ours)) return nullptr;
  if (static_cast<std::size_t>(number_in("LISTEN_FDS")) != names.size()) {
    return fail(Code::invalid_argument,
                fmt::format("LISTEN_FDS is {}, but LISTEN_FDNAMES has {} names",
                            number_in("LISTEN_FDS"), names.size()));
  }
  std::unique_ptr<InheritedListeners> made(new InheritedListeners);
  for (std::size_t index = 0; index < names.size(); ++index) {
    const int fd = first_inherited + static_cast<int>(index);
    if (!is_ours(names[index])) continue;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
      return fail(
          Code::invalid_argument,
          fmt::format("LISTEN_FDNAMES has '{}', but descriptor {} is not open", names[index], fd));
    }
    if (names[index] == ready_name) {
      made->ready_ = fd;
    } else {
      made->all_.push_back({names[index], fd, bound_address_of(fd)});
    }
  }
  return made;
}

std::vector<int> InheritedListeners::take_named(std::string_view name) {
  std::vector<int> sockets;
  for (Inherited& each : all_) {
    if (each.taken || each.name != name) continue;
    each.taken = true;
    sockets.push_back(each.socket);
  }
  return sockets;
}

std::vector<int> InheritedListeners::take(std::string_view name, const std::string& address,
                                          std::uint16_t port) {
  if (address.empty()) return {};
  const auto fits = [&](const Inherited& each) {
    if (each.taken || each.name == given_name) return false;
    if (!is_same_address(each.bound.address, address)) return false;
    return port != 0 || is_unix(address) ? each.bound.port == port : each.name == name;
  };
  const auto found = std::ranges::find_if(all_, fits);
  return found == all_.end() ? std::vector<int>() : take_named(std::string(found->name));
}

std::vector<int> InheritedListeners::take_given() { return take_named(given_name); }

void InheritedListeners::tell_ready() noexcept {
  const int ready = std::exchange(ready_, -1);
  if (ready < 0) return;
  try {
    std::string line = "ready ";
    for (const Inherited& each : all_) line += each.taken ? '1' : '0';
    line += '\n';
    // A failure is ignored: the replaced program has ended, and this one serves in any case.
    (void)!::send(ready, line.data(), line.size(), MSG_NOSIGNAL);
  } catch (...) {  // no memory for a line: it will find that this one is not ready, and end it
  }
  ::close(ready);
}

void InheritedListeners::close() noexcept {
  for (Inherited& each : all_) {
    if (each.socket >= 0) ::close(std::exchange(each.socket, -1));
  }
  if (ready_ >= 0) ::close(std::exchange(ready_, -1));
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
