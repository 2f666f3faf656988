#include "katana/net/engine/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

#include "katana/net/engine/system_calls.hpp"

namespace katana::engine {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> parse_address(const char* what, const std::string& address, std::uint16_t port) {
  Address parsed;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&parsed.storage, &v4, sizeof v4);
    parsed.size = sizeof v4;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&parsed.storage, &v6, sizeof v6);
    parsed.size = sizeof v6;
  } else {
    return fail(Code::invalid_argument,
                fmt::format("{} address '{}' is no numeric IPv4 or IPv6 address: use for example "
                            "127.0.0.1, 0.0.0.0 or ::1",
                            what, address));
  }
  return parsed;
}

Result<Address> parse_path(const std::string& path) {
  Address parsed;
  sockaddr_un local{};
  if (path.size() >= sizeof local.sun_path) {
    return fail(Code::invalid_argument,
                fmt::format("connect address '{}' is no path of a socket: those have at most {} "
                            "bytes",
                            path, sizeof local.sun_path - 1));
  }
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, path.c_str(), path.size());
  std::memcpy(&parsed.storage, &local, sizeof local);
  parsed.size = sizeof local;
  return parsed;
}

Code code_of(int error_number) {
  switch (error_number) {
    case EADDRINUSE: return Code::already_exists;
    case EACCES:
    case EPERM: return Code::permission_denied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS: return Code::resource_exhausted;
    default: return Code::unavailable;
  }
}

const char* remedy_of(int error_number) {
  switch (error_number) {
    case EADDRINUSE: return "; another program listens there: stop it or choose another port";
    case EACCES: return "; ports below 1024 need privileges: choose a higher port";
    case EADDRNOTAVAIL: return "; this machine has no such address";
    case EMFILE: return "; raise the limit of open files (ulimit -n)";
    default: return "";
  }
}

bool set_option(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value) == 0;
}

// After half of the time the kernel asks the silent other side, then every sixth of it. It gives up
// at the first question after all of it (tcp(7), TCP_USER_TIMEOUT). Linux accepts all of these
// options.
void notice_vanished(int socket, Duration after) {
  const auto whole_s = static_cast<int>(std::clamp<std::int64_t>(after.count_ms() / 1000, 2, 3600));
  (void)set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  (void)set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::max(whole_s / 2, 1));
  (void)set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(whole_s / 6, 1));
  (void)set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  (void)set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, whole_s * 1000);
}

std::string name_of(const ConnectOptions& options) {
  if (is_path(options.address)) return options.address;
  return fmt::format("{}:{}", options.address, options.port);
}

// SO_REUSEPORT would let a second server share the port in silence. The first socket of a process
// therefore binds once without it to find out whether the port is free.
bool port_is_taken(const Address& address) {
  const int probe = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  set_option(probe, SOL_SOCKET, SO_REUSEADDR, 1);
  const bool taken =
      bind(probe, reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0 &&
      errno == EADDRINUSE;
  ::close(probe);
  return taken;
}

}  // namespace

Error system_error(const char* action, int error_number) {
  return Error(code_of(error_number),
               fmt::format("{}: {}{}", action, std::generic_category().message(error_number),
                           remedy_of(error_number)));
}

Error no_link_left(std::size_t links_max) {
  return Error(
      Code::resource_exhausted,
      fmt::format("connect: all {} links of this reactor are in use; raise links_max", links_max));
}

