#include "katana/app/program_redis.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "katana/app/figure_rows.hpp"
#include "katana/base/values/secret_file.hpp"

namespace katana::app {
namespace {

Result<redis::Options> redis_options_of(const RedisSettings& settings, const std::string& key) {
  auto options = redis::parse_url(settings.url);
  if (!options) return std::unexpected(options.error().within(key + ".url"));
  if (settings.reconnect_max < settings.reconnect_min) {
    return fail(Code::invalid_argument,
                fmt::format("{0}.reconnect_max is less than {0}.reconnect_min", key));
  }
  if (!settings.password_file.empty()) {
    auto password = read_secret_file(settings.password_file);
    if (!password) return std::unexpected(password.error().within(key + ".password_file"));
    options->password = *std::move(password);
  } else if (!options->user.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("{0}.url names a user: set {0}.password_file", key));
  }
  upstream::Options& upstream = options->upstream;
  if (upstream.tls) upstream.tls = settings.tls;
  upstream.connect_timeout = settings.connect_timeout;
  upstream.vanished_after = settings.vanished_after;
  upstream.backoff_min = settings.reconnect_min;
  upstream.backoff_max = settings.reconnect_max;
  options->timeout = settings.timeout;
  options->wait_while_down = settings.wait_while_down;
  options->stalled_after = settings.stalled_after;
  options->connections_max = settings.connections_max;
  options->commands_max = settings.commands_max;
  options->queued_bytes_max = settings.queued_bytes_max;
  options->reply.reply_bytes_max = settings.reply_bytes_max;
  return options;
}

// Statistics of connections and of calls.
struct RedisStatistics {
  upstream::Status status;
  redis::Totals totals;
};

using RedisRow = FigureRow<RedisStatistics>;
constexpr std::array redis_rows{
    RedisRow{"katana_redis_connections", "Connections that are up.", true,
             [](const RedisStatistics& of) { return double(of.status.up); }},
    RedisRow{"katana_redis_connections_down",
             "Connections that are wanted and not there: the last attempt failed, or it was lost.",
             true, [](const RedisStatistics& of) { return double(of.status.down); }},
    RedisRow{"katana_redis_connects", "Attempts to connect.", false,
             [](const RedisStatistics& of) { return double(of.status.attempts); }},
    RedisRow{"katana_redis_connects_failed", "Attempts that failed.", false,
             [](const RedisStatistics& of) { return double(of.status.failures); }},
    RedisRow{"katana_redis_connections_lost", "Connections that were up and broke.", false,
             [](const RedisStatistics& of) { return double(of.status.losses); }},
    RedisRow{"katana_redis_commands", "Commands that were sent.", false,
             [](const RedisStatistics& of) { return double(of.totals.commands); }},
    RedisRow{"katana_redis_replies", "Replies that somebody waited for.", false,
             [](const RedisStatistics& of) { return double(of.totals.replies); }},
    RedisRow{"katana_redis_reply_wait_seconds",
             "How long all of these were waited for, from when their commands were sent.", false,
             [](const RedisStatistics& of) { return double(of.totals.reply_wait_ns) / 1e9; }},
    RedisRow{"katana_redis_waiting", "Commands that wait to be sent, or for their reply.", true,
             [](const RedisStatistics& of) { return double(of.totals.waiting); }},
    RedisRow{"katana_redis_waiting_bytes", "Those that are not sent, in memory.", true,
             [](const RedisStatistics& of) { return double(of.totals.waiting_bytes); }},
    RedisRow{"katana_redis_scripts_sent",
             "Scripts that were sent again with their text, because the server did not know them.",
             false, [](const RedisStatistics& of) { return double(of.totals.scripts_sent); }},
    RedisRow{"katana_redis_server_errors", "Replies that were errors.", false,
             [](const RedisStatistics& of) { return double(of.totals.server_errors); }},
    RedisRow{"katana_redis_timeouts", "Calls whose deadline came first.", false,
             [](const RedisStatistics& of) { return double(of.totals.timeouts); }},
    RedisRow{"katana_redis_unavailable", "Calls that failed because no server was up.", false,
             [](const RedisStatistics& of) { return double(of.totals.unavailable); }},
    RedisRow{"katana_redis_unknown_outcomes", "Writes whose result is unknown.", false,
             [](const RedisStatistics& of) { return double(of.totals.unknown_outcomes); }},
    RedisRow{"katana_redis_overloads", "Calls that were refused by a limit.", false,
             [](const RedisStatistics& of) { return double(of.totals.overloads); }},
    RedisRow{"katana_redis_abandoned", "Replies that came after their caller had left.", false,
             [](const RedisStatistics& of) { return double(of.totals.abandoned); }},
    RedisRow{"katana_redis_protocol_errors",
             "Connections that were given up because of what the server said.", false,
             [](const RedisStatistics& of) { return double(of.totals.protocol_errors); }},
    RedisRow{"katana_redis_pushes", "Messages that the server sent without being asked.", false,
             [](const RedisStatistics& of) { return double(of.totals.pushes); }}};

}  // namespace

