#include "katana/app/nats/program_bus.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/values/secret_file.hpp"
#include "katana/stores/bus/memory_bus.hpp"

namespace katana::app {
namespace {

bus::BusOptions bus_options(const BusSettings& settings) {
  return {.payload_bytes_max = settings.payload_bytes_max,
          .queue_messages_max = settings.queue_messages_max,
          .queue_bytes_max = settings.queue_bytes_max,
          .requests_max = settings.requests_max,
          .subscriptions_max = settings.subscriptions_max};
}

Result<bus::Credentials> credentials_of(const BusSettings& settings) {
  const int ways = (settings.password_file.empty() ? 0 : 1) +
                   (settings.token_file.empty() ? 0 : 1) + (settings.nkey_file.empty() ? 0 : 1) +
                   (settings.creds_file.empty() ? 0 : 1);
  if (ways > 1) {
    return fail(Code::invalid_argument,
                "bus.password_file, token_file, nkey_file and creds_file: set one of them");
  }
  if (settings.user.empty() != settings.password_file.empty()) {
    return fail(Code::invalid_argument, "bus.user and bus.password_file go together");
  }
  bus::Credentials credentials;
  if (!settings.creds_file.empty()) return bus::read_creds_file(settings.creds_file);
  if (!settings.nkey_file.empty()) {
    auto nkey = bus::read_nkey_file(settings.nkey_file);
    if (!nkey) return std::unexpected(nkey.error());
    credentials.nkey = *std::move(nkey);
  }
  if (!settings.password_file.empty() || !settings.token_file.empty()) {
    const bool is_token = settings.password_file.empty();
    auto secret = read_secret_file(is_token ? settings.token_file : settings.password_file);
    if (!secret) return std::unexpected(secret.error());
    (is_token ? credentials.token : credentials.password) = *std::move(secret);
    credentials.user = settings.user;
  }
  return credentials;
}

Result<bus::NatsOptions> nats_options(const BusSettings& settings) {
  bus::NatsOptions options;
  options.bus = bus_options(settings);
  if (auto parsed = bus::parse_nats_url(settings.url, options); !parsed) {
    return std::unexpected(parsed.error().within("bus.url (memory: or nats://…)"));
  }
  if (options.tls) options.tls = settings.tls;
  auto credentials = credentials_of(settings);
  if (!credentials) return std::unexpected(credentials.error());
  options.credentials = *std::move(credentials);
  options.prefix = settings.prefix;
  options.away = {.policy = settings.when_away,
                  .messages_max = settings.kept_messages_max,
                  .bytes_max = settings.kept_bytes_max};
  options.ping_interval = settings.ping_interval;
  options.connect_timeout = settings.connect_timeout;
  options.backoff_max = settings.reconnect_max;
  return options;
}

}  // namespace

Result<std::unique_ptr<ProgramBus>> ProgramBus::make(const BusSettings& settings, bool in_test,
                                                     log::Logger logger) {
  std::unique_ptr<ProgramBus> made(new ProgramBus(std::move(logger)));
  if (in_test || !settings.is_remote()) {
    made->bus_ = std::make_unique<bus::MemoryBus>(bus_options(settings));
    return made;
  }
  auto options = nats_options(settings);
  if (!options) return std::unexpected(options.error());
  options->observer = made.get();
  auto nats = bus::NatsBus::make(*std::move(options));
  if (!nats) return std::unexpected(nats.error().within("bus"));
  made->nats_ = nats->get();
  made->bus_ = *std::move(nats);
  return made;
}

Result<void> ProgramBus::check(const BusSettings& settings) {
  if (!settings.is_remote()) return {};
  auto options = nats_options(settings);
  return options ? Result<void>() : std::unexpected(options.error());
}

void ProgramBus::start() {
  if (nats_ != nullptr) nats_->start(*net::Reactor::current());
}

Result<void> ProgramBus::health() const {
  const bus::Health health = bus_->health();
  if (health.ready) return {};
  return fail(Code::unavailable,
              fmt::format("the bus is {}: {}", bus::name_of(health.state), health.detail));
}

void ProgramBus::on_connected(const std::string& server, bool again, Duration away) noexcept {
  if (again) {
    logger_.warn("connected to {} again, after {} ms; others' messages of that time may be missed",
                 server, milliseconds_of(away));
  } else {
    logger_.info("connected to {}", server);
  }
}

void ProgramBus::on_disconnected(const std::string& server, const Error& why) noexcept {
  logger_.warn("lost {}: {}", server, why.describe());
}

void ProgramBus::on_unreachable(const std::string& server, const Error& why) noexcept {
  logger_.warn("no connection to {}: {}", server, why.describe());
}

void ProgramBus::on_server_error(const std::string& server, const std::string& text) noexcept {
  logger_.error("{} refuses: {}", server, text);
}

// Called on the home reactor.
void ProgramBus::on_missed(Bytes pattern, Bytes subject, std::uint64_t count) noexcept {
  missed_ += count;
  const net::Reactor* const reactor = net::Reactor::current();
  const Instant now = reactor != nullptr ? reactor->now() : Instant{};
  if (missed_logged_ != Instant{} && now - missed_logged_ < seconds(1)) return;
  missed_logged_ = now;
  logger_.warn("{} messages were missed, the last to '{}' (subscription '{}')",
               std::exchange(missed_, 0), subject, pattern);
}

// Any reactor, as the following.
void ProgramBus::on_stream_stalled(const std::string& what, const Error& why) noexcept {
  logger_.error(KATANA_AT_MOST(10, seconds(10)),
                "{} cannot go on: {}. It is tried again; is JetStream enabled, does the stream "
                "exist, and has it a leader?",
                what, why.describe());
}

void ProgramBus::on_stream_going(const std::string& what, Duration away) noexcept {
  logger_.warn(KATANA_AT_MOST(10, seconds(10)), "{} goes on, after {} ms", what,
               milliseconds_of(away));
}

void ProgramBus::on_stream_gap(const std::string& what, const Error& gap) noexcept {
  logger_.error(KATANA_AT_MOST(10, seconds(10)), "{} has lost messages: {}", what, gap.describe());
}

void ProgramBus::on_not_stored(std::uint64_t count) noexcept {
  logger_.error("{} messages that no stream has acknowledged are lost with this process", count);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
