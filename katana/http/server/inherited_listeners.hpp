// InheritedListeners: the listening sockets that a program got from the one that it replaces
// (http/server/replacement.hpp). No client that connects meanwhile finds a closed port.
//
//   LISTEN_FDS, LISTEN_PID   as systemd has them (sd_listen_fds(3))
//   LISTEN_FDNAMES           the kind of each: "katana.http", "katana.listener.0" or
//                            "katana.operations". A socket of the service manager is
//                            "katana.given". The last, "katana.ready", is a socket that the
//                            replaced program reads
//
// Owns       the descriptors, until close().
// Thread     one.
// Allocates  for the names and the list of sockets.
// Fails      of_this_process() names the wrong variable.
// Invariant  every queue of a taken listener is accepted from: take() returns all sockets of it, or
//            none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::server {

// The address of a bound socket: "127.0.0.1", or "unix:/run/a.sock" with port 0.
struct BoundAddress {
  std::string address;     // empty: neither IP nor a Unix socket with a path
  std::uint16_t port = 0;  // 0 for a Unix socket
};
// Asks the kernel for the address of any socket.
BoundAddress bound_address_of(int socket);

class InheritedListeners {
 public:
  // The prefix of names in LISTEN_FDNAMES that are for this class.
  static constexpr std::string_view prefix = "katana.";

  // Null: there are none. Sockets for other programs, and their variables, stay as they are.
  static Result<std::unique_ptr<InheritedListeners>> of_this_process();
  ~InheritedListeners() { close(); }
  InheritedListeners(const InheritedListeners&) = delete;
  InheritedListeners& operator=(const InheritedListeners&) = delete;

  // Returns all sockets that are bound to this address, one for each queue, in the order in which
  // they began to listen; empty: none. For port 0 it returns those that had the same `name`. Each
  // is returned once; borrowed until close().
  std::vector<int> take(std::string_view name, const std::string& address, std::uint16_t port);
  // Returns the sockets that the service manager had opened.
  std::vector<int> take_given();
  // Tells the replaced program that this one accepts, and from which sockets. Call it once.
  void tell_ready() noexcept;
  // Closes the descriptors here; the listening process has a copy.
  void close() noexcept;

 private:
  struct Inherited {
    std::string name;
    int socket = -1;
    BoundAddress bound;
    bool taken = false;
  };
  InheritedListeners() = default;
  std::vector<int> take_named(std::string_view name);

  std::vector<Inherited> all_;
  int ready_ = -1;
};

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
