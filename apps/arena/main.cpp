// arena: KATANA's entry for HttpArena, written as the guides recommend, with the default settings
// of the guides.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/command_line.hpp"
#include "arena/arena.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/server/http_server.hpp"

namespace {

using namespace katana;
constexpr const char* program = "arena";

struct Flags {
  std::string address = "0.0.0.0";
  std::optional<std::uint16_t> h1, h1_tls, h2c, tls, checked;
  std::string folder, dataset, certificate, key, checked_certificate, checked_key;
  unsigned threads = 0;
};

void describe(CLI::App& app, Flags& flags) {
  app.add_option("--address", flags.address, "numeric address to listen on")->capture_default_str();
  app.add_option("--h1", flags.h1, "port of HTTP/1.1 and WebSocket; 0 lets the kernel choose");
  app.add_option("--h1-tls", flags.h1_tls, "port of HTTP/1.1 over TLS");
  app.add_option("--h2c", flags.h2c, "port of HTTP/2 without TLS (prior knowledge)");
  app.add_option("--tls", flags.tls, "port of HTTP/2 and HTTP/1.1 over TLS");
  app.add_option("--static", flags.folder, "folder of the files below /static");
  app.add_option("--dataset", flags.dataset, "JSON file of the items of /json");
  app.add_option("--cert", flags.certificate, "PEM file of the certificate and its chain");
  app.add_option("--key", flags.key, "PEM file of its private key");
  app.add_option(
      "--tls-check", flags.checked,
      "port of HTTP/1.1 over TLS with other certificates; it is closed while their file is "
      "missing");
  app.add_option("--tls-check-cert", flags.checked_certificate, "as --cert, for --tls-check");
  app.add_option("--tls-check-key", flags.checked_key, "as --key, for --tls-check");
  app.add_option("--threads", flags.threads, "reactors; 0: one for each CPU of the affinity mask")
      ->capture_default_str();
}

// Files that are replaced are read again without a signal, as the guide of TLS says.
constexpr Duration certificates_watch = seconds(10);

// The server's first listener speaks TLS if any does.
Result<server::HttpServerOptions> server_options(const Flags& flags) {
  using server::HttpVersions;
  std::vector<server::ListenerOptions> listeners;
  const auto listen = [&](std::optional<std::uint16_t> port, bool tls, HttpVersions versions) {
    if (port)
      listeners.push_back(
          {.address = flags.address, .port = *port, .tls = tls, .versions = versions});
  };
  listen(flags.tls, true, HttpVersions::any);
  listen(flags.h1_tls, true, HttpVersions::http1);
  listen(flags.h1, false, HttpVersions::http1);
  listen(flags.h2c, false, HttpVersions::http2);
  if (listeners.empty())
    return fail(Code::invalid_argument, "give a port: --h1, --h1-tls, --h2c or --tls");
  server::HttpServerOptions options;
  options.reactors = flags.threads;
  options.address = listeners[0].address;
  options.port = listeners[0].port;
  options.versions = listeners[0].versions;
  if (listeners[0].tls) {
    if (flags.certificate.empty() || flags.key.empty()) {
      return fail(Code::invalid_argument, "--tls and --h1-tls need --cert and --key");
    }
    options.tls = {.certificates = {{.chain_file = flags.certificate, .key_file = flags.key}}};
    options.certificates_watch = certificates_watch;
  }
  options.listeners.assign(listeners.begin() + 1, listeners.end());
  return options;
}

// Serves --tls-check beside the main server, and ends with it.
class CheckedListener {
 public:
  CheckedListener(const Flags& flags, const Service& service)
      : server_(options_of(flags), service) {}
  ~CheckedListener() {
    if (!thread_.joinable()) return;
    server_.shutdown();
    thread_.join();
  }

  static bool is_wanted(const Flags& flags) {
    return flags.checked && std::filesystem::exists(flags.checked_certificate);
  }
  Result<void> start() {
    if (auto started = server_.start(); !started) return started;
    thread_ = std::thread([this] { server_.run(); });
    return {};
  }
  std::string url() const { return server_.url(); }

 private:
  static server::HttpServerOptions options_of(const Flags& flags) {
    server::HttpServerOptions options;
    options.reactors = 1;
    options.address = flags.address;
    options.port = *flags.checked;
    options.versions = server::HttpVersions::http1;
    options.tls = {
        .certificates = {{.chain_file = flags.checked_certificate, .key_file = flags.checked_key}}};
    options.certificates_watch = certificates_watch;
    return options;
  }

  server::HttpServer server_;
  std::thread thread_;
};

Result<void> serve(const Flags& flags) {
  std::vector<arena::Item> items;
  if (!flags.dataset.empty()) {
    auto read = arena::read_dataset(flags.dataset);
    if (!read) return std::unexpected(read.error().within("--dataset"));
    items = *std::move(read);
  }
  Router router;
  arena::add_routes(router, items, flags.folder);
  std::optional<database::Database> table;
  if (const char* const url = std::getenv("DATABASE_URL")) {
    const char* const most = std::getenv("DATABASE_MAX_CONN");
    auto opened = arena::open_table(
        url, most != nullptr ? static_cast<unsigned>(std::max(0, std::atoi(most))) : 0);
    if (!opened) return std::unexpected(opened.error().within("DATABASE_URL"));
    table.emplace(*std::move(opened));
    if (auto added = arena::add_routes(router, *table); !added) return added;
  }
  const auto service = std::move(router).build();
  if (!service) return std::unexpected(service.error());
  const auto options = server_options(flags);
  if (!options) return std::unexpected(options.error());
  server::raise_descriptor_limit();
  server::HttpServer server(*options, *service);
  if (auto started = server.start(); !started) return started;
  std::optional<CheckedListener> checked;
  if (CheckedListener::is_wanted(flags)) {
    checked.emplace(flags, *service);
    if (auto started = checked->start(); !started) {
      return std::unexpected(started.error().within("--tls-check"));
    }
  }
  std::string ready = fmt::format("{}: listening on {}", program, server.url());
  for (const std::string& url : server.other_urls()) ready += ", " + url;
  if (checked) ready += ", " + checked->url();
  print_soon(STDOUT_FILENO, ready + fmt::format(" ({} reactors)\n", server.reactor_count()));
  server.run();
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app(
      "Serves the profiles of HttpArena; DATABASE_URL and DATABASE_MAX_CONN name the database of "
      "those that need one.",
      program);
  app.set_version_flag("--version", fmt::format("{} {}", program, KATANA_VERSION));
  Flags flags;
  describe(app, flags);
  if (const auto status = command_line::parse(app, count, arguments)) return *status;
  const auto served = serve(flags);
  if (served) return 0;
  const bool is_usage = served.error().code() == Code::invalid_argument;
  return command_line::fail(program, is_usage ? 2 : 1, served.error().describe());
}

// SPDX-License-Identifier: Apache-2.0
