#include "katana/app/security.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/middleware/csrf.hpp"
#include "katana/http/middleware/security_headers.hpp"
#include "katana/identity/sessions/database/session_table.hpp"

namespace katana::app {
namespace {

Result<std::vector<std::string>> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(Code::not_found, fmt::format("'{}': {}", path, std::strerror(errno)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

// Whether a request came by HTTPS to a proxy. A reply to a request that came by TLS to this server
// has the field already.
bool came_by_https_to_a_proxy(const RequestView& request, session::Exchange& exchange) {
  return !exchange.arrival().is_secure && request.client().is_secure();
}

Result<Middleware> headers_of(const HttpSettings& http) {
  const SecurityHeaderSettings& settings = http.security_headers;
  auto policy = ContentSecurityPolicy::parse(settings.content_security_policy);
  if (!policy) {
    return std::unexpected(policy.error().within("http.security_headers.content_security_policy"));
  }
  SecurityHeaderOptions options;
  options.policy = *std::move(policy);
  options.policy_report_only = settings.policy_report_only;
  options.nosniff = settings.nosniff;
  options.frame_options = settings.frame_options;
  options.referrer_policy = settings.referrer_policy;
  options.opener_policy = settings.opener_policy;
  options.resource_policy = settings.resource_policy;
  options.embedder_policy = settings.embedder_policy;
  options.permissions_policy = settings.permissions_policy;
  options.hsts = http.tls.hsts;
  options.is_https = came_by_https_to_a_proxy;
  Middleware middleware = security_headers(std::move(options));
  if (!middleware.mistake.empty()) return fail(Code::invalid_argument, middleware.mistake);
  return middleware;
}

// `database`: null: nothing may be opened, or there is none.
Result<sessions::Sessions> sessions_of(const SessionSettings& settings,
                                       database::Database* database,
                                       std::shared_ptr<sessions::SessionStore> redis,
                                       std::shared_ptr<sessions::MemorySessionStore>& memory) {
  switch (settings.store) {
    case SessionPlace::memory:
      memory = std::make_shared<sessions::MemorySessionStore>(settings.memory);
      return sessions::Sessions::in_store(settings, memory);
    case SessionPlace::database:
      return sessions::Sessions::in_store(
          settings,
          std::make_shared<sessions::DatabaseSessionStore>(*database, settings.make_table));
    case SessionPlace::redis: return sessions::Sessions::in_store(settings, std::move(redis));
    case SessionPlace::cookies:
    case SessionPlace::off: break;
  }
  std::vector<std::string> keys = settings.keys;
  if (!settings.keys_file.empty()) {
    auto read = lines_of(settings.keys_file);
    if (!read) return std::unexpected(read.error().within("sessions.keys_file"));
    keys.insert(keys.end(), read->begin(), read->end());
  }
  return sessions::Sessions::in_cookies(settings, keys);
}

Result<audit::AuditOptions> audit_options(const AuditSettings& settings) {
  audit::AuditOptions options;
  options.file = settings.file;
  options.key = settings.key;
  options.sync = settings.sync;
  options.sync_interval = settings.sync_interval;
  options.file_bytes_max = settings.file_bytes_max;
  options.waiting_max = settings.waiting_max;
  if (settings.key_file.empty()) return options;
  if (!settings.key.empty()) {
    return fail(Code::invalid_argument, "audit.key and audit.key_file are given; take one of them");
  }
  auto lines = lines_of(settings.key_file);
  if (!lines) return std::unexpected(lines.error().within("audit.key_file"));
  if (lines->size() != 1) {
    return fail(Code::invalid_argument,
                fmt::format("audit.key_file: '{}' has {} lines, and is to have one: the key",
                            settings.key_file, lines->size()));
  }
  options.key = std::move(lines->front());
  return options;
}

}  // namespace

Result<std::unique_ptr<Security>> Security::make(const ApplicationSettings& settings,
                                                 database::Database* database,
                                                 std::shared_ptr<sessions::SessionStore> redis) {
  if (auto checked = check(settings, database != nullptr); !checked) {
    return std::unexpected(checked.error());
  }
  auto made = std::make_unique<Security>();
  if (settings.http.security_headers.enabled) {
    auto headers = headers_of(settings.http);
    if (!headers) return std::unexpected(headers.error());
    made->headers_ = *std::move(headers);
  }
  if (settings.http.csrf.enabled) {
    auto own = csrf(settings.http.csrf);
    if (!own) return std::unexpected(own.error().within("http.csrf.origins"));
    made->csrf_ = *std::move(own);
  }
  if (settings.sessions.store != SessionPlace::off) {
    auto sessions = sessions_of(settings.sessions, database, std::move(redis), made->memory_);
    if (!sessions) return std::unexpected(sessions.error());
    made->sessions_ = *std::move(sessions);
  }
  if (!settings.audit.file.empty()) {
    auto options = audit_options(settings.audit);
    if (!options) return std::unexpected(options.error());
    auto log = audit::AuditLog::open(*std::move(options));
    if (!log) return std::unexpected(log.error());
    made->audit_ = *std::move(log);
  }
  return made;
}

Result<void> Security::check(const ApplicationSettings& settings, bool has_database) {
  if (auto headers = headers_of(settings.http); !headers) {
    return std::unexpected(headers.error());
  }
  if (auto own = csrf(settings.http.csrf); !own) {
    return std::unexpected(own.error().within("http.csrf.origins"));
  }
  if (settings.sessions.store == SessionPlace::database) {
    if (!has_database) {
      return fail(Code::invalid_argument,
                  "sessions.store is database, and the program has none; take memory or cookies");
    }
  } else if (settings.sessions.store == SessionPlace::redis) {
    if (!settings.redis.given()) {
      return fail(Code::invalid_argument,
                  "sessions.store is redis, and the program has none; set redis.url");
    }
  } else if (settings.sessions.store != SessionPlace::off) {
    std::shared_ptr<sessions::MemorySessionStore> unused;
    if (auto made = sessions_of(settings.sessions, nullptr, nullptr, unused); !made) {
      return std::unexpected(made.error());
    }
  }
  if (auto options = audit_options(settings.audit); !options) {
    return std::unexpected(options.error());
  }
  return {};
}

void Security::register_in(registry::Registry& registry) {
  if (sessions_) {
    registry.instance<sessions::Sessions>(*sessions_);
  } else {
    registry.absent<sessions::Sessions>("sessions are switched off: set 'sessions.store'");
  }
  if (audit_ != nullptr) {
    registry.instance<audit::AuditLog>(*audit_);
  } else {
    registry.absent<audit::AuditLog>("there is no audit log: set 'audit.file'");
  }
}

// The check is a warning. A refusal ends only with the next action, which never comes if this
// process gets no requests.
Result<void> Security::add_checks(metrics::HealthChecks& checks) const {
  if (audit_ == nullptr) return {};
  return checks.add({.name = "audit log",
                     .run = [log = audit_.get()](std::stop_token) { return log->health(); },
                     .required = false,
                     .may_block = false});
}

Result<void> Security::add_metrics(metrics::Registry& registry) const {
  if (audit_ != nullptr) {
    auto events = registry.observed_counters(
        {.name = "katana_audit_events", .help = "Events that the audit log has recorded."});
    if (!events) return std::unexpected(events.error());
    auto failed = registry.observed_counters(
        {.name = "katana_audit_events_failed",
         .help = "Events that it could not record, whose actions were refused."});
    if (!failed) return std::unexpected(failed.error());
    auto waiting = registry.gauges(
        {.name = "katana_audit_events_waiting", .help = "Events that wait to be written."});
    if (!waiting) return std::unexpected(waiting.error());
    registry.before_scrape(
        [log = audit_.get(), all = events->with(), none = failed->with(), queue = waiting->with()] {
          const audit::AuditLog::Statistics statistics = log->statistics();
          all.observe(static_cast<double>(statistics.recorded));
          none.observe(static_cast<double>(statistics.failed));
          queue.set(static_cast<double>(statistics.waiting));
        });
  }
  if (memory_ == nullptr) return {};
  auto kept = registry.gauges({.name = "katana_sessions", .help = "Sessions in memory."});
  if (!kept) return std::unexpected(kept.error());
  auto bytes = registry.gauges({.name = "katana_sessions_bytes",
                                .help = "Approximate memory of the sessions.",
                                .unit = "bytes"});
  if (!bytes) return std::unexpected(bytes.error());
  auto forgotten = registry.observed_counters(
      {.name = "katana_sessions_forgotten",
       .help = "Sessions of visitors that were forgotten for want of room."});
  if (!forgotten) return std::unexpected(forgotten.error());
  registry.before_scrape(
      [memory = memory_, all = kept->with(), size = bytes->with(), gone = forgotten->with()] {
        const sessions::MemorySessionStore::Statistics statistics = memory->statistics();
        all.set(static_cast<double>(statistics.sessions));
        size.set(static_cast<double>(statistics.bytes));
        gone.observe(static_cast<double>(statistics.forgotten));
      });
  return {};
}

void Security::use_first(Router& router) const {
  if (headers_) router.use(*headers_);
}

void Security::use_last(Router& router) const {
  if (csrf_) router.use(*csrf_);
  if (sessions_) router.use(sessions_->middleware());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
