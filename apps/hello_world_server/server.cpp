#include "hello_world_server/server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "hello_world_server/flags.hpp"
#include "hello_world_server/routes.hpp"
#include "katana/base.hpp"
#include "katana/brotli.hpp"
#include "katana/http.hpp"
#include "katana/log.hpp"
#include "katana/zstd.hpp"

namespace hello {
namespace {

using namespace katana;
using Clock = std::chrono::steady_clock;

int fail_with(const Program& program, int status, std::string_view message) {
  return command_line::fail(program.name, status, message);
}

int fail_with(const Program& program, const Error& error) {
  return fail_with(program, error.code() == Code::invalid_argument ? 2 : 1, error.describe());
}

// On standard error, which may be a pipe that is not read.
template <class... A>
void print_line(const char* name, fmt::format_string<A...> pattern, A&&... arguments) {
  print_error_line(fmt::format("{}: {}", name, fmt::format(pattern, std::forward<A>(arguments)...)),
                   last_words_max);
}

void print_reload(const char* name, const Result<std::vector<std::string>>& reloaded) {
  if (!reloaded) {
    print_line(name, "certificates stay as they were: {}", reloaded.error().describe());
    return;
  }
  print_line(name, "certificates read again");
  for (const std::string& note : *reloaded) print_line(name, "{}", note);
}

void print_restart(const char* name, const Result<server::Replacement>& replacement) {
  if (replacement) {
    print_line(name, "process {} serves from here on", replacement->process_id);
  } else {
    print_line(name, "not restarted, this process goes on: {}", replacement.error().describe());
  }
}

// Null: none is wanted.
Result<std::unique_ptr<log::Log>> start_access_log(const std::string& file) {
  if (file.empty()) return nullptr;
  log::Options options;
  if (file == "-") {
    options.sinks = {log::console()};
  } else {
    options.sinks = {file.ends_with(".jsonl") ? log::json_file(file)
                     : file.ends_with(".bin") ? log::binary_file(file)
                                              : log::file(file)};
  }
  return log::Log::start(std::move(options));
}

// Replies with the size of the decoded request body.
Task<void> measure(ContentReader content, ReplyWriter reply) {
  std::size_t bytes = 0;
  auto add = [&bytes](Bytes piece) { bytes += piece.size(); };
  co_await content.for_each(add);
  const Text answer = format_text("{} bytes", bytes);
  reply.begin(200, "text/plain", static_cast<std::int64_t>(answer.size()));
  co_await reply.write(answer.bytes());
}

void print_budget(const char* name, const net::MemoryBudget& budget) {
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); };
  print_line(
      name,
      "address space reserved: {:.1f} MiB per reactor (memory is used only under load): "
      "connections {:.1f} MiB, input {:.1f} MiB, output {:.1f} MiB, engine {:.2f} MiB, held {:.1f} "
      "MiB, shared {:.2f} MiB",
      mib(budget.total()), mib(budget.connections), mib(budget.carry), mib(budget.output),
      mib(budget.engine), mib(budget.held), mib(budget.shared));
}

void print_start(const Program& program, const server::HttpServer& server,
                 server::EngineKind engine, Clock::time_point began) {
  for (const std::string& note : server.certificate_notes()) {
    print_line(program.name, "{}", note);
  }
  print_budget(program.name, server.memory_budget());
  if (!server.placement().empty()) {
    print_line(program.name, "reactors on CPUs {}", server.placement());
  }
  print_soon(
      STDOUT_FILENO,
      fmt::format("{}: listening on {} (engine {}, {} reactors) in {:.1f} ms\n", program.name,
                  server.url(), server::engine_name(engine), server.reactor_count(),
                  std::chrono::duration<double, std::milli>(Clock::now() - began).count()));
}

int serve(const Program& program, const Flags& flags, server::EngineKind engine,
          Clock::time_point began) {
  auto observability = server::Observability::make();
  if (!observability) return fail_with(program, 1, observability.error().describe());
  server::OperationsRules rules{.addresses = {flags.address}, .hosts = flags.hosts};
  // The operator who gives it a name wants the pages under that name; it has one listener.
  if (!flags.hosts.empty()) rules.listener = 0;
  const server::OperationsGuard guard(std::move(rules));
  auto service = make_service([&](Group& routes) {
    (*observability)->mount(routes, guard);
    Group inner = routes.group("");
    if (flags.compress) {
      const coding::Codecs codecs = {coding::gzip(), coding::brotli(), coding::zstd()};
      inner.use(compression({.codecs = codecs}))
          .use(decompression({.codecs = codecs}))
          .post("/upload", measure);
    }
    if (!flags.files.empty()) inner.files("/files", flags.files);
  });
  if (!service) return fail_with(program, 1, service.error().describe());
  server::raise_descriptor_limit();
  auto options = server_options(flags, engine);
  if (!options) return fail_with(program, 2, options.error().describe());
  if (program.adjust) {
    if (auto done = program.adjust(*options); !done) return fail_with(program, done.error());
  }
  options->on_certificates = [&](const Result<std::vector<std::string>>& reloaded) {
    print_reload(program.name, reloaded);
  };
  options->observability = observability->get();
  auto inherited = server::InheritedListeners::of_this_process();
  if (!inherited) return fail_with(program, 2, inherited.error().describe());
  options->inherited = inherited->get();
  options->on_restart = [&](const Result<server::Replacement>& replacement) {
    print_restart(program.name, replacement);
  };
  auto access_log = start_access_log(flags.access_log);
  if (!access_log) return fail_with(program, 1, access_log.error().describe());
  server::AccessLog access(*access_log ? (*access_log)->logger("access") : log::Logger());
  if (*access_log) options->http.observer = &access;
  server::HttpServer server(*options, *service);
  if (auto started = server.start(); !started) return fail_with(program, started.error());
  print_start(program, server, engine, began);
  print_line(program.name, "{}", server.run().describe());
  return 0;
}

}  // namespace

int run(const Program& program, int count, char** arguments) {
  const auto began = Clock::now();
  keep_standard_descriptors();
  CLI::App app(
      "Answers GET /, /plaintext, /json, /hello/{name}, /bytes/{n}, /metrics, /health, /ready, "
      "/files/… (--files), any method on /echo, and WebSocket on /ws.",
      program.name);
  app.set_version_flag("--version", fmt::format("{} {}", program.name, KATANA_VERSION));
  Flags flags;
  describe(app, flags);
  if (program.add_flags) program.add_flags(app);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  const auto engine = server::choose_engine(flags.engine);
  if (!engine) return fail_with(program, engine.error());
  if (!engine->note.empty()) print_line(program.name, "{}", engine->note);
  try {
    return serve(program, flags, engine->kind, began);
  } catch (const std::exception& error) {
    return fail_with(program, 1, error.what());
  }
}

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
