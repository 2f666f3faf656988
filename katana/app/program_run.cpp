// An application as a command: run(), and the output of its flags.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/app/behind_proxy.hpp"
#include "katana/app/describing.hpp"
#include "katana/app/own_health.hpp"
#include "katana/app/program.hpp"
#include "katana/app/program_redis.hpp"
#include "katana/app/security.hpp"
#include "katana/app/server_options.hpp"
#include "katana/base/system/monotonic_clock.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/option_mistakes.hpp"
#include "katana/net/tls/credentials.hpp"
#include "katana/openapi/document/document.hpp"

namespace katana::app {

namespace {

// The wait for the log's outputs before the address is printed. A console without a reader delays
// the line by as much.
constexpr Duration start_records_max = seconds(1);

}  // namespace

int Program::fail_with(int status, std::string_view message) const {
  print_error_line(fmt::format("{}: {}", options_.name, message), last_words_max);
  return status;
}

// The log has the line "listening on" already, in the same place.
bool Program::logs_to_standard_output() const {
  if (!logger_.enabled(log::Level::info)) return false;
  const auto present = settings();
  if (present->log.console != ConsoleLog::off && same_output(STDOUT_FILENO, STDERR_FILENO))
    return true;
  return std::ranges::any_of(std::array{present->log.file, present->log.json_file},
                             [](const std::string& file) { return file == "/dev/stdout"; });
}

// Writes the address to the log, and to standard output for scripts: the kernel may have chosen its
// port.
void Program::tell_listening(Duration took) const {
  const std::string_view engine = server::engine_name(server_->engine());
  const unsigned reactors = server_->reactor_count();
  logger_.info("listening on {}", url(), log::field("engine", engine),
               log::field("reactors", reactors), log::field("took_ms", short_ms(took)));
  for (const std::string& other : server_->other_urls()) logger_.info("listening on {}", other);
  if (logs_to_standard_output()) return;
  // A script that has read the line of standard output finds the records of the start in the log.
  log_->flush(start_records_max);
  print_soon(STDOUT_FILENO, fmt::format("{}: listening on {} (engine {}, {} reactors) in {} ms\n",
                                        options_.name, url(), engine, reactors, short_ms(took)));
}

// Finds the mistakes that a start would find, as far as nothing has to be made for it.
Result<void> Program::check_loaded() const {
  const auto present = settings();
  const server::HttpServerOptions options = server_options_of(*present);
  std::string wrong;
  const auto note = [&wrong](std::string_view what, const Error& error) {
    wrong += fmt::format("{}{}{}", wrong.empty() ? "" : "\n", what, error.describe());
  };
  if (auto checked = server::check_options(options); !checked) note("", checked.error());
  if (auto chosen = server::choose_engine(enumerator_name(present->http.engine)); !chosen) {
    note("http.engine: ", chosen.error());
  }
  if (auto checked = Security::check(*present, !options_.database.empty()); !checked) {
    note("", checked.error());
  }
  if (auto checked = IdempotencyKeys::check(present->idempotency, !options_.database.empty(),
                                            present->redis.given());
      !checked) {
    note("", checked.error());
  }
  if (auto checked = check_operations(*present); !checked) note("", checked.error());
  if (auto checked = jobs_.check(present->jobs); !checked) note("", checked.error());
  if (auto checked = queues_.check(present->queue, !options_.database.empty()); !checked) {
    note("", checked.error());
  }
  if (auto checked = check_redis(*present); !checked) note("", checked.error());
  if (auto checked = parts_.check(); !checked) note("", checked.error());
  if (auto made = Authentication::make(present->auth, present->client, {}); !made) {
    note("", made.error());
  }
  if (auto checked = check_process(present->process); !checked) note("", checked.error());
  if (options.tls) {
    if (auto read = tls::Credentials::load(*options.tls); !read) note("http.tls: ", read.error());
  }
  if (options_.database.empty()) {
    return wrong.empty() ? Result<void>() : fail(Code::invalid_argument, wrong);
  }
  const DatabaseSettings& database = present->database;
  if (auto checked = options_.database.check(database.url); !checked) note("", checked.error());
  if (!database.migrations.empty() && !std::filesystem::is_directory(database.migrations)) {
    note("database.migrations: ",
         Error(Code::not_found, fmt::format("no folder '{}'", database.migrations)));
  }
  return wrong.empty() ? Result<void>() : fail(Code::invalid_argument, wrong);
}

int Program::check_config(const CommandLine& line) {
  if (auto loaded = load(line); !loaded) {
    return fail_with(2, loaded.error().describe());
  }
  if (auto checked = check_loaded(); !checked) return fail_with(2, checked.error().describe());
  fmt::print("{}: the configuration is valid\n", options_.name);
  std::fflush(stdout);
  for (const std::string& each : settings_->notes()) {
    fmt::print(stderr, "{}: note: {}\n", options_.name, each);
  }
  const auto insecure = insecure_settings(*settings(), facts_of(line));
  for (const InsecureSetting& each : insecure) {
    fmt::print(stderr, "{}: insecure: {}\n", options_.name, each.describe());
  }
  for (const InsecureSetting& each : deployment_notes(*settings())) {
    fmt::print(stderr, "{}: note: {}\n", options_.name, each.describe());
  }
  return line.strict && !insecure.empty() ? 1 : 0;
}

// Method, then pattern; HEAD and OPTIONS follow from the others.
int Program::print_routes(const CommandLine& line) {
  serves_ = false;
  add_parts(line);
  if (auto started = startup_.start(); !started) return fail_with(1, started.error().describe());
  std::vector<std::pair<std::string, std::string>> routes;
  for (std::uint32_t index = 0; index < service_->route_count(); ++index) {
    const session::RouteMark& mark = service_->mark(index);
    routes.emplace_back(mark.pattern, mark.method);
  }
  std::ranges::sort(routes);
  for (const auto& [pattern, method] : routes) fmt::print("{:<7} {}\n", method, pattern);
  startup_.stop();
  return 0;
}

// Prints the document of the program's routes; see describing.hpp.
int Program::print_openapi(const CommandLine& line) {
  serves_ = false;
  describes_ = true;
  embedding_ = describing();
  startup_.start_one_by_one();
  add_parts(line);
  if (auto started = startup_.start(); !started) {
    const bool is_usage = started.error().code() == Code::invalid_argument;
    return fail_with(is_usage ? 2 : 1, started.error().describe());
  }
  const std::vector<ServiceDocument>& documents = service_->documents();
  auto chosen = documents.begin();
  if (!line.document.empty()) {
    chosen = std::ranges::find(documents, line.document, &ServiceDocument::name);
  }
  if (chosen == documents.end()) {
    std::string names;
    for (const ServiceDocument& each : documents) names += fmt::format(" '{}'", each.name);
    if (names.empty()) {
      return fail_with(1,
                       "the program has no OpenAPI document: give it one by "
                       "openapi::Document::serve() or keep()");
    }
    return fail_with(2, fmt::format("--document: there is no document '{}'; there are:{}",
                                    line.document, names));
  }
  const auto value = container::read_json<container::Value>(chosen->text);
  if (!value) return fail_with(1, value.error().describe());
  fmt::print("{}", openapi::indented(*value));
  startup_.stop();
  return std::fflush(stdout) == 0 ? 0 : fail_with(1, "standard output cannot be written");
}

// Asks another process for its health: the one that serves.
int Program::check_health(const CommandLine& line) {
  if (auto loaded = load(line); !loaded) {
    return fail_with(2, loaded.error().describe());
  }
  const auto checked = check_own_health(*settings());
  if (checked) return 0;
  const bool is_usage = checked.error().code() == Code::invalid_argument;
  return fail_with(is_usage ? 2 : 1, checked.error().describe());
}

std::optional<int> Program::answer(const CommandLine& line) {
  const auto print = [](const std::string& text) {
    fmt::print("{}", text);
    return 0;
  };
  if (line.help) {
    return print(CommandLine::usage(options_.name, options_.about, options_.environment_prefix,
                                    !options_.database.empty()));
  }
  if (line.version) return print(fmt::format("{} {}\n", options_.name, options_.version));
  if (line.list_engines) return print(server::list_engines());
  if (line.print_defaults) return print(settings_->print_defaults(additions()));
  if (line.print_schema) return print(settings_->print_schema(additions(), options_.name));
  if (line.print_config) {
    if (auto loaded = load(line); !loaded) {
      return fail_with(2, loaded.error().describe());
    }
    return print(settings_->print());
  }
  if (line.check_config) return check_config(line);
  if (line.print_routes) return print_routes(line);
  if (line.print_openapi) return print_openapi(line);
  if (line.health_check) return check_health(line);
  return std::nullopt;
}

int Program::run(int count, const char* const* arguments) {
  const Instant began = monotonic_now();
  const auto line = CommandLine::parse(
      std::span(arguments, static_cast<std::size_t>(count)).subspan(count > 0 ? 1 : 0),
      !options_.database.empty());
  if (!line) return fail_with(2, line.error().describe());
  try {
    if (const auto status = answer(*line)) return *status;
    on_ready_ = [this, began] { tell_listening(monotonic_now() - began); };
    if (auto started = start(*line); !started) {
      const bool is_usage = started.error().code() == Code::invalid_argument;
      return fail_with(is_usage ? 2 : 1, started.error().describe());
    }
    (void)serve();
    give_signals_back();
    stop();
    if (failure_) return fail_with(1, failure_->describe());
    return 0;
  } catch (const std::exception& error) {
    return fail_with(1, error.what());
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
