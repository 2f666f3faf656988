// Crash reports of an application: where they are written, and what the next start says of them.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "katana/app/program.hpp"
#include "katana/http/server/crash_facts.hpp"
#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/report_files.hpp"

namespace katana::app {
namespace {

// The first of the folders, which ':' separates.
std::string state_folder() {
  const char* const given = std::getenv("STATE_DIRECTORY");
  if (given == nullptr) return {};
  const std::string folders(given);
  return folders.substr(0, folders.find(':'));
}

}  // namespace

std::string crash_folder_of(const ApplicationSettings& settings) {
  if (!settings.crash.report) return {};
  if (!settings.crash.folder.empty()) return settings.crash.folder;
  for (const std::string* file :
       {&settings.log.json_file, &settings.log.file, &settings.log.binary_file}) {
    if (file->empty()) continue;
    const std::string folder = std::filesystem::path(*file).parent_path().string();
    return folder.empty() ? "." : folder;
  }
  return state_folder();
}

Result<void> Program::start_crash_reports() {
  const auto present = settings();
  if (embedding_ || describes_ || !present->crash.report) return {};
  crash_folder_ = crash_folder_of(*present);
  crash::set_thread_facts(server::tell_requests_in_flight);
  const crash::Options options{
      .program = options_.name, .version = options_.version, .folder = crash_folder_};
  if (crash_folder_.empty()) return crash::install(options);
  std::error_code ignored;  // opening the folder reports the error
  std::filesystem::create_directories(crash_folder_, ignored);
  auto installed = crash::install(options);
  if (installed) {
    tell_crashes();
    return {};
  }
  // The folder of the log may come later, as the log itself may.
  if (!present->crash.folder.empty()) {
    return std::unexpected(installed.error().within("crash.folder"));
  }
  logger_.warn("{}: a crash report would go to standard error", installed.error().describe());
  crash_folder_.clear();
  return crash::install({.program = options_.name, .version = options_.version});
}

void Program::tell_crashes() {
  auto reports = crash::take_new_reports(crash_folder_, options_.name, settings()->crash.keep);
  if (!reports) {
    logger_.warn("crash reports: {}", reports.error().describe());
    return;
  }
  for (const crash::NewReport& each : *reports) {
    logger_.warn("the program crashed before: {}; 'katana crash {}' prints its stacks",
                 each.summary, each.path, log::field("report", each.path),
                 log::field("frames", each.frames));
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
