#include "katana_tool/crash_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "apps/command_line.hpp"
#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/report.hpp"
#include "katana_tool/symbols.hpp"

namespace katana::tool {
namespace {

struct CrashFlags {
  std::string file;
  std::string debug_folder;
  bool all = false;
};

int fail_crash(int status, std::string_view message) {
  return command_line::fail("katana crash", status, message);
}

// At most a byte more than a report has: a larger file is then refused.
Result<std::string> report_text_of(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return fail(Code::invalid_argument, "this is a folder; name a report in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Code::not_found, std::filesystem::exists(path, failure) ? "it cannot be read"
                                                                        : "there is no such file");
  }
  std::string text(2 * crash::report_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void print_frame(std::size_t number, const crash::Frame& frame, const Symbols& symbols) {
  const auto known = symbols.at(frame);
  if (known.empty()) {
    if (frame.path.empty()) {
      fmt::print("  #{:<3} 0x{:x}, in no module\n", number, frame.address);
    } else {
      fmt::print("  #{:<3} {}+0x{:x}\n", number, name_in(frame.path), frame.offset);
    }
    return;
  }
  for (std::size_t index = 0; index < known.size(); ++index) {
    const std::string begin = index == 0 ? fmt::format("#{:<3}", number) : std::string(4, ' ');
    const Symbol& symbol = known[index];
    fmt::print("  {} {}{}{}\n", begin, symbol.function, symbol.location.empty() ? "" : " at ",
               symbol.location);
  }
}

void print_thread(const crash::ReportedThread& thread, const Symbols& symbols) {
  fmt::print("\nthread {} '{}'{}\n", thread.id, thread.name, thread.crashed ? ", crashed" : "");
  if (!thread.route.empty()) fmt::print("  on {}\n", thread.route);
  if (!thread.request.empty()) fmt::print("  request {}\n", thread.request);
  for (const std::string& each : thread.in_flight) fmt::print("  in flight: {}\n", each);
  if (!thread.answered) fmt::print("  no stack: the thread did not answer\n");
  for (std::size_t index = 0; index < thread.frames.size(); ++index) {
    print_frame(index, thread.frames[index], symbols);
  }
  if (thread.cut) fmt::print("  … the outer frames are left out\n");
}

void print_report(const crash::Report& report, const Symbols& symbols, bool all) {
  fmt::print("{} {} crashed at {}: process {}, {} ms after its start\n", report.program,
             report.version, report.time, report.process, report.uptime_ms);
  fmt::print("{}\n", crash::summary_of(report));
  for (const auto& thread : report.threads) {
    if (thread.crashed || all) print_thread(thread, symbols);
  }
  if (!report.reactors.empty()) fmt::print("\nreactors\n");
  for (const std::string& each : report.reactors) fmt::print("  {}\n", each);
  if (!report.records.empty()) fmt::print("\nlast records of the log\n");
  for (const std::string& each : report.records) fmt::print("  {}\n", each);
  if (!all && report.threads.size() > 1) {
    fmt::print("\n{} other threads: --all prints their stacks\n", report.threads.size() - 1);
  }
}

int run(const CrashFlags& flags) {
  std::error_code failure;
  if (!flags.debug_folder.empty() && !std::filesystem::is_directory(flags.debug_folder, failure)) {
    return fail_crash(2, fmt::format("--debug-dir: '{}' is no folder", flags.debug_folder));
  }
  const auto text = report_text_of(flags.file);
  if (!text) return fail_crash(1, text.error().within(flags.file).describe());
  const auto report = crash::parse_report(*text);
  if (!report) return fail_crash(1, report.error().within(flags.file).describe());
  Symbols symbols(flags.debug_folder);
  const auto loaded = symbols.load(*report);
  print_report(*report, symbols, flags.all);
  std::fflush(stdout);
  if (!loaded) return fail_crash(1, loaded.error().describe());
  for (const std::string& each : symbols.problems()) {
    fmt::print(stderr, "katana crash: {}\n", each);
  }
  if (!report->whole) {
    fmt::print(stderr, "katana crash: the report is cut: the process ended before it was whole\n");
  }
  return 0;
}

}  // namespace

void add_crash_command(CLI::App& app, std::function<int()>& chosen) {
  auto flags = std::make_shared<CrashFlags>();
  CLI::App* const command =
      app.add_subcommand("crash", "Print a crash report with functions and lines of source.");
  command->add_option("FILE", flags->file, "the report, NAME-crash-TIME-PROCESS.txt")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--debug-dir", flags->debug_folder,
                   "folder of programs with symbols, or of debug files")
      ->type_name("DIR");
  command->add_flag("--all", flags->all, "also the threads that did not crash");
  command->callback([flags, &chosen] { chosen = [flags] { return run(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
