#include "katana/http/client/proxy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/values/base64.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::client {
namespace {

constexpr unsigned authentication_required = 407;

std::unexpected<Error> invalid_proxy(std::string message) {
  return fail(Code::invalid_argument, std::move(message));
}

// Returns whether `host` is the domain, or below it.
bool is_within(Bytes host, Bytes domain) {
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

std::string authority_of(const Origin& origin) {
  const std::string text = origin.text();
  return text.substr(text.find("//") + 2);
}

}  // namespace

Result<std::optional<Proxy>> Proxy::make(const ProxyOptions& options) {
  if (options.url.empty()) return std::optional<Proxy>();
  auto url = parse_url(options.url);
  if (!url) return std::unexpected(url.error().within("proxy.url"));
  if (url->origin.secure || url->target != "/") {
    return invalid_proxy(
        fmt::format("proxy.url {:?} must be http://host:port: TLS to a proxy is not "
                    "supported",
                    options.url));
  }
  if (options.user.find(':') != std::string::npos) {
    return invalid_proxy("proxy.user has a colon, which Basic authentication cannot express");
  }
  Proxy made;
  made.origin_ = std::move(url->origin);
  made.except_ = options.except;
  for (std::string& each : made.except_) {
    std::ranges::transform(each, each.begin(), http::to_lower);
    if (each.empty() || each.starts_with('.')) {
      return invalid_proxy(
          fmt::format("proxy.except has {:?}: give a host, such as example.org, which "
                      "includes its subdomains",
                      each));
    }
  }
  if (!options.user.empty() || !options.password.empty()) {
    made.authorization_ = "Proxy-Authorization: Basic " +
                          encode_base64(options.user + ":" + options.password) + "\r\n";
  }
  return made;
}

bool Proxy::serves(const Origin& origin) const {
  return std::ranges::none_of(except_,
                              [&](const auto& each) { return is_within(origin.host, each); });
}

Tunnel::Tunnel(const Proxy& proxy, const Origin& to, http1::HeadMemo& memo,
               std::size_t head_bytes_max)
    : name_(fmt::format("proxy {}: CONNECT {}", proxy.origin().text(), authority_of(to))),
      memo_(memo),
      head_bytes_max_(head_bytes_max) {
  machine_.begin_tunnel();
  const std::string authority = authority_of(to);
  request_ =
      fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", authority, proxy.authorization());
}

// An incomplete line, which the machine leaves, is kept here. Bytes that arrive before TLS begins
// thus never arrive a second time.
tls::Prelude::Step Tunnel::next(Bytes input) noexcept {
  using Kind = http1::ResponseMachine::Event;
  constexpr bool has_no_content = true;  // of a refusal, only the head is read
  const std::size_t kept_bytes = kept_.size();
  kept_.append(input);
  std::size_t at = 0;
  for (;;) {
    const auto step = machine_.next(Bytes(kept_).substr(at), has_no_content, memo_);
    at += step.consumed;
    head_bytes_ += step.consumed;
    if (step.event == Kind::interim) continue;
    if (step.event == Kind::needs_more) {
      if (head_bytes_ + (kept_.size() - at) > head_bytes_max_) state_ = State::failed;
      kept_.erase(0, at);
      return {state_, input.size()};
    }
    const bool accepted = step.event == Kind::complete && machine_.status() / 100 == 2;
    state_ = accepted ? State::done : State::failed;
    return {state_, at > kept_bytes ? at - kept_bytes : 0};
  }
}

Error Tunnel::error(bool timed_out) const {
  const unsigned status = machine_.status();
  if (timed_out) {
    return Error(Code::deadline_exceeded, name_ + ": deadline exceeded (tls_timeout)");
  }
  if (state_ == State::going) {
    return Error(Code::unavailable, name_ + ": the proxy closed the connection");
  }
  if (status == authentication_required) {
    return Error(Code::permission_denied,
                 name_ + ": status 407: set proxy.user and proxy.password (Basic)");
  }
  if (status == 0 || machine_.problem()[0] != '\0') {
    return Error(Code::data_loss, fmt::format("{}: the reply is not valid HTTP/1.1, or its head "
                                              "exceeds {} bytes: {}",
                                              name_, head_bytes_max_, machine_.problem()));
  }
  return Error(Code::unavailable, fmt::format("{}: refused with status {}", name_, status));
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
