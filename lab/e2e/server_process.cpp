#include "lab/e2e/server_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "katana/base/monotonic_clock.hpp"
#include "lab/e2e/places.hpp"

namespace e2e {
namespace {

using namespace katana;

constexpr int ready_ms_max = 30'000;
constexpr int end_ms_max = 10'000;

double now_ms() { return static_cast<double>(monotonic_now().ns) / 1e6; }

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

// Only what may be called between fork() and exec().
[[noreturn]] void become(const std::vector<char*>& arguments, int output, int errors,
                         const char* preload) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive a benchmark that was killed
  pin_to_server_cpus();
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (preload != nullptr) ::setenv("LD_PRELOAD", preload, 1);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

// The number behind the last ':' before " (engine".
std::uint16_t port_of(const std::string& line) {
  const std::size_t end = line.find(" (engine");
  const std::size_t colon = line.rfind(':', end);
  if (end == std::string::npos || colon == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::atoi(line.c_str() + colon + 1));
}

// What a server said last on its standard error.
std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last = "it said nothing";
  for (std::string line; std::getline(file, line);) last = line;
  return last;
}

double number_of(const std::string& path, const char* key) {
  std::ifstream file(path);
  std::string name;
  double value = 0;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (words >> name >> value && name == key) return value;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<ServerProcess>> ServerProcess::start(const ServerCommand& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Code::resource_exhausted, "no pipe");
  std::vector<std::string> texts = command.arguments;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  const char* const preload = command.preload.empty() ? nullptr : command.preload.c_str();
  const std::string errors_path = folder_for("errors");
  std::filesystem::create_directories(std::filesystem::path(errors_path).parent_path());
  const int errors = ::open(errors_path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  std::unique_ptr<ServerProcess> server(new ServerProcess);
  const double begin_ms = now_ms();
  server->pid_ = ::fork();
  if (server->pid_ == 0) become(arguments, ends[1], errors, preload);
  ::close(ends[1]);
  ::close(errors);
  if (server->pid_ < 0) {
    ::close(ends[0]);
    return fail(Code::resource_exhausted, "no process");
  }
  auto ready = server->wait_until_ready(ends[0]);
  ::close(ends[0]);
  if (!ready) {
    const std::string what = fmt::format("start {} ({})", texts[0], last_line(errors_path));
    return std::unexpected(ready.error().within(what));
  }
  server->ready_ms_ = now_ms() - begin_ms;
  if (::clock_getcpuclockid(server->pid_, &server->clock_) != 0) {
    return fail(Code::unavailable, "the processor time of another process cannot be read");
  }
  return server;
}

Result<void> ServerProcess::wait_until_ready(int output) {
  std::string said;
  const double end_ms = now_ms() + ready_ms_max;
  while (true) {
    pollfd waited{output, POLLIN, 0};
    const int left_ms = static_cast<int>(end_ms - now_ms());
    char piece[4096];
    ssize_t got = 0;
    if (left_ms > 0 && ::poll(&waited, 1, left_ms) > 0) got = ::read(output, piece, sizeof piece);
    if (got <= 0) return fail(Code::unavailable, "it is not ready; it said: " + said);
    said.append(piece, static_cast<std::size_t>(got));
    const std::size_t ready = said.find(": ready on ");
    if (ready == std::string::npos || said.find('\n', ready) == std::string::npos) continue;
    port_ = port_of(said.substr(ready));
    if (port_ == 0) return fail(Code::internal, "its ready line has no port: " + said);
    std::istringstream lines(said);
    for (std::string word, name; lines >> word;) {
      Phase phase;
      if (word == "phase" && lines >> phase.name >> phase.ms) phases_.push_back(phase);
    }
    return {};
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  const double end_ms = now_ms() + end_ms_max;
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (now_ms() > end_ms) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      return;
    }
    ::usleep(2000);
  }
}

Usage ServerProcess::usage() const {
  const std::string folder = fmt::format("/proc/{}", pid_);
  Usage usage;
  usage.cpu_s = static_cast<double>(clock_time(clock_).ns) / 1e9;
  usage.rss_mib = number_of(folder + "/status", "VmRSS:") / 1024;
  usage.anonymous_mib = number_of(folder + "/status", "RssAnon:") / 1024;
  usage.written_bytes = static_cast<std::uint64_t>(number_of(folder + "/io", "write_bytes:"));
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(folder + "/fd", ignored)) {
    usage.descriptors += each.path().empty() ? 0 : 1;
  }
  return usage;
}

ServerCommand serving(const StackOptions& options) {
  ServerCommand command{{own_path(), "--serve"}};
  for (std::string& each : to_arguments(options)) command.arguments.push_back(std::move(each));
  return command;
}

std::string sibling(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(own_path()).parent_path() / name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

}  // namespace e2e
