#include "katana/app/launcher.hpp"

#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace katana::app {
namespace {

// A packet is a name and its socket; "go" without one ends the list. The answer is
// "ready PROCESS 0110…", or "failed CODE TEXT".
constexpr std::string_view go = "go";
constexpr std::string_view call_off = "call off";
constexpr std::size_t packet_bytes_max = 8192;
constexpr std::size_t sockets_max = 64 * 1024;

struct Packet {
  std::string text;
  int socket = -1;
  bool ended = false;
};

bool send_packet(int to, std::string_view text, int socket) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (socket >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &socket, sizeof socket);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(to, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
}

Packet receive_packet(int from) {
  std::array<char, packet_bytes_max> text;
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(from, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  Packet packet;
  packet.ended = count <= 0;
  if (packet.ended) return packet;
  packet.text.assign(text.data(), static_cast<std::size_t>(count));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&packet.socket, CMSG_DATA(header), sizeof packet.socket);
  }
  return packet;
}

std::string answer_of(const Result<server::Replacement>& started) {
  if (!started) {
    return fmt::format("failed {} {}", static_cast<int>(started.error().code()),
                       started.error().describe().substr(0, packet_bytes_max / 2));
  }
  std::string bits;
  for (const bool each : started->taken) bits += each ? '1' : '0';
  return fmt::format("ready {} {}", started->process_id, bits);
}

// The loop of the launcher process, until its program ends.
void serve(int socket, const server::ReplacementCommand& command) {
  std::vector<server::HandedSocket> sockets;
  for (;;) {
    Packet packet = receive_packet(socket);
    if (packet.ended) return;
    if (packet.socket >= 0 && sockets.size() < sockets_max) {
      sockets.push_back({std::move(packet.text), packet.socket});
    } else if (packet.text == go) {
      const auto started = server::start_replacement(command, sockets, socket);
      for (const server::HandedSocket& each : sockets) ::close(each.socket);
      sockets.clear();
      if (!send_packet(socket, answer_of(started), -1)) return;
    }  // else it was called off too late
  }
}

[[noreturn]] void become_launcher(int socket, const server::ReplacementCommand& command) {
  prctl(PR_SET_NAME, "katana-launcher");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);  // it ends with its program
  const auto kept = static_cast<unsigned>(socket);
  constexpr unsigned first = STDERR_FILENO + 1;
  (void)::close_range(kept + 1, ~0U, 0);
  if (kept > first) (void)::close_range(first, kept - 1, 0);
  try {
    serve(socket, command);
  } catch (...) {  // no memory: its program hears that it is gone
  }
  ::_exit(0);
}

// A child of a child that has ended: it needs no waitpid(2) later, which a sandbox refuses. False:
// no process can be made.
bool fork_launcher(int socket, const server::ReplacementCommand& command) {
  const pid_t process = ::fork();
  if (process < 0) return false;
  if (process == 0) {
    const pid_t launcher = ::fork();
    if (launcher == 0) become_launcher(socket, command);
    ::_exit(launcher < 0 ? errno : 0);
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EAGAIN;
  return errno == 0;
}

Result<server::Replacement> replacement_in(std::string_view text, std::size_t sockets) {
  const auto take_number = [&text] {
    int number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
    return failure == std::errc() ? number : -1;
  };
  if (text.starts_with("failed ")) {
    text.remove_prefix(7);
    const int code = take_number();
    return fail(static_cast<Code>(code), std::string(text));
  }
  if (text.starts_with("ready ")) {
    text.remove_prefix(6);
    server::Replacement replacement{take_number(), {}};
    for (const char each : text) replacement.taken.push_back(each == '1');
    if (replacement.taken.size() == sockets) return replacement;
  }
  return fail(Code::internal, "the launcher's answer is not understood");
}

}  // namespace

Result<std::unique_ptr<Launcher>> Launcher::make(server::ReplacementCommand command) {
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return fail(Code::resource_exhausted, fmt::format("restart.launcher: a socket: {}",
                                                      std::generic_category().message(errno)));
  }
  const bool is_forked = fork_launcher(pair[1], command);
  const int failure = errno;
  ::close(pair[1]);
  if (!is_forked) {
    ::close(pair[0]);
    return fail(Code::resource_exhausted, fmt::format("restart.launcher: a process: {}",
                                                      std::generic_category().message(failure)));
  }
  return std::unique_ptr<Launcher>(new Launcher(pair[0]));
}

Launcher::~Launcher() {
  ::shutdown(socket_, SHUT_WR);
  while (!receive_packet(socket_).ended) {
  }
  ::close(socket_);
}

Result<server::Replacement> Launcher::start_replacement(
    std::span<const server::HandedSocket> sockets, int cancel) {
  bool sent = true;
  for (const server::HandedSocket& each : sockets) {
    sent = sent && send_packet(socket_, each.name, each.socket);
  }
  if (!sent || !send_packet(socket_, go, -1)) {
    return fail(Code::unavailable, "the launcher (restart.launcher) is gone");
  }
  for (bool called_off = false;;) {
    std::array waited = {pollfd{socket_, POLLIN, 0}, pollfd{called_off ? -1 : cancel, POLLIN, 0}};
    if (::poll(waited.data(), waited.size(), -1) < 0) continue;
    if (waited[0].revents != 0) break;
    called_off = true;
    (void)send_packet(socket_, call_off, -1);  // a launcher that is gone is found above
  }
  const Packet answer = receive_packet(socket_);
  if (answer.ended) return fail(Code::unavailable, "the launcher (restart.launcher) is gone");
  return replacement_in(answer.text, sockets.size());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
