// Settings: the configuration of every application, and the default of each value.
//
// A program derives its own from ApplicationSettings and describes its own members, or by
// KATANA_DESCRIBE only those groups that it wants to offer:
//
//   struct Settings : app::ApplicationSettings {
//     std::size_t page_max = 100;
//   };
//   KATANA_DESCRIBE_DERIVED(Settings, app::ApplicationSettings, page_max)
//
// The descriptions of the groups, with the help of each key, are in settings_descriptions.hpp,
// settings_parts_descriptions.hpp and option_descriptions.hpp. A program needs none of them: it has
// the tables, which are declared here.
//
// Owns       values only.
// Thread     values.
// Allocates  as strings do.
// Fails      Config<Settings>::load() lists every value that breaks a rule.
// Invariant  keys that are marked reloadable take effect by SIGHUP; the others by a restart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/app/option_tables.hpp"
#include "katana/app/settings_parts.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/data/config/compiled_group.hpp"
#include "katana/data/config/units.hpp"
#include "katana/http/server/engines.hpp"
#include "katana/http/server/request_id.hpp"
#include "katana/http/session/http_options.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/tls/options.hpp"

namespace katana::app {

// process.sandbox.
enum class Sandbox : std::uint8_t {
  off,     // the process keeps its rights
  report,  // no call is refused, and the log names calls that would be
  on,      // the program has only the rights that its configuration needs
};
KATANA_DESCRIBE_ENUM(Sandbox, off, report, on)
// Values of process.sandbox_allow.
enum class SandboxUse : std::uint8_t { connections, subprocesses, libraries };
KATANA_DESCRIBE_ENUM(SandboxUse, connections, subprocesses, libraries)
// Outcome of a system call that the sandbox refuses.
enum class RefusedCall : std::uint8_t { error, end };
KATANA_DESCRIBE_ENUM(RefusedCall, error, end)

// The certificates of the listeners. protocols and reply_to_plain_http are the server's to say.
struct TlsSettings : tls::TlsOptions {
  Duration hsts = {};            // how long browsers shall come back by TLS only; 0: no header
  Duration watch = seconds(10);  // how often the files are looked at; 0: never

  // Whether there is a certificate to show.
  bool given() const noexcept { return !certificates.empty() || development; }
};

// Settings of an HTTP server: the options of its modules, and the other members of
// HttpServerOptions.
struct HttpSettings : session::HttpOptions, net::ReactorOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::vector<server::ListenerOptions> listeners;
  int backlog = engine::ListenOptions().backlog;
  unsigned reactors = 0;
  server::EngineName engine = server::EngineName::epoll_edge;
  server::Balance balance = server::Balance::connections;  // as HttpServerOptions has it
  bool pin = false;
  std::uint32_t connections_max = net::ReactorOptions().engine.links_max;
  std::size_t receive_bytes_max = net::ReactorOptions().engine.receive_bytes_max;
  std::size_t output_max = std::size_t{256} << 20;
  std::size_t output_reserve = std::size_t{4} << 20;
  std::uint32_t websocket_subscriptions_max = 256;
  std::uint32_t form_files_max = 256;
  Duration idle_timeout = session::HttpOptions().limits.idle_timeout;
  Duration head_timeout = session::HttpOptions().limits.head_timeout;
  Duration content_timeout = session::HttpOptions().limits.content_timeout;
  TlsSettings tls;  // off unless a certificate is set
  std::vector<std::string> hosts;
  server::RequestIdTrust trust_request_ids = server::RequestIdTrust::automatic;
  server::ProxyProtocol proxy_protocol = server::ProxyProtocol::off;
  server::HttpVersions versions = server::HttpVersions::any;
  net::ClientLimitOptions clients;          // connections of one client address
  RouteDefaults routes;                     // for routes without their own values
  FormLimits forms;                         // limits of multipart and URL-encoded forms
  RateLimitSettings rate_limit;             // off by default
  ConcurrencySettings concurrency;          // off by default
  LoadSheddingSettings load_shedding;       // off by default
  SecurityHeaderSettings security_headers;  // off by default
  CsrfSettings csrf;                        // off by default
  Duration drain_notice = milliseconds(100);
  Duration drain_timeout = seconds(10);
};

