#include "katana_tool/password_command.hpp"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "apps/command_line.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/identity/passwords/password_form.hpp"
#include "katana/identity/passwords/password_hasher.hpp"

namespace katana::tool {
namespace {

constexpr std::size_t salt_bytes = 16;
constexpr std::size_t hash_bytes = 32;

int fail_password(int status, std::string_view message) {
  return command_line::fail("katana password", status, message);
}

// The settings of the terminal before the program changed them; Ctrl-C restores them as well.
termios before{};
void restore_and_end(int signal_number) {
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

// Hides the typed characters during its lifetime.
class HiddenTyping {
 public:
  HiddenTyping() : is_terminal_(tcgetattr(STDIN_FILENO, &before) == 0) {
    if (!is_terminal_) return;
    std::signal(SIGINT, restore_and_end);
    std::signal(SIGTERM, restore_and_end);
    termios hidden = before;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  ~HiddenTyping() {
    if (is_terminal_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;

  std::optional<std::string> line(const char* prompt) const {
    if (is_terminal_) fmt::print(stderr, "{}: ", prompt);
    std::string text;
    const bool is_read = static_cast<bool>(std::getline(std::cin, text));
    if (is_terminal_) fmt::print(stderr, "\n");
    if (!is_read) return std::nullopt;
    return text;
  }
  bool is_terminal() const noexcept { return is_terminal_; }

 private:
  const bool is_terminal_;
};

int run(const passwords::HashCost& cost) {
  if (!passwords::is_possible(cost)) {
    return fail_password(2, fmt::format("{} KiB are too few for {} lanes: 8 for each at least",
                                        cost.memory_kib, cost.lanes));
  }
  const HiddenTyping typing;
  std::optional<std::string> given = typing.line("Password");
  if (!given) return fail_password(1, "there is no password: write it as a line to standard input");
  if (given->empty() || given->size() > passwords::password_bytes_max || !is_utf8(*given)) {
    return fail_password(
        1, fmt::format("a password is 1 to {} bytes of UTF-8", passwords::password_bytes_max));
  }
  if (typing.is_terminal() && typing.line("Again") != given) {
    return fail_password(1, "the two are not the same");
  }
  const std::string salt = random_octets(salt_bytes);
  auto hash = passwords::argon2id(*given, salt, cost, hash_bytes);
  erase_secret(*given);
  if (!hash) return fail_password(1, hash.error().describe());
  fmt::print("{}\n", passwords::PasswordForm{cost, salt, *std::move(hash)}.write());
  return 0;
}

}  // namespace

void add_password_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* const password = app.add_subcommand(
      "password", "Hash a password with argon2id for a configuration or a table.");
  auto cost = std::make_shared<passwords::HashCost>();
  password->add_option("--memory-kib", cost->memory_kib, "memory of one hash")
      ->check(CLI::Range(8U, passwords::memory_kib_max))
      ->capture_default_str();
  password->add_option("--passes", cost->passes, "passes over this memory")
      ->check(CLI::Range(1U, passwords::passes_max))
      ->capture_default_str();
  password->add_option("--lanes", cost->lanes, "lanes of this memory (parallelism)")
      ->check(CLI::Range(1U, passwords::lanes_max))
      ->capture_default_str();
  password->callback([cost, &chosen] { chosen = [cost] { return run(*cost); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
