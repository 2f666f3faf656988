// ServiceManager: the protocol between a program and systemd, without libsystemd. The program
// reports that it is ready, reads its configuration again, ends, or is alive. Sockets that systemd
// opened for the program may be handed over.
//
//   NOTIFY_SOCKET                 datagrams go there (sd_notify(3)); Type=notify
//   WATCHDOG_USEC, WATCHDOG_PID   so often it wants to hear that the program is alive; WatchdogSec=
//   LISTEN_FDS, LISTEN_PID        listening sockets from descriptor 3 on (sd_listen_fds(3)); those
//                                 that LISTEN_FDNAMES calls "katana.…" are none of the manager's
//
// Where these are not set nothing is done: a program need not ask.
//
// Owns       the datagram socket.
// Borrows    the listening sockets: descriptors of this process without another user.
// Thread     notify() any; the rest one.
// Allocates  at construction, and for each notification.
// Fails      make() names the variable that is wrong; notify() the socket, and nothing is changed.
// Invariant  notify() does not block.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/values/instant.hpp"

namespace katana::app {

class ServiceManager {
 public:
  using Variables = std::function<const char*(const char* name)>;  // as std::getenv
  // Descriptor of the first passed socket (SD_LISTEN_FDS_START).
  static constexpr int first_listener = 3;

  // From these variables. An Error: one of them is malformed, or the socket cannot be opened.
  static Result<ServiceManager> make(const Variables& variables, int process_id);
  // Reads the variables of this process, and unsets LISTEN_…: children do not take the sockets for
  // theirs.
  static Result<ServiceManager> of_this_process();

  ServiceManager() = default;  // there is no manager
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ~ServiceManager();

  // Lines of sd_notify(3): "READY=1\nSTATUS=…". No listener: nothing is done.
  Result<void> notify(std::string_view lines) const;
  Result<void> ready(std::string_view status) const;
  // The same for a program that SIGUSR2 restarts: for `katana dev`.
  Result<void> ready_and_replaceable(std::string_view status) const;
  Result<void> reloading(Instant monotonic) const;
  Result<void> stopping(std::string_view status) const;
  Result<void> alive() const;
  // Another process of the program is the one to watch, or none came of it.
  Result<void> replaced_by(int process_id) const;
  // The same: STATUS has why, and X_KATANA_RESTART=failed is for `katana dev`.
  Result<void> not_replaced(std::string_view why) const;

  // There is a manager that receives the notifications.
  bool listens() const noexcept { return socket_ >= 0; }
  // How often alive() is wanted; 0: never.
  Duration watchdog() const noexcept { return watchdog_; }
  const std::vector<int>& listeners() const noexcept { return listeners_; }
  // That the manager had opened, by way of the program before.
  void add_listeners(const std::vector<int>& sockets) {
    listeners_.insert(listeners_.end(), sockets.begin(), sockets.end());
  }

 private:
  Result<void> open(std::string_view address);

  std::string address_;
  int socket_ = -1;
  Duration watchdog_ = {};
  std::vector<int> listeners_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
