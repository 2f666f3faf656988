#include "katana/app/telemetry/otlp_sender.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/values/backoff.hpp"
#include "katana/http/client/retry_after.hpp"
#include "katana/http/coding/codec.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::app {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(OtlpFate::count)> fate_names = {
    "sent", "rejected", "refused", "failed", "queue_full", "shutdown"};

bool may_be_taken_later(unsigned status) noexcept {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

const char* fate_name(OtlpFate fate) noexcept { return fate_names[static_cast<std::size_t>(fate)]; }

Instant OtlpSender::now() noexcept { return net::Reactor::current()->now(); }

OtlpSender::OtlpSender(client::HttpClient http, OtlpSenderOptions options, log::Logger logger)
    : http_(std::move(http)),
      options_(std::move(options)),
      logger_(std::move(logger)),
      random_(options_.seed) {}

std::string OtlpSender::content_of(const std::string& items) const {
  std::string request = otlp::export_request(options_.resource, options_.scope, items);
  if (!options_.gzip) return request;
  Text coded;
  coding::gzip().make_encoder({.gzip_level = 1})->encode(request, coding::Flush::finish, coded);
  return std::string(coded.bytes());
}

Task<bool> OtlpSender::send(std::string items, std::size_t count) {
  const std::string content = content_of(items);
  const Instant give_up_at = now() + retry_time_max;
  for (unsigned failures = 1;; ++failures) {
    const Attempt how = co_await attempt(content);
    if (how.kind == Attempt::Kind::taken) {
      note_taken(how, count);
      co_return true;
    }
    const bool is_later = how.kind == Attempt::Kind::later;
    const Duration wait =
        std::max(how.pause, backoff(failures, backoff_min, backoff_max, random_.next()));
    const bool again = is_later && !is_finishing_ && now() + wait < give_up_at;
    note_failure(how.why, again);
    if (again) co_await pause(wait);
    if (!again || is_finishing_) {
      this->count(!is_later       ? OtlpFate::refused
                  : is_finishing_ ? OtlpFate::shutdown
                                  : OtlpFate::failed,
                  count);
      co_return false;
    }
  }
}

// Until the program ends, or that time is over.
Task<void> OtlpSender::pause(Duration duration) {
  const Instant due = now() + duration;
  while (!is_finishing_ && now() < due) {
    co_await net::sleep_for(std::min(look_interval, due - now()));
  }
}

Task<OtlpSender::Attempt> OtlpSender::attempt(std::string content) {
  client::Request request("POST", options_.url);
  request.content(std::move(content), "application/x-protobuf");
  if (options_.gzip) request.field("Content-Encoding", "gzip");
  for (const auto& [name, value] : options_.headers) request.field(name, value);
  request.timeout(options_.timeout);
  const Result<client::Response> reply = co_await http_.fetch(std::move(request));
  co_return judge(reply);
}

OtlpSender::Attempt OtlpSender::judge(const Result<client::Response>& reply) const {
  using Kind = Attempt::Kind;
  if (!reply) return {.kind = Kind::later, .why = reply.error().describe()};
  const unsigned status = reply->status();
  if (status >= 200 && status < 300) {
    const auto said = otlp::read_reply(reply->content());
    if (!said) return {.why = "its reply is malformed"};
    return {.rejected = static_cast<std::uint64_t>(said->rejected), .why = said->message};
  }
  std::string why = fmt::format("POST {}: status {}", options_.url, status);
  if (!may_be_taken_later(status)) return {.kind = Kind::refused, .why = std::move(why)};
  const auto asked =
      client::retry_after(*reply, net::Reactor::current()->wall_clock_s()).value_or(Duration{});
  return {.kind = Kind::later, .pause = asked, .why = std::move(why)};
}

void OtlpSender::note_taken(const Attempt& how, std::size_t count) {
  note_success();
  const std::size_t rejected = std::min<std::uint64_t>(how.rejected, count);
  if (rejected > 0) {
    logger_.warn(KATANA_AT_MOST(1, seconds(60)), "{} {} were rejected: {}", rejected,
                 options_.signal, how.why);
  } else if (!how.why.empty()) {
    logger_.warn(KATANA_AT_MOST(1, seconds(60)), "{} were taken, with a warning: {}",
                 options_.signal, how.why);
  }
  this->count(OtlpFate::rejected, rejected);
  this->count(OtlpFate::sent, count - rejected);
}

void OtlpSender::note_failure(const std::string& why, bool again) {
  failed_.fetch_add(1, std::memory_order_relaxed);
  if (!std::exchange(is_failing_, true)) {
    logger_.warn("{} are not exported{}: {}", options_.signal, again ? ", and are sent again" : "",
                 why);
  }
}

void OtlpSender::note_success() {
  exported_.fetch_add(1, std::memory_order_relaxed);
  if (std::exchange(is_failing_, false)) logger_.info("{} are exported again", options_.signal);
}

void OtlpSender::note_lost() noexcept {
  const std::uint64_t lost = counted(OtlpFate::shutdown);
  if (lost > 0) {
    logger_.warn("{} {} were not exported before the end", lost, options_.signal);
  }
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
