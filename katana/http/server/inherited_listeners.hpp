// InheritedListeners: the listening sockets that a program was handed by the one that it replaces
// (http/server/replacement.hpp), so that no client that connects meanwhile finds a closed port.
//
//   LISTEN_FDS, LISTEN_PID   as systemd has them (sd_listen_fds(3))
//   LISTEN_FDNAMES           what each is: "katana.http", "katana.listener.0", "katana.operations";
//                            "katana.given" of the service manager; the last, "katana.ready", is a
//                            socket that the program before listens to
//
// Owns       the descriptors, until close().
// Thread     one.
// Allocates  yes.
// Fails      of_this_process() names the variable that is wrong.
// Invariant  every queue of a listener that was taken is accepted from: take() gives all sockets of
//            it, or none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::server {

// Where a socket is bound: "127.0.0.1", or "unix:/run/a.sock" with port 0.
struct BoundAddress {
  std::string address;     // empty: neither of IP nor a Unix socket with a path
  std::uint16_t port = 0;  // of a Unix socket none
};
// Of any socket, as the kernel has it.
BoundAddress bound_address_of(int socket);

class InheritedListeners {
 public:
  // Of names in LISTEN_FDNAMES that are for it.
  static constexpr std::string_view prefix = "katana.";

  // Null: there are none. Sockets for other programs, and their variables, stay as they are.
  static Result<std::unique_ptr<InheritedListeners>> of_this_process();
  ~InheritedListeners() { close(); }
  InheritedListeners(const InheritedListeners&) = delete;
  InheritedListeners& operator=(const InheritedListeners&) = delete;

  // All sockets that are bound there, one for each queue, in the order in which they began to
  // listen; empty: none. For port 0 those that had the same `name`. Each is taken once; borrowed
  // until close().
  std::vector<int> take(std::string_view name, const std::string& address, std::uint16_t port);
  // Those that the service manager had opened.
  std::vector<int> take_given();
  // The program before hears that this one accepts, and from which sockets. Once.
  void tell_ready() noexcept;
  // The descriptors here, of which the listening process has a copy.
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
