#include "katana/identity/auth/remote/remote_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/identity/auth/remote/safe_url.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::auth {
namespace {

constexpr Duration retry_first = seconds(1);
constexpr Duration retry_max = seconds(60);

Instant reactor_now() { return net::Reactor::current()->now(); }

std::string fingerprint_of(const TokenKeys::Set& keys) {
  std::string all;
  for (const jose::VerificationKey& key : keys) {
    all += fmt::format("{} {} {}\n", name_of(key.algorithm()), key.thumbprint(), key.id());
  }
  return all;
}

}  // namespace

std::optional<Duration> detail::max_age_of(Bytes cache_control) noexcept {
  constexpr Bytes name = "max-age=";
  while (!cache_control.empty()) {
    Bytes directive = cache_control.substr(0, cache_control.find(','));
    cache_control.remove_prefix(std::min(cache_control.size(), directive.size() + 1));
    while (directive.starts_with(' ') || directive.starts_with('\t')) directive.remove_prefix(1);
    if (!http::equals_ignoring_case(directive.substr(0, name.size()), name)) continue;
    directive.remove_prefix(name.size());
    std::uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(directive.data(), directive.data() + directive.size(), value);
    const bool is_number = error == std::errc() && end == directive.data() + directive.size();
    return is_number ? std::optional(seconds(value)) : std::nullopt;
  }
  return std::nullopt;
}

RemoteKeys::RemoteKeys(client::HttpClient http, RemoteKeysOptions options)
    : http_(std::move(http)), options_(std::move(options)) {}

Result<std::shared_ptr<RemoteKeys>> RemoteKeys::make(client::HttpClient http,
                                                     RemoteKeysOptions options) {
  if (!is_safe_url(options.url)) {
    return fail(Code::invalid_argument,
                fmt::format("keys from '{}': anyone on the way could give other keys. "
                            "Give a URL that begins with https://, or http:// and a loopback name",
                            options.url));
  }
  if (options.algorithms.empty()) {
    return fail(Code::invalid_argument,
                fmt::format("keys from '{}': no algorithm is allowed. Name one", options.url));
  }
  if (options.fresh_min.ns < seconds(1).ns || options.fresh_max.ns < options.fresh_min.ns ||
      options.kept_max.ns < options.fresh_min.ns || options.timeout.ns <= 0) {
    return fail(Code::invalid_argument,
                fmt::format("keys from '{}': times have to be fresh_min ≥ 1 s, fresh_max ≥ "
                            "fresh_min, kept_max ≥ fresh_min and timeout > 0",
                            options.url));
  }
  return std::shared_ptr<RemoteKeys>(new RemoteKeys(std::move(http), std::move(options)));
}

// ---- calls of requests ----

std::optional<Task<void>> RemoteKeys::refresh(Want want) {
  watch();
  const Instant now = reactor_now();
  {
    const std::lock_guard lock(state_mutex_);
    const Duration pause = has_keys_ ? options_.unknown_key_pause : retry_first;
    if (has_keys_ && want == Want::any) return std::nullopt;
    if (fetch_end_ == nullptr && now < attempted_at_ + pause) return std::nullopt;
  }
  if (begin_fetch(now)) {
    const auto spawned = net::spawn(fetch(shared_from_this()), "fetch keys");
    if (!spawned) end_fetch(std::unexpected(spawned.error()), now);
  }
  return await_fetch(fetch_end());
}

Task<Result<void>> RemoteKeys::load() {
  const auto self = shared_from_this();
  if (auto task = refresh(Want::any)) co_await *std::move(task);
  co_return health();
}

Result<void> RemoteKeys::health() const {
  const std::lock_guard lock(state_mutex_);
  if (has_keys_) return {};
  return fail(Code::unavailable, fmt::format("no keys of '{}': {}", options_.url, failure_));
}

// Waits for the end of a fetch. `end` is null if it has already ended.
Task<void> RemoteKeys::await_fetch(std::shared_ptr<net::SharedEvent> end) {
  if (end != nullptr) (void)co_await end->wait();
}

// ---- renewal of the keys ----

void RemoteKeys::watch() {
  {
    const std::lock_guard lock(state_mutex_);
    if (std::exchange(is_watched_, true)) return;
  }
  if (!net::spawn(keep_fresh(shared_from_this()), "keep keys fresh")) {
    const std::lock_guard lock(state_mutex_);
    is_watched_ = false;  // the next request tries again
  }
}