ProgramRedis::ProgramRedis(RedisSettings settings, std::string key, log::Logger logger)
    : settings_(std::move(settings)), key_(std::move(key)), logger_(std::move(logger)) {}

Result<std::unique_ptr<ProgramRedis>> ProgramRedis::make(const RedisSettings& settings,
                                                         std::string key, log::Logger logger) {
  auto options = redis_options_of(settings, key);
  if (!options) return std::unexpected(options.error());
  std::unique_ptr<ProgramRedis> made(new ProgramRedis(settings, std::move(key), std::move(logger)));
  options->upstream.observer = made.get();
  auto client = redis::Client::make(*std::move(options));
  if (!client) return std::unexpected(client.error().within(made->key_));
  made->client_ = std::make_unique<redis::Client>(*std::move(client));
  return made;
}

Result<void> ProgramRedis::check(const RedisSettings& settings, const std::string& key) {
  if (!settings.given()) return {};
  auto options = redis_options_of(settings, key);
  if (!options) return std::unexpected(options.error());
  auto client = redis::Client::make(*std::move(options));
  if (!client) return std::unexpected(client.error().within(key));
  return {};
}

Result<void> ProgramRedis::add_metrics(metrics::Registry& registry) const {
  return add_figure_rows(
      registry, redis_rows, {.name = "client", .value = key_},
      [client = *client_] { return RedisStatistics{client.status(), client.totals()}; });
}

Result<void> ProgramRedis::health() const {
  const upstream::Status status = client_->status();
  if (status.up > 0) return {};
  if (status.why) return std::unexpected(*status.why);
  return fail(Code::unavailable, "Redis is not connected yet");
}

// The log and health() have the result.
Task<void> ProgramRedis::connect() const { (void)co_await client_->ping(); }

Result<void> ProgramRedis::reload() {
  if (settings_.password_file.empty()) return {};
  auto password = read_secret_file(settings_.password_file);
  if (!password) return std::unexpected(password.error().within(key_ + ".password_file"));
  client_->set_password(*std::move(password));
  return {};
}

void ProgramRedis::on_down(const std::string& server, const Error& why) noexcept {
  logger_.warn("{} is not usable: {}", server, why.describe());
}

void ProgramRedis::on_still_down(const std::string& server, const Error& why) noexcept {
  logger_.warn("{} is still not usable: {}", server, why.describe());
}

void ProgramRedis::on_recovered(const std::string& server, Duration down_for) noexcept {
  logger_.info("{} is usable again after {} ms", server, down_for.count_ms());
}

Result<void> check_redis(const ApplicationSettings& settings) {
  if (auto checked = ProgramRedis::check(settings.redis, "redis"); !checked) return checked;
  const CacheSettings& cache = settings.cache;
  if (auto checked = ProgramRedis::check(cache.redis, "cache.redis"); !checked) return checked;
  const RateLimitSettings& limit = settings.http.rate_limit;
  if (limit.enabled && limit.shared && !settings.redis.given()) {
    return fail(Code::invalid_argument,
                "http.rate_limit.shared is true, and the program has no Redis; set redis.url");
  }
  if (cache.second_level == CacheLevel::redis && !cache.redis.given() && !settings.redis.given()) {
    return fail(Code::invalid_argument,
                "cache.second_level is redis, and the program has none; set redis.url, or "
                "cache.redis.url");
  }
  if (cache.second_level == CacheLevel::none && cache.redis.given()) {
    return fail(Code::invalid_argument,
                "cache.redis.url is set, and cache.second_level is none: nothing would use it; "
                "set cache.second_level: redis");
  }
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
