// The rights that an application gives up before its first thread, and its records about them.
#include <span>
#include <string>
#include <utility>

#include "katana/app/insecure_settings.hpp"
#include "katana/app/process_rules.hpp"
#include "katana/app/program.hpp"

namespace katana::app {

InsecureFacts Program::facts_of(const CommandLine& line) const {
  return {.database = !options_.database.empty(),
          .client = options_.http_client,
          .config_file = sources_of(line).file,
          .secret_files = parts_.needs().secrets,
          .of_parts = parts_.judge()};
}

// Called before there is another thread or an open file.
Result<void> Program::load_and_enter(const CommandLine& line) {
  if (auto loaded = load(line); !loaded) return loaded;
  if (auto checked = parts_.check(); !checked) return checked;
  if (embedding_) return {};
  exposed_files_ = exposed_files(*settings(), facts_of(line));
  insecure_ = insecure_settings(*settings(), facts_of(line));
  if (line.strict) {
    std::string all;
    for (const InsecureSetting& each : insecure_) all += "\n  " + each.describe();
    if (!all.empty()) return fail(Code::permission_denied, "--strict: this is insecure:" + all);
  }
  if (auto made = make_launcher(); !made) return made;
  return rules_.enter(*settings(), {.config_file = sources_of(line).file,
                                    .reads = options_.reads,
                                    .writes = options_.writes,
                                    .database = !options_.database.empty(),
                                    .connections = options_.http_client,
                                    .parts = parts_.needs()});
}

Result<void> Program::make_launcher() {
  const RestartSettings& restart = settings()->restart;
  if (!serves_ || !restart.enabled || !restart.launcher) return {};
  auto command = server::command_of_this_process(restart.program);
  if (!command) return std::unexpected(command.error());
  command->ready_timeout = restart.ready_timeout;
  auto made = Launcher::make(*std::move(command));
  if (!made) return std::unexpected(made.error());
  launcher_ = *std::move(made);
  return {};
}

// Sets how a successor of the program is started: by the launcher, if there is one, by the program
// itself, or not at all.
void Program::prepare_restart(server::HttpServerOptions& options,
                              const ApplicationSettings& settings) {
  options.restart = settings.restart;
  options.inherited = inherited_.get();
  options.on_restart = [this](const auto& replacement) { on_restart(replacement); };
  if (launcher_) {
    options.start_replacement = [this](std::span<const server::HandedSocket> sockets, int cancel) {
      return launcher_->start_replacement(sockets, cancel);
    };
  } else if (rules_.refuses_programs()) {
    options.start_replacement = [](std::span<const server::HandedSocket>,
                                   int) -> Result<server::Replacement> {
      return fail(Code::permission_denied,
                  "a program that has given up its rights (process.sandbox, process.user) starts "
                  "no other: set restart.launcher: true, or let the service manager restart it");
    };
  }
}

// Called on the thread of the attempt.
void Program::on_restart(const Result<server::Replacement>& replacement) {
  if (replacement) {
    logger_.info("restart: process {} serves from here on, and this one ends",
                 replacement->process_id);
    tell_manager(manager_.replaced_by(replacement->process_id));
    return;
  }
  const std::string why = replacement.error().describe();
  logger_.error("restart: not restarted, this process goes on: {}", why);
  tell_manager(manager_.not_replaced(why));
}

void Program::tell_process_rules() const {
  for (const std::string& each : rules_.report()) logger_.info("{}", each);
  for (const std::string& each : rules_.warnings()) logger_.warn("{}", each);
  for (const InsecureSetting& each : exposed_files_) logger_.warn("{}", each.describe());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