Task<void> RemoteKeys::keep_fresh(std::shared_ptr<RemoteKeys> self) {
  while (true) {
    const Instant now = reactor_now();
    const Duration pause = self->pause(now);
    if (pause.ns > 0) {
      const bool goes_on = co_await net::sleep_unless_draining(pause);
      if (!goes_on) co_return;
      continue;
    }
    if (self->begin_fetch(now)) {
      co_await fetch(self);
    } else {
      co_await await_fetch(self->fetch_end());
    }
  }
}

Duration RemoteKeys::pause(Instant now) {
  bool is_too_old = false;
  Duration pause = {};
  {
    const std::lock_guard lock(state_mutex_);
    const Instant end = fetched_at_ + options_.kept_max;
    is_too_old = has_keys_ && now >= end;
    if (is_too_old) has_keys_ = false;
    const Instant next = has_keys_ ? std::min(due_at_, end) : due_at_;
    if (next > now) pause = next - now;
  }
  if (is_too_old) {
    {
      const std::lock_guard lock(state_mutex_);
      fingerprint_.clear();
    }
    withdraw();
    tell(fmt::format("the keys of '{}' are too old to be used", options_.url));
  }
  return pause;
}

std::shared_ptr<net::SharedEvent> RemoteKeys::fetch_end() const {
  const std::lock_guard lock(state_mutex_);
  return fetch_end_;
}

void RemoteKeys::let_on() {
  std::shared_ptr<net::SharedEvent> ended;
  {
    const std::lock_guard lock(state_mutex_);
    ended = std::exchange(fetch_end_, nullptr);
  }
  if (ended != nullptr) ended->set();
}

bool RemoteKeys::begin_fetch(Instant now) {
  const std::lock_guard lock(state_mutex_);
  if (fetch_end_ != nullptr) return false;
  fetch_end_ = std::make_shared<net::SharedEvent>();
  attempted_at_ = now;
  return true;
}

Task<void> RemoteKeys::fetch(std::shared_ptr<RemoteKeys> self) {
  // The task may be destroyed while it waits, when its reactor ends.
  struct Cut {
    RemoteKeys* keys;
    ~Cut() {
      if (keys != nullptr) keys->let_on();
    }
  } cut{self.get()};
  auto fetched = co_await self->request();
  cut.keys = nullptr;
  self->end_fetch(std::move(fetched), reactor_now());
}

Task<Result<RemoteKeys::Fetched>> RemoteKeys::request() const {
  client::Request request(options_.url);
  request.field("Accept", "application/jwk-set+json, application/json");
  request.timeout(options_.timeout).redirects(0);
  const auto response = co_await http_.fetch(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  if (response->status() != 200) {
    co_return fail(Code::unavailable,
                   fmt::format("'{}' answered {}", options_.url, response->status()));
  }
  auto set = jose::read_jwk_set(response->content(), options_.algorithms);
  if (!set) co_return std::unexpected(set.error().within(fmt::format("'{}'", options_.url)));
  const auto age = detail::max_age_of(response->find("Cache-Control").value_or(Bytes()));
  const Duration fresh = age.value_or(options_.fresh_default);
  co_return Fetched{
      std::move(set->keys), std::move(set->passed_over),
      nanoseconds(std::clamp(fresh.ns, options_.fresh_min.ns, options_.fresh_max.ns))};
}

void RemoteKeys::end_fetch(Result<Fetched> fetched, Instant now) {
  if (!fetched) {
    std::string words = fetched.error().describe();
    {
      const std::lock_guard lock(state_mutex_);
      retry_ = nanoseconds(std::clamp(2 * retry_.ns, retry_first.ns, retry_max.ns));
      due_at_ = now + retry_;
      failure_ = words;
    }
    let_on();
    tell("keys cannot be fetched: " + words);
    return;
  }
  std::string fingerprint = fingerprint_of(fetched->keys);
  bool is_new = false;
  {
    const std::lock_guard lock(state_mutex_);
    is_new = fingerprint != fingerprint_;
    fingerprint_ = std::move(fingerprint);
    retry_ = {};
    fetched_at_ = now;
    due_at_ = now + nanoseconds(fetched->fresh.ns / 5 * 4);
    failure_.clear();
  }
  if (is_new) {
    replace(std::move(fetched->keys));
    for (const std::string& each : fetched->passed_over) tell(each);
  }
  {
    const std::lock_guard lock(state_mutex_);
    has_keys_ = true;  // set after the keys: a thread that sees it finds them
  }
  let_on();
}

void RemoteKeys::tell(Bytes words) const {
  if (options_.on_failure) options_.on_failure(words);
}

}  // namespace katana::auth

// SPDX-License-Identifier: Apache-2.0
