#include "katana_tool/top_command.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana_tool/live/fetch.hpp"
#include "katana_tool/live/top_view.hpp"

namespace katana::tool {
namespace {

struct TopFlags {
  std::string url = "http://127.0.0.1:8080";
  std::string token_file;
  double interval_s = 1;
  bool once = false;
  bool json = false;
};

int fail_top(int status, std::string_view message) {
  return command_line::fail("katana top", status, message);
}

volatile std::sig_atomic_t was_told_to_end = 0;

// Reads single keys, and shows on the terminal's other screen.
class Terminal {
 public:
  Terminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    fmt::print("\x1b[?1049h\x1b[?25l");
  }
  ~Terminal() {
    fmt::print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static void read_size(TopView& view) {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
    view.width = std::max<std::size_t>(size.ws_col, 40);
    view.height = std::max<std::size_t>(size.ws_row, 10);
  }
  // The keys that were pressed within the time; returns with the first one.
  static std::string keys(Duration time) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const auto ms = static_cast<int>(std::max<std::int64_t>(time.count_ms(), 0));
    if (::poll(&input, 1, ms) <= 0) return {};
    char keys[64];
    const ssize_t count = ::read(STDIN_FILENO, keys, sizeof keys);
    return count > 0 ? std::string(keys, static_cast<std::size_t>(count)) : std::string();
  }
  static void draw(const std::vector<std::string>& lines) {
    std::string screen = "\x1b[H";
    for (std::size_t index = 0; index < lines.size(); ++index) {
      if (index > 0) screen += "\r\n";
      screen += lines[index] + "\x1b[K";
    }
    fmt::print("{}\x1b[J", screen);
    std::fflush(stdout);
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

// False: the person wants to quit.
bool take_key(char key, TopView& view) {
  if (view.is_typing) {
    if (key == '\n' || key == '\r') {
      view.is_typing = false;
    } else if (key == 0x1b) {
      view.is_typing = false;
      view.filter.clear();
    } else if (key == 0x7f || key == '\b') {
      if (!view.filter.empty()) view.filter.pop_back();
    } else if (key >= ' ' && view.filter.size() < 64) {
      view.filter += key;
    }
    return true;
  }
  switch (key) {
    case 'q': return false;
    case 's': view.order = next_order(view.order); break;
    case '/': view.is_typing = true; break;
    case 'p': view.is_paused = !view.is_paused; break;
    default: break;
  }
  return true;
}

Result<Snapshot> ask(Fetcher& fetcher) {
  const auto state = fetcher.get("/operations/state?limit=50");
  if (!state) return std::unexpected(state.error());
  const auto metrics = fetcher.get("/metrics");
  if (!metrics) return std::unexpected(metrics.error());
  return read_snapshot(*state, *metrics, monotonic_now());
}

void sleep_for(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  ::nanosleep(&time, nullptr);
}

int print_once(Fetcher& fetcher, const TopFlags& flags) {
  const auto before = ask(fetcher);
  if (!before) return fail_top(1, before.error().describe());
  sleep_for(flags.interval_s);
  const auto now = ask(fetcher);
  if (!now) return fail_top(1, now.error().describe());
  if (flags.json) {
    const Duration between = now->at - before->at;
    const TopDocument document{now->state,
                               rates(before->routes, now->routes, between, TopOrder::rate),
                               rates(before->statements, now->statements, between, TopOrder::mean)};
    fmt::print("{}\n", container::to_json(document));
  } else {
    TopView view;
    view.height = 200;
    for (const std::string& line : top_lines(*before, *now, view)) fmt::print("{}\n", line);
  }
  return std::fflush(stdout) == 0 ? 0 : fail_top(1, "cannot write to standard output");
}

int show(Fetcher& fetcher, const TopFlags& flags) {
  auto now = ask(fetcher);
  if (!now) return fail_top(1, now.error().describe());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, [](int) { was_told_to_end = 1; });
  }
  const Duration interval{static_cast<std::int64_t>(flags.interval_s * 1e9)};
  TopView view;
  Snapshot before = *now;
  Instant due = monotonic_now() + interval;
  const Terminal terminal;
  while (was_told_to_end == 0) {
    Terminal::read_size(view);
    if (now) {
      Terminal::draw(top_lines(before, *now, view));
    } else {
      Terminal::draw({shown(now.error().describe(), view.width), "q quits; asking again"});
    }
    for (const char key : Terminal::keys(due - monotonic_now())) {
      if (!take_key(key, view)) return 0;
    }
    if (monotonic_now() < due) continue;
    due = monotonic_now() + interval;
    if (view.is_paused) continue;
    if (now) before = *now;
    now = ask(fetcher);
  }
  return 0;
}

int run(const TopFlags& flags) {
  const auto fetcher = Fetcher::with_token_file(flags.url, flags.token_file);
  if (!fetcher) return fail_top(2, fetcher.error().describe());
  if (flags.once || flags.json) return print_once(**fetcher, flags);
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return fail_top(2, "standard input or output is no terminal: give --once or --json");
  }
  return show(**fetcher, flags);
}

}  // namespace

void add_top_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App* const command = app.add_subcommand(
      "top", "Show what a running program does: reactors, routes, statements, memory.");
  command
      ->add_option("URL", flags->url,
                   "the program, or its operations listener; default: http://127.0.0.1:8080")
      ->type_name("URL");
  command->add_option("--token-file", flags->token_file, "file with operations.token")
      ->type_name("FILE");
  command->add_option("--interval", flags->interval_s, "seconds between two looks; default: 1")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--once", flags->once, "print one screen, of one interval, and exit");
  command->add_flag("--json", flags->json, "the same as JSON");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
