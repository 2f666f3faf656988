// The log of an application: its outputs, and the records of failures.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "katana/app/program.hpp"
#include "katana/observe/crash/recent_records.hpp"

namespace katana::app {
namespace {

// Ignored when it fails: opening the file reports why that cannot be done.
void make_folder_of(const std::string& file) {
  std::error_code failure;
  const auto folder = std::filesystem::path(file).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failure);
}

log::Options log_options(const LogSettings& settings) {
  log::Options options;
  const log::Rotation rotation{.bytes_max = settings.file_bytes_max.bytes,
                               .keep = settings.files_kept};
  if (settings.console != ConsoleLog::off) {
    options.sinks.push_back(log::console());
    if (settings.console == ConsoleLog::json) {
      options.sinks.back().layout = log::LayoutKind::json;
    }
  }
  if (!settings.file.empty()) {
    make_folder_of(settings.file);
    options.sinks.push_back(log::file(settings.file, rotation));
  }
  if (!settings.json_file.empty()) {
    make_folder_of(settings.json_file);
    options.sinks.push_back(log::json_file(settings.json_file, rotation));
  }
  if (!settings.binary_file.empty()) {
    make_folder_of(settings.binary_file);
    options.sinks.push_back(log::binary_file(settings.binary_file, rotation));
  }
  for (log::SinkOptions& sink : options.sinks) {
    sink.queue_bytes_max = settings.output_bytes_max.bytes;
  }
  options.mode = settings.synchronous ? log::Mode::synchronous : log::Mode::background;
  options.when_full = settings.when_full;
  return options;
}

// Binary records are the cheapest because the writer does not decode them: they are in their file.
bool makes_text(const log::Options& options) {
  return std::ranges::any_of(options.sinks, [](const log::SinkOptions& sink) {
    return sink.layout != log::LayoutKind::binary;
  });
}

}  // namespace

Result<void> Program::start_log() {
  const auto present = settings();
  log::Options log_settings;
  if (embedding_) {
    log_settings.sinks = embedding_->sinks;
    log_settings.mode = log::Mode::synchronous;
  } else {
    log_settings = log_options(present->log);
    log_settings.sinks.insert(log_settings.sinks.end(), options_.sinks.begin(),
                              options_.sinks.end());
    for (const auto& part : parts_.all()) part->add_outputs(log_settings.sinks);
    if (present->crash.report && makes_text(log_settings)) {
      log_settings.sinks.push_back(crash::recent_records());
    }
  }
  auto log = log::Log::start(std::move(log_settings));
  if (!log) return std::unexpected(log.error());
  if (auto set = (*log)->reset_levels(present->log.levels); !set) {
    return std::unexpected(set.error().within("log.levels"));
  }
  log_ = std::move(*log);
  logger_ = log_->logger(options_.name);
  start_failure_log();
  return start_crash_reports();
}

server::OnError Program::failure_hook() const {
  if (!embedding_ || !embedding_->on_failure) return options_.on_error;
  return [first = embedding_->on_failure, second = options_.on_error](const Failure& failure) {
    first(failure);
    if (second) second(failure);
  };
}

void Program::start_failure_log() {
  const RequestSettings requests = settings()->requests;
  failures_ = std::make_unique<server::FailureLog>(
      server::FailureLogOptions{.logger = log_->logger("failures"),
                                .on_error = failure_hook(),
                                .records_max = requests.failure_records_max,
                                .period = requests.failure_period});
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
