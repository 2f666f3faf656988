#include "katana_tool/stack_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana_tool/live/fetch.hpp"
#include "katana_tool/live/stack_view.hpp"
#include "katana_tool/program_output.hpp"
#include "katana_tool_templates.hpp"

namespace katana::tool {
namespace {

struct StackFlags {
  std::string target = "http://127.0.0.1:8080";
  std::string program;  // of a core file; empty: it names it
  std::string token_file;
  std::string route;
  std::string older;
  unsigned limit = 1000;
  bool single = false;
  bool json = false;
};

int fail_stack(int status, std::string_view message) {
  return command_line::fail("katana stack", status, message);
}

// The text as the value of a query parameter (RFC 3986 §3.4).
std::string query_value(std::string_view text) {
  std::string value;
  for (const char each : text) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') || each == '-' || each == '.' ||
                          each == '_' || each == '/';
    if (is_plain) {
      value += each;
    } else {
      value += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
  }
  return value;
}

std::string path_of(const StackFlags& flags) {
  std::string path = fmt::format("/operations/coroutines?limit={}", flags.limit);
  if (!flags.route.empty()) path += "&route=" + query_value(flags.route);
  if (!flags.older.empty()) path += "&older=" + query_value(flags.older);
  return path;
}

int show_running(const StackFlags& flags) {
  const auto fetcher = Fetcher::with_token_file(flags.target, flags.token_file);
  if (!fetcher) return fail_stack(2, fetcher.error().describe());
  const auto content = (*fetcher)->get(path_of(flags));
  if (!content) return fail_stack(1, content.error().describe());
  if (flags.json) {
    fmt::print("{}", *content);
  } else {
    app::CoroutinesDocument document;
    container::Findings findings;
    if (!container::read_json(*content, document, findings)) {
      return fail_stack(1, fmt::format("{}: the answer is not a list of coroutines", flags.target));
    }
    for (const std::string& line : stack_lines(document, flags.single)) fmt::print("{}\n", line);
  }
  return std::fflush(stdout) == 0 ? 0 : fail_stack(1, "cannot write to standard output");
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// The script of gdb in a file, as long as this object.
class Script {
 public:
  static Result<Script> write() {
    std::string path = (std::filesystem::temp_directory_path() / "katana-XXXXXX.py").string();
    const int file = ::mkostemps(path.data(), 3, O_CLOEXEC);
    if (file < 0) return failed(path);
    Script script(path);
    const std::string_view text(embedded::file_katana_py);
    const bool is_whole = ::write(file, text.data(), text.size()) == std::ssize(text);
    ::close(file);
    if (!is_whole) return failed(path);
    return script;
  }
  Script(Script&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Script() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const noexcept { return path_; }

 private:
  explicit Script(std::string path) : path_(std::move(path)) {}
  static Result<Script> failed(const std::string& path) {
    return fail(Code::unavailable,
                fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  std::string path_;
};

// Behind this line comes what the script prints. gdb has messages before it.
constexpr std::string_view begin_mark = "katana-stack-begins\n";

// Native stacks and coroutines by gdb, which stops the process for a moment.
int show_by_gdb(const StackFlags& flags) {
  auto script = Script::write();
  if (!script) return fail_stack(1, script.error().describe());
  std::vector<std::string> words = {"gdb",
                                    "-nx",
                                    "-batch",
                                    "-iex",
                                    "set debuginfod enabled off",
                                    "-iex",
                                    "set print thread-events off"};
  const bool is_process = is_number(flags.target);
  if (!flags.program.empty()) words.push_back(flags.program);
  words.insert(words.end(), {is_process ? "-p" : "-c", flags.target});
  for (const std::string& each :
       {"source " + script->path(),
        fmt::format("echo {}\\n", begin_mark.substr(0, begin_mark.size() - 1)),
        std::string("katana-stack")}) {
    words.insert(words.end(), {"-ex", each});
  }
  const auto output = output_of(words, "install gdb (apt-get install gdb)");
  const std::size_t begin = output ? output->find(begin_mark) : std::string::npos;
  const std::string text =
      begin == std::string::npos ? std::string() : output->substr(begin + begin_mark.size());
  if (text.find("thread ") == std::string::npos) {
    return fail_stack(1, is_process
                             ? fmt::format("gdb cannot look into process {}, see above: run "
                                           "it as root, or start the program with "
                                           "process.core_dumps: true",
                                           flags.target)
                             : fmt::format("gdb finds no stack in '{}', see above", flags.target));
  }
  fmt::print("{}", text);
  return std::fflush(stdout) == 0 ? 0 : fail_stack(1, "cannot write to standard output");
}

int run(const StackFlags& flags) {
  const bool is_url = flags.target.find("://") != std::string::npos;
  if (is_url) {
    if (!flags.program.empty()) return fail_stack(2, "--program is for a core file");
    return show_running(flags);
  }
  if (flags.json || flags.single || !flags.route.empty() || !flags.older.empty()) {
    return fail_stack(2, "--route, --older, --single and --json are for a URL");
  }
  std::error_code failure;
  if (!is_number(flags.target) && !std::filesystem::is_regular_file(flags.target, failure)) {
    return fail_stack(
        2, fmt::format("'{}' is no URL, no number of a process and no core file", flags.target));
  }
  return show_by_gdb(flags);
}

}  // namespace

void add_stack_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<StackFlags>();
  CLI::App* const command = app.add_subcommand(
      "stack",
      "Show where the coroutines of a program wait, with their callers; of a process or a "
      "core file also the stacks of its threads.");
  command
      ->add_option("TARGET", flags->target,
                   "URL of the program or of its operations listener, number of a process, or a "
                   "core file; the last two need gdb; default: http://127.0.0.1:8080")
      ->type_name("TARGET");
  command->add_option("--program", flags->program, "the program of a core file, or its debug file")
      ->type_name("FILE");
  command->add_option("--token-file", flags->token_file, "file with operations.token")
      ->type_name("FILE");
  command->add_option("--route", flags->route, "only those of a route: /users/{id}")
      ->type_name("ROUTE");
  command->add_option("--older", flags->older, "only those that wait for so long: 10s, 500ms")
      ->type_name("DURATION");
  command->add_option("--limit", flags->limit, "the most coroutines, 1000 or fewer; default: 1000")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--single", flags->single,
                    "each on its own, with the id of its request; default: equal stacks together");
  command->add_flag("--json", flags->json, "the answer of /operations/coroutines as it is");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
