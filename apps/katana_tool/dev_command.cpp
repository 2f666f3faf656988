#include "katana_tool/dev_command.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "katana_tool/child.hpp"
#include "katana_tool/program_command.hpp"
#include "katana_tool/watch.hpp"

namespace katana::tool {
namespace {

namespace fs = std::filesystem;

struct DevFlags {
  std::string program;
  std::string build_folder = "build";
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::vector<std::string> arguments;
};

// Changes that come together, as of an editor that saves all or of git, are one.
constexpr int settle_ms = 150;
constexpr Duration stop_patience = seconds(5);

void say(const std::string& line) {
  fmt::print(stderr, "katana dev: {}\n", line);
  std::fflush(stderr);
}

Result<int> open_listener(const DevFlags& flags) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(flags.port);
  if (inet_pton(AF_INET, flags.address.c_str(), &address.sin_addr) != 1) {
    ::close(made);
    return fail(Code::invalid_argument,
                fmt::format("--address '{}' is not a numeric IPv4 address", flags.address));
  }
  const int on = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(made, 1024) != 0) {
    const int number = errno;
    ::close(made);
    return fail(Code::unavailable,
                fmt::format("cannot listen on {}:{}: {}{}", flags.address, flags.port,
                            std::generic_category().message(number),
                            number == EADDRINUSE ? "; choose another --port" : ""));
  }
  return made;
}

