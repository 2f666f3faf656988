#include "katana/http/server/http_server.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include "katana/http/server/running_server.hpp"

namespace katana::server {

HttpServer::HttpServer(const HttpServerOptions& options, const Service& service)
    : running_(std::make_unique<RunningServer>(options, service)) {}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::start() { return running_->start(); }

ServerReport HttpServer::run() { return running_->run(); }

void HttpServer::shutdown() noexcept { running_->shutdown(); }

int HttpServer::ended_by() const noexcept { return running_->ended_by(); }

Result<std::vector<std::string>> HttpServer::reload_certificates() {
  return running_->reload_certificates();
}

std::vector<std::string> HttpServer::certificate_notes() const {
  return running_->certificate_notes();
}

std::uint16_t HttpServer::port() const noexcept { return running_->port(); }

std::string HttpServer::operations_url() const { return running_->operations_url(); }

std::uint16_t HttpServer::operations_port() const noexcept { return running_->operations_port(); }

net::Reactor& HttpServer::first_reactor() const noexcept { return running_->first_reactor(); }

std::uint64_t HttpServer::stalls() const noexcept { return running_->stalls(); }

EngineKind HttpServer::engine() const noexcept { return running_->engine(); }

unsigned HttpServer::reactor_count() const noexcept { return running_->reactor_count(); }

net::MemoryBudget HttpServer::memory_budget() const { return running_->memory_budget(); }

const std::string& HttpServer::placement() const noexcept { return running_->placement(); }

std::string HttpServer::url() const { return running_->url(); }

std::vector<std::string> HttpServer::other_urls() const { return running_->other_urls(); }

std::uint16_t HttpServer::port_of_listener(std::size_t index) const noexcept {
  return running_->port_of_listener(index);
}

std::string ServerReport::describe() const {
  const auto counted = [](std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = fmt::format("stopped after {} on {}", counted(requests, "request"),
                                 counted(connections, "connection"));
  if (cut_off > 0) text += fmt::format(", {} cut off", counted(cut_off, "connection"));
  if (failures > 0) text += ", " + counted(failures, "failure");
  if (tasks_cancelled > 0) text += fmt::format(", {} cancelled", counted(tasks_cancelled, "task"));
  if (!stuck.empty()) text += "; " + stuck;
  return text;
}

void raise_descriptor_limit() noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Ignored: with the old limit the server accepts fewer connections, and reports when it is
  // reached.
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
