// Sockets: the cold system calls of the engines on a real kernel. They run once per listener or
// after an error.
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

// Opens a non-blocking listening socket with SO_REUSEPORT: every reactor then has its own queue.
// Accepted sockets inherit its options (TCP_NODELAY), and a new connection costs no setsockopt.
Result<int> open_listener(const ListenOptions& options);

// Opens a non-blocking socket that has begun to connect, with TCP_NODELAY. A Unix-domain socket
// whose listener has a full queue is an Error: it could not be reported later.
Result<int> open_connection(const ConnectOptions& options);

// Returns the errno value with which a socket broke or failed to connect, once; 0: none is known.
int take_socket_error(int socket) noexcept;

// Whether calls wait for the other side. Cannot fail on a socket.
enum class Blocking : bool { no, yes };
void set_blocking(int socket, Blocking blocking) noexcept;  // sets or clears O_NONBLOCK

// Removes TCP_DEFER_ACCEPT: a connection is delivered as soon as its handshake is complete.
void accept_at_handshake(int listener) noexcept;

// Sets on an accepted socket the options that it otherwise inherits from open_listener().
void set_stream_options(int socket) noexcept;

// The port a listener is bound to.
std::uint16_t port_of(int listener) noexcept;

// From now on the listener drops SYN segments. No handshake begins; those under way complete and
// can be accepted. A close at once would reset them, together with requests that were already sent.
void refuse_new_handshakes(int listener) noexcept;

// Among listeners that share a port, gives new connections only to those at `positions`, in equal
// shares; empty: to all. Positions are counted in the order of listen(2), while none of them is
// closed. `listener` is any of them. Connections that wait in another queue stay there.
Result<void> prefer_listeners(int listener, std::span<const unsigned> positions);

// Sums the sizes of the parts. REQUIRES at least one part.
inline std::size_t bytes_in(std::span<const iovec> parts) noexcept {
  std::size_t count = parts[0].iov_len;  // first alone: most often it is the only one
  for (std::size_t index = 1; index < parts.size(); ++index) count += parts[index].iov_len;
  return count;
}

// As sendmsg(2), without signals and interruptions.
ssize_t send_parts(int socket, std::span<const iovec> parts, int flags) noexcept;

// sendfile(2) has no MSG_NOSIGNAL: without this call a client that has left would end the program.
// Ignores SIGPIPE from now on, unless the program has set its own disposition.
void ignore_broken_pipes() noexcept;

// The outcome of send_file_now().
struct FileSent {
  std::size_t accepted = 0;  // bytes of `before` and of the file together
  bool full = false;         // the socket has no room left; poll for room
  bool failed = false;       // the file ended too soon or cannot be read
  int failure = 0;           // the errno value of a broken connection; else 0
};

// The most bytes of a file that send_file_now() sends in one call: no connection then keeps the
// turn.
inline constexpr std::size_t file_bytes_per_send_max = 1024 * 1024;
// Sends `before` and then the file; a partial segment waits until the file follows. Never waits for
// the other side, in either mode of the socket.
FileSent send_file_now(int socket, std::span<const iovec> before, const FilePart& part,
                       Blocking socket_blocks) noexcept;

// The memory into which accept4(2) writes the address of the other side. The address is then known
// without a further system call, even after a reset. For a Unix-domain socket only the family fits,
// and nothing else is needed.
class AcceptedPeer {
 public:
  sockaddr* address() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }  // for accept4()
  socklen_t* size() noexcept {
    size_ = sizeof storage_;
    return &size_;
  }
  // REQUIRES that accept4() has filled it and returned `socket`.
  PeerEndpoint endpoint(int socket) const noexcept;

 private:
  sockaddr_in6 storage_;  // the largest that is read
  socklen_t size_ = 0;
};

// The endpoint of a socket that was accepted without an address, by getpeername(2). A Unix-domain
// socket costs one more system call. `none` when the connection is gone.
PeerEndpoint peer_of(int socket) noexcept;

// The numeric address that a socket is bound to; empty when it is no IP address.
std::string address_of(int socket);

// Ends both directions of a socket after a failed send. Bytes that arrived can still be read; the
// end follows them. Wakes a poll on the socket.
void end_both_sides(int socket) noexcept;

// Makes the next close() send a reset.
void reset_on_close(int socket) noexcept;

// Builds "cannot ACTION: REASON", with the code that fits errno.
Error system_error(const char* action, int error_number);
// The Error of a connect() while every link is in use.
Error no_link_left(std::size_t links_max);

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