namespace {

// Makes our own descriptor for a socket that another owner has bound and made listen.
Result<int> share_listener(const ListenOptions& options) {
  const std::string action = fmt::format("listen on the given socket {}", options.socket);
  int listening = 0;
  socklen_t size = sizeof listening;
  if (getsockopt(options.socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0) {
    return std::unexpected(system_error(action.c_str(), errno));
  }
  if (listening == 0) {
    return fail(Code::invalid_argument,
                fmt::format("{}: it is no socket that listens for connections", action));
  }
  const int listener = fcntl(options.socket, F_DUPFD_CLOEXEC, 0);
  if (listener < 0) return std::unexpected(system_error(action.c_str(), errno));
  // Errors are ignored: a socket that is not TCP has nothing to hurry or to wait for.
  (void)set_option(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  if (options.peer_speaks_first) (void)set_option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
  const int flags = fcntl(listener, F_GETFL);
  if (flags < 0 || fcntl(listener, F_SETFL, flags | O_NONBLOCK) != 0) {
    const Error error = system_error(action.c_str(), errno);
    ::close(listener);
    return std::unexpected(error);
  }
  return listener;
}

}  // namespace

Result<int> open_listener(const ListenOptions& options) {
  if (options.socket >= 0) return share_listener(options);
  auto address = parse_address("listen", options.address, options.port);
  if (!address) return std::unexpected(address.error());
  const std::string action = fmt::format("listen on {}:{}", options.address, options.port);
  if (options.must_be_free && options.port != 0 && port_is_taken(*address)) {
    return std::unexpected(system_error(action.c_str(), EADDRINUSE));
  }
  const int listener =
      socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) return std::unexpected(system_error(action.c_str(), errno));
  bool ready = set_option(listener, SOL_SOCKET, SO_REUSEADDR, 1) &&
               set_option(listener, SOL_SOCKET, SO_REUSEPORT, 1) &&
               set_option(listener, IPPROTO_TCP, TCP_NODELAY, 1);
  if (ready && options.peer_speaks_first) {
    ready = set_option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
  }
  ready = ready &&
          bind(listener, reinterpret_cast<sockaddr*>(&address->storage), address->size) == 0 &&
          ::listen(listener, options.backlog) == 0;
  if (!ready) {
    const Error error = system_error(action.c_str(), errno);
    ::close(listener);
    return std::unexpected(error);
  }
  return listener;
}

Result<int> open_connection(const ConnectOptions& options) {
  auto address = is_path(options.address) ? parse_path(options.address)
                                          : parse_address("connect", options.address, options.port);
  if (!address) return std::unexpected(address.error());
  const int socket =
      ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address->storage);
  if (socket >= 0) {
    if (!is_path(options.address)) {
      set_stream_options(socket);
      if (options.vanished_after > Duration{}) notice_vanished(socket, options.vanished_after);
    }
    if (::connect(socket, to, address->size) == 0 || errno == EINPROGRESS) return socket;
  }
  const std::string action = "connect to " + name_of(options);
  const Error error = system_error(action.c_str(), errno);
  if (socket >= 0) ::close(socket);
  return std::unexpected(error);
}

int take_socket_error(int socket) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

void set_blocking(int socket, Blocking blocking) noexcept {
  int on = blocking == Blocking::no ? 1 : 0;
  (void)::ioctl(socket, FIONBIO, &on);  // cannot fail on a socket (ioctl(2))
}

void accept_at_handshake(int listener) noexcept {
  (void)set_option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0);  // Linux always takes it
}

void set_stream_options(int socket) noexcept {
  (void)set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);  // Linux always takes it
}

std::uint16_t port_of(int listener) noexcept {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(listener, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return 0;
  // sin_port and sin6_port have the same place.
  sockaddr_in address;
  std::memcpy(&address, &storage, sizeof address);
  return ntohs(address.sin_port);
}

void refuse_new_handshakes(int listener) noexcept {
  // The filter sees the TCP header first; its flags are byte 13: SYN without ACK is dropped.
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  // Ignored: without the filter a handshake in this moment may be reset, as with any other server.
  (void)setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

Result<void> prefer_listeners(int listener, std::span<const unsigned> positions) {
  constexpr const char* action = "choose who gets new connections";
  if (positions.empty()) {
    const bool done = set_option(listener, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 0);
    if (done || errno == ENOENT) return {};  // ENOENT: the choice is the kernel's already
    return std::unexpected(system_error(action, errno));
  }
  // A random number modulo their count is compared with each index, which returns its position.
  std::vector<sock_filter> code{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM)),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, static_cast<std::uint32_t>(positions.size()))};
  for (std::uint32_t index = 0; index < positions.size(); ++index) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, index, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, positions[index]));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, positions.front()));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (setsockopt(listener, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0) {
    return {};
  }
  return std::unexpected(system_error(action, errno));
}

namespace {

// Makes a blocking socket non-blocking for its lifetime. Requests that io_uring has armed on the
// socket go on unchanged, because the flag is checked at their submission.
class WithoutBlocking {
 public:
  WithoutBlocking(int socket, Blocking blocks) noexcept
      : socket_(blocks == Blocking::yes ? socket : -1) {
    set(Blocking::no);
  }
  ~WithoutBlocking() { set(Blocking::yes); }
  WithoutBlocking(const WithoutBlocking&) = delete;

