#include "katana_tool/profile_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "apps/command_line.hpp"
#include "katana/observe/profile/flame_graph.hpp"
#include "katana/observe/profile/folded.hpp"
#include "katana/observe/profile/pprof.hpp"
#include "katana_tool/files.hpp"
#include "katana_tool/profile_source.hpp"
#include "katana_tool/profile_symbols.hpp"

namespace katana::tool {
namespace {

struct ProfileFlags {
  std::string target;
  unsigned seconds = 10;
  unsigned hertz = 0;       // 0: not given
  std::uint64_t bytes = 0;  // likewise
  std::string kind = "cpu";
  std::string output;
  std::string format;
  std::string debug_folder;
  std::string token_file;
};

int fail_profile(int status, std::string_view message) {
  return command_line::fail("katana profile", status, message);
}

// The ending of a file says its format, unless --format does.
std::string format_of(const ProfileFlags& flags) {
  if (!flags.format.empty()) return flags.format;
  if (flags.output.ends_with(".html")) return "html";
  if (flags.output.ends_with(".folded") || flags.output.ends_with(".txt")) return "folded";
  return "pprof";
}

// The name of a program comes from the server or the file: it must not lead to another folder.
std::string safe_name(const std::string& program) {
  constexpr std::size_t name_bytes_max = 100;
  constexpr const char* safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool is_safe = !program.empty() && program.size() <= name_bytes_max &&
                       program.find_first_not_of(safe) == std::string::npos &&
                       program.front() != '.' && program.front() != '-';
  return is_safe ? program : "profile";
}

std::string output_of(const ProfileFlags& flags, const profile::Profile& profile,
                      const std::string& format) {
  if (!flags.output.empty()) return flags.output;
  const char* const ending = format == "html" ? "html" : format == "folded" ? "folded" : "pb.gz";
  return fmt::format("{}-{}.{}", safe_name(profile.program), profile::name_of(profile.kind),
                     ending);
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code failure;
  return std::filesystem::equivalent(one, other, failure);
}

// "1.25 s of CPU time", "3.1 MiB allocated".
std::string total_text(const profile::Profile& profile) {
  const std::int64_t total = profile.total_ns();
  switch (profile.kind) {
    case profile::Kind::cpu:
      return fmt::format("{:.2f} s of CPU time", static_cast<double>(total) / 1e9);
    case profile::Kind::waiting:
      return fmt::format("{:.2f} s of waiting", static_cast<double>(total) / 1e9);
    case profile::Kind::allocations: return amount_text(profile.kind, total) + " allocated";
    case profile::Kind::growth: break;
  }
  return amount_text(profile.kind, total) + " not freed";
}

std::string content_of(const profile::Profile& profile, const std::string& format) {
  if (format == "html") return profile::flame_graph_page(profile);
  if (format == "folded") return profile::to_folded(profile);
  return profile::compress(profile::to_pprof(profile));
}

Result<profile::Profile> fetch(const ProfileFlags& flags) {
  ProfileRequest request{
      .kind = flags.kind, .seconds = flags.seconds, .hertz = flags.hertz, .bytes = flags.bytes};
  if (!flags.token_file.empty()) {
    auto token = read_file(flags.token_file);
    if (!token) return std::unexpected(token.error().within("--token-file"));
    if (token->ends_with('\n')) token->pop_back();
    request.token = *std::move(token);
  }
  const auto bytes = profile_of(flags.target, request);
  if (!bytes) return std::unexpected(bytes.error());
  const auto message = profile::decompress(*bytes);
  if (!message) return std::unexpected(message.error().within(flags.target));
  auto profile = profile::from_pprof(*message);
  if (!profile) return std::unexpected(profile.error().within(flags.target));
  return profile;
}

int run(const ProfileFlags& flags) {
  std::error_code failure;
  if (!flags.debug_folder.empty() && !std::filesystem::is_directory(flags.debug_folder, failure)) {
    return fail_profile(2, fmt::format("--debug-dir: '{}' is no folder", flags.debug_folder));
  }
  auto profile = fetch(flags);
  if (!profile) return fail_profile(1, profile.error().describe());
  const auto symbols = symbolise(*profile, flags.debug_folder);
  const std::string format = format_of(flags);
  const std::string output = output_of(flags, *profile, format);
  if (flags.output.empty() && is_same_file(output, flags.target)) {
    return fail_profile(
        1, fmt::format("{} is the profile that was given: name a file with -o", output));
  }
  const std::string content = content_of(*profile, format);
  if (output == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() ||
        std::fflush(stdout) != 0) {
      return fail_profile(1, "standard output cannot be written");
    }
  } else {
    if (auto written = replace_file(output, content); !written) {
      return fail_profile(1, written.error().describe());
    }
    fmt::print("{}: {} in {} {}{}\n", output, total_text(*profile), profile->samples(),
               is_memory(profile->kind) ? "allocations" : "samples",
               profile->lost != 0 ? fmt::format(", {} lost", profile->lost) : "");
    if (profile->threads_left_out != 0) {
      fmt::print(stderr, "katana profile: {} threads were not sampled\n",
                 profile->threads_left_out);
    }
    std::fflush(stdout);
  }
  // The file has addresses then, which a later run can name.
  if (!symbols) return fail_profile(1, symbols.error().describe());
  for (const std::string& each : *symbols) fmt::print(stderr, "katana profile: {}\n", each);
  return 0;
}

}  // namespace

void add_profile_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<ProfileFlags>();
  CLI::App* const command = app.add_subcommand(
      "profile", "Make a profile of a running program, with the names of its functions.");
  command
      ->add_option("TARGET", flags->target,
                   "URL of its operations pages, number of its process, or a profile in a file")
      ->type_name("TARGET")
      ->required();
  command->add_option("--seconds", flags->seconds, "length")
      ->type_name("N")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  command
      ->add_option(
          "--kind", flags->kind,
          "cpu; waiting: where coroutines wait; allocations; growth: what is allocated and "
          "not freed before the end")
      ->type_name("KIND")
      ->check(CLI::IsMember({"cpu", "waiting", "allocations", "growth"}))
      ->capture_default_str();
  command->add_option("--hertz", flags->hertz, "samples in a second; default: 99, of waiting 10")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--bytes", flags->bytes,
                   "allocated bytes that a sample of memory stands for; default: 524288")
      ->type_name("N")
      ->check(CLI::Range(1024, 1 << 30));
  command
      ->add_option("-o,--output", flags->output,
                   "file to write, - for standard output; without it: PROGRAM-KIND.pb.gz")
      ->type_name("FILE");
  command
      ->add_option("--format", flags->format,
                   "pprof, folded stacks or a flame graph; without it: by the ending of FILE")
      ->check(CLI::IsMember({"pprof", "folded", "html"}));
  command
      ->add_option("--debug-dir", flags->debug_folder,
                   "folder of programs with symbols, or of debug files")
      ->type_name("DIR");
  command->add_option("--token-file", flags->token_file, "file with operations.token")
      ->type_name("FILE");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