// Where the program says what becomes of it: a name in no folder, which the kernel chooses.
class Notifications {
 public:
  Notifications() {
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    (void)::bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family);
  }
  ~Notifications() { ::close(socket_); }
  Notifications(const Notifications&) = delete;

  int descriptor() const noexcept { return socket_; }
  // The name for NOTIFY_SOCKET; empty: there is none.
  std::string name() const {
    sockaddr_un own{};
    socklen_t size = sizeof own;
    if (getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
    const std::size_t bytes = size - offsetof(sockaddr_un, sun_path);
    return bytes > 1 ? "@" + std::string(own.sun_path + 1, bytes - 1) : std::string();
  }
  // The lines of what came; none: nothing did.
  std::vector<std::string> take() {
    std::array<char, 4096> text;
    const ssize_t count = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
    std::vector<std::string> lines;
    std::string_view left(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    while (!left.empty()) {
      const std::size_t end = left.find('\n');
      lines.emplace_back(left.substr(0, end));
      left = end == std::string_view::npos ? "" : left.substr(end + 1);
    }
    return lines;
  }

 private:
  int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

Result<std::string> program_of(const DevFlags& flags) {
  if (!flags.program.empty()) return flags.program;
  auto name = project_name();
  if (!name) return name;
  return (fs::path(flags.build_folder) / *name).string();
}

class Loop {
 public:
  Loop(DevFlags flags, std::string program, int listener, FileWatch watch, int signals)
      : flags_(std::move(flags)),
        program_(std::move(program)),
        listener_(listener),
        watch_(std::move(watch)),
        signals_(signals) {}

  int run() {
    build_due_ = true;
    while (!ended_) {
      if (build_due_ && !build_) begin_build();
      wait();
    }
    build_.reset();
    if (running_) running_->end(stop_patience);
    say("ended");
    return 0;
  }

 private:
  void begin_build() {
    build_due_ = false;
    std::vector<std::string> command = {"cmake", "--build", flags_.build_folder};
    configuring_ = !fs::exists(fs::path(flags_.build_folder) / "CMakeCache.txt");
    if (configuring_) command = {"cmake", "-S", ".", "-B", flags_.build_folder};
    auto begun = Child::start(command);
    if (!begun) return say(begun.error().describe());
    build_.emplace(*std::move(begun));
  }
  void on_built() {
    const std::string failure = build_->reap();
    build_.reset();
    if (!failure.empty()) {
      say(fmt::format("the build failed ({}); {}, waiting for a change", failure,
                      running_ ? "the program before it goes on" : "nothing runs"));
    } else if (configuring_) {
      build_due_ = true;
    } else if (!build_due_) {  // otherwise the build is already out of date
      restart();
    }
  }
  // One that can is replaced while it serves; any other ends first, and who connects meanwhile
  // waits.
  void restart() {
    if (running_ && can_restart_) {
      restart_due_ = std::exchange(restarting_, true);
      if (!restart_due_) running_->signal(SIGUSR2);
      return;
    }
    if (running_) running_->end(stop_patience);
    begin_program();
  }
  void begin_program() {
    running_.reset();
    can_restart_ = restarting_ = restart_due_ = false;
    std::vector<std::string> command = {fs::absolute(program_).string()};
    command.insert(command.end(), flags_.arguments.begin(), flags_.arguments.end());
    auto begun = Child::start(command, listener_, notifications_.name());
    if (!begun) return say(begun.error().describe() + "; --program names another one");
    running_.emplace(*std::move(begun));
    say(fmt::format("{} serves http://{}:{}", program_, flags_.address, flags_.port));
  }
  void on_notification() {
    pid_t replaced_by = 0;
    for (const std::string& line : notifications_.take()) {
      if (line == "X_KATANA_RESTART=possible") can_restart_ = true;
      if (line.starts_with("MAINPID=")) replaced_by = std::atoi(line.c_str() + 8);
      if (line == "X_KATANA_RESTART=failed") {
        say("the new program did not start; the one before goes on");
        on_restarted();
      }
    }
    if (replaced_by <= 0 || !running_) return;
    running_->replace(replaced_by);
    say(fmt::format("{} is replaced, and serves http://{}:{}", program_, flags_.address,
                    flags_.port));
    on_restarted();
  }
  void on_restarted() {
    restarting_ = false;
    if (std::exchange(restart_due_, false)) restart();
  }
  void on_program_ended() {
    const std::string failure = running_->reap();
    running_.reset();
    can_restart_ = restarting_ = restart_due_ = false;
    say(fmt::format("the program ended ({}); waiting for a change",
                    failure.empty() ? "exit status 0" : failure));
  }
  void on_changes() {
    std::vector<std::string> changed;
    pollfd more{.fd = watch_.descriptor(), .events = POLLIN, .revents = 0};
    do {
      for (std::string& each : watch_.take()) changed.push_back(std::move(each));
    } while (poll(&more, 1, settle_ms) > 0);
    if (changed.empty()) return;
    say(fmt::format("{} changed{}", changed[0],
                    changed.size() > 1 ? fmt::format(" and {} more", changed.size() - 1) : ""));
    build_due_ = true;
  }
  void on_signal() {
    signalfd_siginfo signal{};
    if (::read(signals_, &signal, sizeof signal) == sizeof signal) ended_ = true;
  }
  void wait() {
    const auto readable = [](int descriptor) {
      return pollfd{.fd = descriptor, .events = POLLIN, .revents = 0};
    };
    std::array waited = {readable(signals_), readable(watch_.descriptor()),
                         readable(build_ ? build_->descriptor() : -1),
                         readable(running_ ? running_->descriptor() : -1),
                         readable(notifications_.descriptor())};
    if (poll(waited.data(), waited.size(), -1) < 0) return;
    if (waited[0].revents != 0) return on_signal();
    if (waited[1].revents != 0) on_changes();
    if (waited[4].revents != 0) on_notification();  // before the end of the one that was replaced
    if (waited[2].revents != 0) on_built();
    if (waited[3].revents != 0 && running_ && running_->descriptor() == waited[3].fd) {
      on_program_ended();
    }
  }

  const DevFlags flags_;
  const std::string program_;
  const int listener_;
  FileWatch watch_;
  const int signals_;
  Notifications notifications_;
  std::optional<Child> build_, running_;
  bool can_restart_ = false;  // the program has said so
  bool restarting_ = false, restart_due_ = false;
  bool build_due_ = false, configuring_ = false, ended_ = false;
};

Result<int> run(const DevFlags& flags) {
  auto program = program_of(flags);
  if (!program) return std::unexpected(program.error());
  auto listener = open_listener(flags);
  if (!listener) return std::unexpected(listener.error());
  auto watch = FileWatch::open(".");
  if (!watch) return std::unexpected(watch.error());
  // A program that is replaced was started by the one before.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = signalfd(-1, &ends, SFD_CLOEXEC);
  const int status = Loop(flags, *std::move(program), *listener, *std::move(watch), signals).run();
  ::close(signals);
  ::close(*listener);
  return status;
}

}  // namespace

void add_dev_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<DevFlags>();
  CLI::App* const dev = app.add_subcommand(
      "dev", "Build and run the project; repeat when a file changes. The port stays open.");
  dev->add_option("--port", flags->port, "port to serve")->capture_default_str();
  dev->add_option("--address", flags->address, "numeric IPv4 address to listen on")
      ->capture_default_str();
  dev->add_option("--build-dir", flags->build_folder, "build folder")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  dev->add_option("--program", flags->program,
                  "program to run; default: BUILD-DIR/NAME of project(NAME)")
      ->type_name("PROGRAM");
  dev->add_option("ARGUMENT", flags->arguments,
                  "arguments of the program, after --; default: --set development=true");
  dev->callback([flags, &chosen] {
    chosen = [flags] {
      if (flags->arguments.empty()) flags->arguments = {"--set", "development=true"};
      const auto status = run(*flags);
      if (status) return *status;
      fmt::print(stderr, "katana dev: {}\n", status.error().describe());
      return status.error().code() == Code::unavailable ? 1 : 2;
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