 private:
  void set(Blocking blocking) noexcept {
    if (socket_ >= 0) set_blocking(socket_, blocking);
  }
  int socket_;
};

// True for errors of the connection. sendfile(2) reports errors of the file by other numbers.
bool is_broken(int error_number) noexcept {
  return error_number == EPIPE || error_number == ECONNRESET || error_number == ETIMEDOUT ||
         error_number == EHOSTUNREACH || error_number == ENOTCONN;
}

// Sends until the kernel takes no more or everything is sent. A short count alone does not tell a
// full socket from the end of the file.
void send_part(int socket, FilePart part, FileSent& sent) noexcept {
  auto left = static_cast<std::size_t>(std::min<std::uint64_t>(part.size, file_bytes_per_send_max));
  auto offset = static_cast<off_t>(part.offset);
  while (left > 0) {
    const ssize_t count = ::sendfile(socket, part.file->descriptor, &offset, left);
    if (count > 0) {
      sent.accepted += static_cast<std::size_t>(count);
      left -= static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      sent.full = true;
      return;
    } else if (count < 0 && is_broken(errno)) {
      sent.failure = errno;
      return;
    } else if (count == 0 || errno != EINTR) {
      sent.failed = true;
      return;
    }
  }
}

}  // namespace

ssize_t send_parts(int socket, std::span<const iovec> parts, int flags) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());  // msghdr has no const form
  message.msg_iovlen = parts.size();
  ssize_t count;
  do {
    count = send_gathered(socket, message, MSG_NOSIGNAL | flags);
  } while (count < 0 && errno == EINTR);
  return count;
}

void end_both_sides(int socket) noexcept { ::shutdown(socket, SHUT_RDWR); }

void ignore_broken_pipes() noexcept {
  struct sigaction present{};
  if (::sigaction(SIGPIPE, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
}

FileSent send_file_now(int socket, std::span<const iovec> before, const FilePart& part,
                       Blocking socket_blocks) noexcept {
  FileSent sent;
  if (!before.empty()) {
    const std::size_t wanted = bytes_in(before);
    const ssize_t count = send_parts(socket, before, MSG_DONTWAIT | MSG_MORE);
    if (count < 0 && errno != EAGAIN) {
      sent.failure = errno;
      return sent;
    }
    sent.accepted = count > 0 ? static_cast<std::size_t>(count) : 0;
    sent.full = sent.accepted < wanted;
    if (sent.full) return sent;
  }
  const WithoutBlocking guard(socket, socket_blocks);
  send_part(socket, part, sent);
  return sent;
}

namespace {

// A Unix-domain client has no address. The kernel remembers its user from the connect, also after
// it has left.
PeerEndpoint local_peer_of(int socket) noexcept {
  PeerEndpoint peer;
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return peer;
  const std::uint32_t user = htonl(who.uid);
  std::memcpy(peer.address.data(), &user, sizeof user);
  peer.family = PeerEndpoint::Family::local;
  return peer;
}

}  // namespace

PeerEndpoint AcceptedPeer::endpoint(int socket) const noexcept {
  PeerEndpoint peer;
  if (size_ < sizeof storage_.sin6_family) return peer;
  switch (storage_.sin6_family) {
    case AF_INET6:
      std::memcpy(peer.address.data(), &storage_.sin6_addr, sizeof storage_.sin6_addr);
      peer.port = ntohs(storage_.sin6_port);
      peer.family = PeerEndpoint::Family::v6;
      break;
    case AF_INET: {
      sockaddr_in v4;
      std::memcpy(&v4, &storage_, sizeof v4);
      std::memcpy(peer.address.data(), &v4.sin_addr, sizeof v4.sin_addr);
      peer.port = ntohs(v4.sin_port);
      peer.family = PeerEndpoint::Family::v4;
      break;
    }
    case AF_UNIX: return local_peer_of(socket);
    default: break;
  }
  return peer;
}

PeerEndpoint peer_of(int socket) noexcept {
  AcceptedPeer peer;
  if (getpeername(socket, peer.address(), peer.size()) != 0) return {};
  return peer.endpoint(socket);
}

std::string address_of(int socket) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  char text[INET6_ADDRSTRLEN] = "";
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return text;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &storage, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &storage, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  }
  return text;
}

void reset_on_close(int socket) noexcept {
  const linger at_once{1, 0};
  // Ignored: a socket that refuses the option is closed in the ordinary way.
  (void)setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