// Form of the log on standard error.
enum class ConsoleLog : std::uint8_t {
  off,   // nothing
  text,  // lines for people
  json,  // an object in each line
};

}  // namespace katana::app

template <>
struct katana::TextForm<katana::app::ConsoleLog> {
  static constexpr Bytes expected = "text, json or off";
  // "true" and "false" are text and off, as they were before there was JSON.
  static std::optional<app::ConsoleLog> parse(Bytes text) noexcept;
  static Bytes write(app::ConsoleLog console) noexcept;
};

namespace katana::app {

// The section `log`: levels, outputs and the treatment of outputs that cannot keep up.
struct LogSettings {
  std::string levels = "info";
  ConsoleLog console = ConsoleLog::text;
  std::string file, json_file, binary_file;
  config::ByteCount file_bytes_max = config::mebibytes(64),  // a log file of this size is rotated
      output_bytes_max = config::mebibytes(1);               // records that wait for one output
  unsigned files_kept = 8;
  bool synchronous = false;
  log::WhenFull when_full = log::WhenFull::drop;
};

// The section `crash`: reports of crashes. Without a folder they go to the folder of the log.
struct CrashSettings {
  bool report = true;
  std::string folder = {};
  unsigned keep = 5;  // the newest
};

// The section `profile`: bounds of GET /operations/profile.
struct ProfileSettings {
  bool enabled = true;
  unsigned seconds_max = 60, hertz_max = 250;
};

// The section `operations`: a separate listener for /metrics, /health and /ready. Port 0: none.
struct OperationsSettings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::string token;
};

// Names of the metrics of requests, statements and calls of services.
enum class MetricNames : std::uint8_t {
  katana,         // katana_* alone
  opentelemetry,  // also those of OpenTelemetry's conventions
};
KATANA_DESCRIBE_ENUM(MetricNames, katana, opentelemetry)

// The section `metrics`: what /metrics has.
struct MetricsSettings {
  MetricNames names = MetricNames::katana;
};

// Outcome of a reply that departs from the program's OpenAPI document.
enum class ReplyCheckUse : std::uint8_t {
  development,  // report where `development` is true, else off
  report,       // it is sent, and each place that departs is logged once
  refuse,       // 500 is sent instead
  off,          // replies are not compared
};
KATANA_DESCRIBE_ENUM(ReplyCheckUse, development, report, refuse, off)

// The section `requests`: ids, access log, metrics and the checks of replies.
struct RequestSettings {
  bool ids = true, access_log = true, queries = true;
  std::vector<std::string> secret_parameters;
  bool metrics = true;
  std::vector<Duration> duration_buckets;
  Duration slow = seconds(1);
  std::uint32_t failure_records_max = 5;
  Duration failure_period = seconds(10);
  ReplyCheckUse check_replies = ReplyCheckUse::development;  // against the program's documents
};

// One entry of `monitor.upstreams`: a service that /ready asks by GET.
struct UpstreamSettings {
  std::string url;
  Duration timeout = seconds(2);
  Duration fresh_for = seconds(5);
  std::string authorities_file;
};

// The section `monitor`: stalled reactors, and the services that the program depends on.
struct MonitorSettings {
  Duration stall = milliseconds(100);
  std::map<std::string, UpstreamSettings> upstreams;
};

// One entry of `pools`: a pool of threads for blocking work. threads_max 0: one for each CPU.
struct PoolSettings {
  unsigned threads_min = 1;
  unsigned threads_max = 0;
  std::uint32_t queue_max = 16 * 1024;
};

// The section `database`: which database, and how the program waits for it.
struct DatabaseSettings {
  std::string url = "sqlite:var/katana.db";
  std::string password_file;
  std::string migrations;
  database::Durability durability = database::Durability::full;
  unsigned readers = 4;
  Duration timeout = seconds(30);
  Duration wait_max = seconds(2);
  std::optional<Duration> start_wait = {};
  config::ByteCount cache = config::mebibytes(8);
  std::uint32_t group_max = 256;
  unsigned connections_max = 16;
  Duration slow_statement = milliseconds(200);
  bool statement_metrics = true;
  database::SqliteLimits sqlite;      // ignored by other drivers
  database::PostgresLimits postgres;  // ignored by other drivers
};

