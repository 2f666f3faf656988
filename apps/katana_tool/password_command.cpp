#include "katana_tool/password_command.hpp"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "apps/command_line.hpp"
#include "katana/passwords/password_hasher.hpp"
#include "katana/thread/loop.hpp"

namespace katana::tool {
namespace {

// What is typed is not shown while this lives.
class HiddenInput {
 public:
  HiddenInput() : is_terminal_(::tcgetattr(STDIN_FILENO, &usual_) == 0) {
    if (!is_terminal_) return;
    termios hidden = usual_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    fmt::print(stderr, "Password: ");
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;
  ~HiddenInput() {
    if (!is_terminal_) return;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual_);
    fmt::print(stderr, "\n");
  }

 private:
  termios usual_{};
  bool is_terminal_;
};

int run(const passwords::HashCost& cost) {
  std::string line;
  {
    const HiddenInput hidden;
    std::getline(std::cin, line);
  }
  SecretText password(line);
  erase_secret(line);
  const auto hasher = passwords::PasswordHasher::make({.cost = cost, .threads = 1});
  if (!hasher) return command_line::fail("katana password", 2, hasher.error().describe());
  thread::Loop loop;
  const Result<std::string> hash = loop.run((*hasher)->hash(std::move(password)));
  if (!hash) return command_line::fail("katana password", 2, hash.error().describe());
  fmt::print("{}\n", *hash);
  return 0;
}

}  // namespace

void add_password_command(CLI::App& app, std::function<int()>& chosen) {
  auto cost = std::make_shared<passwords::HashCost>();
  CLI::App* const command = app.add_subcommand(
      "password", "The hash (argon2id) of the password that is read from standard input.");
  command->add_option("--memory-kib", cost->memory_kib, "KiB of memory")->capture_default_str();
  command->add_option("--passes", cost->passes, "passes over it")->capture_default_str();
  command->callback([cost, &chosen] { chosen = [cost] { return run(*cost); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
