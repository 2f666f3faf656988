// ServerProcess: the processes on this machine that listen on a port, and what they have used.
//
// Thread     one. Allocates: its list.
// Fails      a server elsewhere, or one of another user, is unknown: is_known() is false.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace katana::load {

class ServerProcess {
 public:
  static ServerProcess listening_on(std::uint16_t port);

  bool is_known() const noexcept { return !pids_.empty(); }
  std::string name() const;
  // User and system time of them all, in seconds, to a hundredth.
  double cpu_s() const;
  double rss_mib() const;

 private:
  std::vector<int> pids_;
};

// What all CPUs of this machine have worked, for whomever, in seconds since it was started.
double machine_busy_s();

}  // namespace katana::load
