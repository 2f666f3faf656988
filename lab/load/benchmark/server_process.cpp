#include "lab/load/benchmark/server_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace katana::load {
namespace {

namespace fs = std::filesystem;

// Sockets that listen on the port, as "socket:[inode]".
std::set<std::string> listeners(std::uint16_t port) {
  std::set<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
          timeout >> inode;
      constexpr std::string_view listen_state = "0A";
      if (state == listen_state && local.ends_with(fmt::format(":{:04X}", port))) {
        found.insert(fmt::format("socket:[{}]", inode));
      }
    }
  }
  return found;
}

bool holds_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;  // it may have been closed by now
    if (sockets.contains(fs::read_symlink(entry->path(), ignored).string())) return true;
  }
  return false;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

ServerProcess ServerProcess::listening_on(std::uint16_t port) {
  ServerProcess server;
  const auto sockets = listeners(port);
  if (sockets.empty()) return server;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    int pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ptr != name.data() + name.size() || pid == getpid()) continue;
    if (holds_one_of(entry->path(), sockets)) server.pids_.push_back(pid);
  }
  return server;
}

std::string ServerProcess::name() const {
  if (pids_.empty()) return "unknown";
  std::error_code unreadable;  // of another user
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pids_.front()), unreadable);
  const std::string name = unreadable ? first_line(fmt::format("/proc/{}/comm", pids_.front()))
                                      : program.filename().string();
  return fmt::format("{} ({} {})", name, pids_.size(), pids_.size() == 1 ? "process" : "processes");
}

double ServerProcess::cpu_s() const {
  double ticks = 0;
  for (const int pid : pids_) {
    const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    constexpr int fields_before_utime = 11;
    for (int index = 0; index < fields_before_utime; ++index) fields >> skipped;
    double user = 0;
    double system = 0;
    fields >> user >> system;
    ticks += user + system;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double machine_busy_s() {
  std::istringstream fields(first_line("/proc/stat"));
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft = 0, steal = 0;
  fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft >> steal;
  return (user + nice + system + irq + soft + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ServerProcess::rss_mib() const {
  double pages = 0;
  for (const int pid : pids_) {
    std::istringstream fields(first_line(fmt::format("/proc/{}/statm", pid)));
    double size = 0;
    double resident = 0;
    fields >> size >> resident;
    pages += resident;
  }
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

}  // namespace katana::load