// Rights that the process gives up before it serves; see app/process_rules.hpp.
struct ProcessSettings {
  std::string user = {};
  std::string group = {};
  Sandbox sandbox = Sandbox::off;
  std::vector<std::string> sandbox_read = {};
  std::vector<std::string> sandbox_write = {};
  std::vector<SandboxUse> sandbox_allow = {};
  RefusedCall refused_call = RefusedCall::error;
  std::string umask = {};
  bool core_dumps = false;
};

// `jobs.NAME.retry`. A value that is absent keeps that of the program.
struct JobRetrySettings {
  std::optional<unsigned> retries_max;
  std::optional<Duration> delay;
  std::optional<Duration> delay_max;
};

// One entry of `jobs`. An empty schedule keeps the one that the program gives the job.
struct JobSettings {
  bool enabled = true;
  std::string schedule;
  JobRetrySettings retry;
};

// Every section that any program may have. A program offers those that it describes.
struct ApplicationSettings {
  bool development = false;
  HttpSettings http;                          // the first listener, and limits of all
  OperationsSettings operations;              // /metrics, /health, /ready
  MetricsSettings metrics;                    // names of /metrics
  LogSettings log;                            // outputs and levels
  CrashSettings crash;                        // reports of crashes
  ProfileSettings profile;                    // profiles over HTTP
  RequestSettings requests;                   // ids, access log, statistics of requests
  MonitorSettings monitor;                    // stalled reactors and upstream services
  std::map<std::string, PoolSettings> pools;  // "work" always exists
  DatabaseSettings database;                  // for descriptions that name it
  QueueSettings queue;                        // likewise
  SessionSettings sessions;                   // off by default
  AuditSettings audit;                        // off by default
  CacheSettings cache;                        // of replies, and of caches by name
  IdempotencySettings idempotency;            // off by default
  client::HttpClientOptions client;           // for the program's HttpClient
  AuthSettings auth;                          // verification of bearer tokens
  RedisSettings redis;  // used by sessions, caches, limits and locks that ask for it
  DocsSettings docs;    // for programs that have a renderer
  std::map<std::string, JobSettings> jobs;
  ProcessSettings process;  // rights that the process gives up
  RestartSettings restart;  // zero-downtime restarts
};
KATANA_DESCRIBE(ApplicationSettings,
                (development,
                 help("show clients the causes of failures, SQL and table names "
                      "included, browsers as a page; never where others can reach it")),
                http, operations, metrics, log, crash, profile, requests, monitor,
                (pools, help("thread pools by name; 'work' always exists")), client, auth, redis,
                (jobs, help("background jobs of the program, by name")), sessions, audit, cache,
                idempotency, docs, process, restart)

// Settings of a program with a database; a program with more settings derives from them.
struct SettingsWithDatabase : ApplicationSettings {};
KATANA_DESCRIBE_DERIVED(SettingsWithDatabase, ApplicationSettings, database, queue)

}  // namespace katana::app

// The groups, whose tables settings.cpp makes of settings_descriptions.hpp.
#define KATANA_APP_GROUPS_(EACH)                         \
  EACH(katana::app::TlsSettings)                         \
  EACH(katana::app::HttpSettings)                        \
  EACH(katana::app::LogSettings)                         \
  EACH(katana::app::CrashSettings)                       \
  EACH(katana::app::ProfileSettings)                     \
  EACH(katana::app::OperationsSettings)                  \
  EACH(katana::app::MetricsSettings)                     \
  EACH(katana::app::RequestSettings)                     \
  EACH(katana::app::UpstreamSettings)                    \
  EACH(katana::app::MonitorSettings)                     \
  EACH(katana::app::PoolSettings)                        \
  EACH(katana::app::DatabaseSettings)                    \
  EACH(katana::app::ProcessSettings)                     \
  EACH(katana::app::JobSettings)                         \
  EACH(katana::app::ApplicationSettings)                 \
  EACH(katana::app::SettingsWithDatabase)                \
  EACH(std::map<std::string, katana::app::PoolSettings>) \
  EACH(std::map<std::string, katana::app::JobSettings>)
KATANA_APP_GROUPS_(KATANA_CONFIG_DECLARE_GROUP)

// SPDX-License-Identifier: Apache-2.0
