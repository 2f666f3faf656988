#include "katana/app/process_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "katana/base/memory/poison.hpp"
#include "katana/http/server/unix_socket.hpp"

namespace katana::app {
namespace {

Result<mode_t> parse_umask(const std::string& text) {
  const auto mask = server::parse_file_mode(text);
  if (!mask) {
    return fail(Code::invalid_argument,
                fmt::format("process.umask '{}': {}", text, mask.error().describe()));
  }
  return *mask;
}

// Makes folders as the present user of the process: a rule needs a folder that exists.
void make_folders(const std::vector<std::string>& folders) {
  for (const std::string& each : folders) {
    std::error_code ignored;  // the code that opens a file there reports the error
    std::filesystem::create_directories(each, ignored);
  }
}

std::string ports_text(const sandbox::LandlockRules& rules) {
  std::string text =
      rules.bind ? fmt::format("bind {}", fmt::join(*rules.bind, ", ")) : std::string("bind any");
  return text + (rules.connect ? ", connect to any" : ", connect to none");
}

// Landlock's rules are of the calling thread and its children.
std::size_t threads_here() {
  std::error_code failure;
  const std::filesystem::directory_iterator tasks("/proc/self/task", failure);
  return failure ? 1 : static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

Result<void> check_process(const ProcessSettings& process) {
  if (!process.umask.empty()) {
    if (auto mask = parse_umask(process.umask); !mask) return std::unexpected(mask.error());
  }
  if (process.user.empty() && !process.group.empty()) {
    return fail(
        Code::invalid_argument,
        fmt::format("process.group is '{}' and process.user is empty: set both", process.group));
  }
  if (process.user.empty()) return {};
  const auto identity = sandbox::find_identity(process.user, process.group);
  if (identity) return {};
  return std::unexpected(identity.error().within("process.user"));
}

Result<void> ProcessRules::enter(const ApplicationSettings& settings, const ProcessNeeds& needs) {
  const ProcessSettings& process = settings.process;
  mode_ = process.sandbox;
  if (auto checked = check_process(process); !checked) return checked;
  if (!process.umask.empty()) ::umask(*parse_umask(process.umask));
  if (auto became = become(settings); !became) return became;
#if !defined(KATANA_ADDRESS_SANITIZER)  // its search for leaks reads the process as a debugger does
  if (!process.core_dumps) {
    if (auto kept = sandbox::keep_memory_private(); !kept) return kept;
  }
#endif
  return mode_ == Sandbox::off ? Result<void>() : restrict(settings, needs);
}

Result<void> ProcessRules::become(const ApplicationSettings& settings) {
  const ProcessSettings& process = settings.process;
  if (process.user.empty()) {
    if (sandbox::is_root() && mode_ != Sandbox::off) {
      warnings_.emplace_back(
          "the program runs as root, which no sandbox makes harmless: set process.user");
    }
    return {};
  }
  auto identity = sandbox::find_identity(process.user, process.group);
  if (!identity) return std::unexpected(identity.error().within("process.user"));
  const bool binds = sandbox::is_root() && needs_root_to_bind(settings);
  identity_ = *std::move(identity);
  if (auto became =
          sandbox::become(identity_, binds ? sandbox::Until::started : sandbox::Until::now);
      !became) {
    return std::unexpected(became.error().within("process.user"));
  }
  user_ = process.user;
  report_.push_back(fmt::format("the process is user {} ({}), group {}, in {} groups{}",
                                identity_.name, identity_.user, identity_.group,
                                identity_.groups.size(),
                                binds ? "; until it has started it may bind every port" : ""));
  return {};
}

void ProcessRules::tell_files(const sandbox::LandlockRules& rules,
                              const sandbox::LandlockReport& enforced) {
  if (enforced.version > 0) {
    report_.push_back(
        fmt::format("sandbox: files by Landlock {}: {} roots to read, to write: {}; TCP: {}",
                    enforced.version, enforced.read, fmt::join(rules.write, " "),
                    enforced.ports ? ports_text(rules) : std::string("any")));
  }
  for (const std::string& each : enforced.not_enforced) {
    warnings_.push_back(fmt::format("sandbox: not enforced: {}", each));
  }
}

Result<void> ProcessRules::restrict(const ApplicationSettings& settings,
                                    const ProcessNeeds& needs) {
  const sandbox::LandlockRules files = file_rules_of(settings, needs);
  make_folders(files.write);
  const std::size_t threads = threads_here();
  if (mode_ == Sandbox::report) {
    report_.push_back(fmt::format("sandbox: reports only; files to read: {}; to write: {}; TCP: {}",
                                  fmt::join(files.read, " "), fmt::join(files.write, " "),
                                  ports_text(files)));
  } else {
    const auto enforced = sandbox::restrict_files(files);
    if (!enforced) return std::unexpected(enforced.error().within("process.sandbox"));
    for (const auto* given : {&settings.process.sandbox_read, &settings.process.sandbox_write}) {
      for (const std::string& path : *given) {
        std::error_code ignored;
        if (std::filesystem::exists(path, ignored)) continue;
        warnings_.push_back(fmt::format(
            "sandbox: '{}' is not there, so no rule names it: make it, and restart", path));
      }
    }
    tell_files(files, *enforced);
    if (threads > 1 && enforced->version > 0) {
      warnings_.push_back(fmt::format(
          "sandbox: not enforced: files and ports in {} threads that the program had before it "
          "started: make them in services() or later",
          threads - 1));
    }
  }
  calls_ = call_rules_of(settings, needs);
  const auto counts = sandbox::allow_system_calls(calls_);
  if (!counts) {
    warnings_.push_back(fmt::format("sandbox: not enforced: {}", counts.error().describe()));
    return {};
  }
  filtered_ = true;
  report_.push_back(fmt::format(
      "sandbox: system calls by seccomp: {} allowed, {} with some arguments; io_uring {}, "
      "connections {}, subprocesses {}",
      counts->allowed, counts->some, calls_.io_uring ? "yes" : "no",
      calls_.connections ? "yes" : "no", calls_.subprocesses ? "yes" : "no"));
  return {};
}

Result<void> ProcessRules::finish_start() {
  if (!user_.empty()) {
    if (auto given_up = sandbox::give_up_root(identity_); !given_up) return given_up;
  }
  if (!filtered_) return {};
  if (auto refused = sandbox::refuse_starting_calls(calls_); !refused) {
    return std::unexpected(refused.error().within("process.sandbox"));
  }
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
