// What an application gives up before its first thread, and what it says of that.
#include <string>
#include <utility>

#include "katana/host/application.hpp"
#include "katana/host/insecure_settings.hpp"
#include "katana/host/process_rules.hpp"

namespace katana::host {

InsecureFacts ApplicationCore::facts_of(const CommandLine& line) const {
  return {.database = !options_.database.empty(),
          .client = options_.http_client,
          .config_file = sources_of(line).file};
}

// No other thread is there yet, and nothing is open.
Result<void> ApplicationCore::load_and_enter(const CommandLine& line) {
  const config::Sources sources = sources_of(line);
  if (auto loaded = load(sources); !loaded) return loaded;
  if (embedding_) return {};
  exposed_files_ = exposed_files(*settings(), facts_of(line));
  if (line.strict) {
    std::string all;
    for (const InsecureSetting& each : insecure_settings(*settings(), facts_of(line))) {
      all += "\n  " + each.describe();
    }
    if (!all.empty()) return fail(Code::permission_denied, "--strict: this is insecure:" + all);
  }
  return rules_.enter(*settings(), {.config_file = sources.file,
                                    .reads = options_.reads,
                                    .writes = options_.writes,
                                    .database = !options_.database.empty(),
                                    .connections = options_.http_client});
}

void ApplicationCore::tell_process_rules() const {
  for (const std::string& each : rules_.report()) logger_.info("{}", each);
  for (const std::string& each : rules_.warnings()) logger_.warn("{}", each);
  for (const InsecureSetting& each : exposed_files_) logger_.warn("{}", each.describe());
}

}  // namespace katana::host

// SPDX-License-Identifier: Apache-2.0
