// Sockets: the cold system calls of the engines on a real kernel. Everything that happens once per
// listener or in an error.
//
// Owns     nothing; descriptors are plain ints that the engine owns.
// Thread   any.
// Fails    Result with the address, the system's reason and the remedy.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>

#include "katana/net/engine/engine.hpp"

namespace katana::engine {

// A non-blocking listening socket with SO_REUSEPORT, so that every reactor has its own queue, and
// with the options that accepted sockets inherit (TCP_NODELAY), so that a new connection costs no
// setsockopt.
Result<int> open_listener(const ListenOptions& options);

// A socket that has begun to connect, does not block, and sends without delay (TCP_NODELAY). Of a
// Unix-domain socket whose listener has a full queue it is an Error: a later one could not be
// reported.
Result<int> open_connection(const ConnectOptions& options);

// Why a socket broke, or could not connect; 0: nothing is known. Says it once.
int take_socket_error(int socket) noexcept;

// Whether calls wait for the peer. Cannot fail on a socket.
enum class Blocking : bool { no, yes };
void set_blocking(int socket, Blocking blocking) noexcept;  // sets or clears O_NONBLOCK

// Takes TCP_DEFER_ACCEPT back: a connection is delivered as soon as its handshake is complete.
void accept_at_handshake(int listener) noexcept;

// What accepted sockets inherit from open_listener()'s, set on one of them.
void set_stream_options(int socket) noexcept;

// The port a listener is bound to.
std::uint16_t port_of(int listener) noexcept;

// From now on the listener drops SYN segments: no handshake begins, while those under way complete
// and can be accepted. Closing a listener at once would reset them, and with them requests that
// were already sent.
void refuse_new_handshakes(int listener) noexcept;

// Of the listeners that share a port the kernel gives new connections to those at `positions`
// alone, each as often as another; none: to all. Positions are counted in the order in which they
// began to listen, as long as none of them is closed. `listener` is any of them. Connections in
// the queue of one that gets no more stay there.
Result<void> prefer_listeners(int listener, std::span<const unsigned> positions);

// REQUIRES at least one part.
inline std::size_t bytes_in(std::span<const iovec> parts) noexcept {
  std::size_t count = parts[0].iov_len;  // alone: most often it is the only one
  for (std::size_t index = 1; index < parts.size(); ++index) count += parts[index].iov_len;
  return count;
}

// As sendmsg(2), without signals and interruptions.
ssize_t send_parts(int socket, std::span<const iovec> parts, int flags) noexcept;

// sendfile(2) knows no MSG_NOSIGNAL: a client that has left would end the program. Unless the
// program has set what SIGPIPE does, the signal is ignored from now on.
void ignore_broken_pipes() noexcept;

// What became of send_file_now(). `full`: the socket has no room for more. `failed`: the file ended
// too soon, or cannot be read. `failure`: the connection broke, and why, as errno has it.
struct FileSent {
  std::size_t accepted = 0;  // bytes of `before` and of the file together
  bool full = false;         // a poll for room is needed
  bool failed = false;       // the connection cannot be used any more
  int failure = 0;           // an errno value; 0 while the connection holds
};

// Sends `before` and then the file, and holds back what is less than a segment until the file
// follows. Never waits for the other side, whatever the socket's own mode is; at most
// file_bytes_per_send_max of the file in one call, so that no connection keeps the turn.
inline constexpr std::size_t file_bytes_per_send_max = 1024 * 1024;
// `before` goes out in front of the file's bytes.
FileSent send_file_now(int socket, std::span<const iovec> before, const FilePart& part,
                       Blocking socket_blocks) noexcept;

// What accept4(2) writes the other side's address into, so that it is known without a further
// system call and even when the other side has reset the connection by then. Of a Unix-domain
// socket only the family fits, and nothing else is needed.
class AcceptedPeer {
 public:
  sockaddr* address() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }  // for accept4()
  socklen_t* size() noexcept {
    size_ = sizeof storage_;
    return &size_;
  }
  // REQUIRES that accept4() has written it, and returned `socket`.
  PeerEndpoint endpoint(int socket) const noexcept;

 private:
  sockaddr_in6 storage_;  // the largest that is read
  socklen_t size_ = 0;
};

// For who has accepted without an address: one system call (getpeername), and of a Unix-domain
// socket one more. `none` when the connection is gone.
PeerEndpoint peer_of(int socket) noexcept;

// The numeric address that a socket is bound to; empty when it is none of IP.
std::string address_of(int socket);

// Of a socket that could not be sent to: what arrived can still be read, and behind it is the end,
// whatever the failure was. Wakes who polls it.
void end_both_sides(int socket) noexcept;

// Makes the next close() send a reset.
void reset_on_close(int socket) noexcept;

// "cannot ACTION: REASON", with the code that fits errno.
Error system_error(const char* action, int error_number);
// Of a connect() while every link is in use.
Error no_link_left(std::size_t links_max);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
