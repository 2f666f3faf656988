#include "katana_tool/dev_command.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
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

struct Flags {
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

Result<int> open_listener(const Flags& flags) {
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

Result<std::string> program_of(const Flags& flags) {
  if (!flags.program.empty()) return flags.program;
  auto name = project_name();
  if (!name) return name;
  return (fs::path(flags.build_folder) / *name).string();
}

class Loop {
 public:
  Loop(Flags flags, std::string program, int listener, FileWatch watch, int signals)
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
    } else if (!build_due_) {  // else what was built is old already
      restart();
    }
  }
  void restart() {
    if (running_) running_->end(stop_patience);
    running_.reset();
    std::vector<std::string> command = {fs::absolute(program_).string()};
    command.insert(command.end(), flags_.arguments.begin(), flags_.arguments.end());
    auto begun = Child::start(command, listener_);
    if (!begun) return say(begun.error().describe() + "; --program names another one");
    running_.emplace(*std::move(begun));
    say(fmt::format("{} serves http://{}:{}", program_, flags_.address, flags_.port));
  }
  void on_program_ended() {
    const std::string failure = running_->reap();
    running_.reset();
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
                         readable(running_ ? running_->descriptor() : -1)};
    if (poll(waited.data(), waited.size(), -1) < 0) return;
    if (waited[0].revents != 0) return on_signal();
    if (waited[1].revents != 0) on_changes();
    if (waited[2].revents != 0) on_built();
    if (waited[3].revents != 0 && running_ && running_->descriptor() == waited[3].fd) {
      on_program_ended();
    }
  }

  const Flags flags_;
  const std::string program_;
  const int listener_;
  FileWatch watch_;
  const int signals_;
  std::optional<Child> build_, running_;
  bool build_due_ = false, configuring_ = false, ended_ = false;
};

Result<int> run(const Flags& flags) {
  auto program = program_of(flags);
  if (!program) return std::unexpected(program.error());
  auto listener = open_listener(flags);
  if (!listener) return std::unexpected(listener.error());
  auto watch = FileWatch::open(".");
  if (!watch) return std::unexpected(watch.error());
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
  auto flags = std::make_shared<Flags>();
  CLI::App* const dev = app.add_subcommand(
      "dev", "Build and run the project here, again whenever a file changes; the port stays open.");
  dev->add_option("--port", flags->port, "the port that it serves")->capture_default_str();
  dev->add_option("--address", flags->address, "numeric IPv4 address")->capture_default_str();
  dev->add_option("--build-dir", flags->build_folder, "the folder of the build")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  dev->add_option("--program", flags->program,
                  "the program, when it is not BUILD-DIR/NAME of project(NAME)")
      ->type_name("PROGRAM");
  dev->add_option("ARGUMENT", flags->arguments,
                  "for the program, behind --; without any: --set development=true");
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
