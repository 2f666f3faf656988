#include "katana_tool/log_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/observe/log/binary_reader.hpp"
#include "katana/observe/log/layout.hpp"

namespace katana::tool {
namespace {

std::string log_name = "katana log";  // or katana-log, as it was called

struct LogFlags {
  std::vector<std::string> files;
  std::string format = "text";
  std::string level = "trace";
  std::string logger;
};

int fail_log(int status, std::string_view message) {
  return command_line::fail(log_name, status, message);
}

// A whole file: mapped if it can be, else read.
class Input {
 public:
  static Result<std::unique_ptr<Input>> open(const std::string& path) {
    const int descriptor =
        path == "-" ? dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return katana::fail(Code::not_found, std::strerror(errno));
    auto input = std::unique_ptr<Input>(new Input);
    const bool good = input->map(descriptor) || input->read(descriptor);
    const int number = errno;
    close(descriptor);
    if (good) return input;
    return katana::fail(Code::unavailable, std::strerror(number));
  }
  ~Input() {
    if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Bytes octets() const {
    return mapped_ != nullptr ? Bytes(static_cast<const char*>(mapped_), mapped_bytes_) : read_;
  }

 private:
  Input() = default;
  bool map(int descriptor) {
    struct stat facts{};
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0) {
      return false;
    }
    void* const memory = mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ,
                              MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) return false;
    mapped_ = memory;
    mapped_bytes_ = static_cast<std::size_t>(facts.st_size);
    return true;
  }
  bool read(int descriptor) {
    std::vector<char> piece(64 * 1024);
    ssize_t count = 0;
    while ((count = ::read(descriptor, piece.data(), piece.size())) > 0) {
      read_.append(piece.data(), static_cast<std::size_t>(count));
    }
    return count == 0;
  }
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::string read_;
};

bool print(log::Buffer& lines) {
  const bool good = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size();
  lines.clear();
  return good;
}

// True when all of the file could be read.
Result<bool> convert(const std::string& path, const LogFlags& flags, log::Level level,
                     log::Layout& layout) {
  const auto input = Input::open(path);
  if (!input) return std::unexpected(input.error().within(path));
  log::BinaryReader reader((*input)->octets());
  log::Buffer lines;
  bool whole = true;
  while (true) {
    const auto entry = reader.next();
    if (!entry) {
      whole = false;
      fail_log(1, fmt::format("{}: {}", path, entry.error().describe()));
      continue;
    }
    if (!*entry) break;
    const log::Site& site = *(*entry)->site;
    if (site.level < level || (!flags.logger.empty() && site.logger != flags.logger)) continue;
    layout.add(**entry, lines);
    if (lines.size() > 64 * 1024 && !print(lines)) break;
  }
  if (!print(lines) || std::fflush(stdout) != 0) {
    return katana::fail(Code::unavailable,
                        fmt::format("standard output: {}", std::strerror(errno)));
  }
  if (reader.cut_bytes() > 0) {
    fmt::print(stderr, "{}: {}: the last {} bytes are the beginning of a record\n", log_name, path,
               reader.cut_bytes());
  }
  return whole;
}

int run(const LogFlags& flags) {
  const auto level = log::parse_level(flags.level);
  if (!level) return fail_log(2, level.error().describe());
  const auto layout =
      log::make_layout(flags.format == "json" ? log::LayoutKind::json : log::LayoutKind::text);
  int status = 0;
  for (const std::string& path : flags.files) {
    const Result<bool> whole = convert(path, flags, *level, *layout);
    if (!whole)
      status = fail_log(1, whole.error().describe());
    else if (!*whole)
      status = 1;
  }
  return status;
}

}  // namespace

void add_log_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<LogFlags>();
  CLI::App* const command =
      app.add_subcommand("log", "Print binary logs as text or as JSON lines.");
  command->add_option("FILE", flags->files, "binary logs, oldest first; - reads standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--level", flags->level, "omit records below this level")
      ->capture_default_str();
  command->add_option("--logger", flags->logger, "print only records of this logger");
  command->callback([flags, command, &chosen] {
    chosen = [flags, command] {
      if (command->get_name() != "log") log_name = command->get_name();
      std::signal(SIGPIPE, SIG_IGN);  // `katana log … | head` ends with an error, not a signal
      return run(*flags);
    };
  });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
