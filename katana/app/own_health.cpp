#include "katana/app/own_health.hpp"

#include <fmt/format.h>

#include <stop_token>
#include <string_view>
#include <utility>

#include "katana/app/http_check.hpp"
#include "katana/http/server/listener_options.hpp"

namespace katana::app {
namespace {

// A listener on every address is reached at the loopback one.
std::string url_of(std::string_view scheme, const std::string& address, std::uint16_t port) {
  std::string_view host = address;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  const bool is_6 = host.contains(':');
  return fmt::format("{}://{}{}{}:{}/health", scheme, is_6 ? "[" : "", host, is_6 ? "]" : "", port);
}

}  // namespace

Result<std::string> own_health_url(const ApplicationSettings& settings) {
  const HttpSettings& http = settings.http;
  if (http.port != 0 && !http.tls.given()) return url_of("http", http.address, http.port);
  for (const server::ListenerOptions& each : http.listeners) {
    if (each.tls || each.port == 0 || server::is_unix(each.address)) continue;
    return url_of("http", each.address, each.port);
  }
  if (http.port != 0) return url_of("https", http.address, http.port);
  return fail(Code::invalid_argument,
              "http.port is 0, so that the settings do not say which port the program has; set "
              "http.port, or a port in http.listeners");
}

Result<void> check_own_health(const ApplicationSettings& settings, Duration timeout) {
  auto url = own_health_url(settings);
  if (!url) return std::unexpected(url.error());
  HttpCheckOptions options{.name = "health", .url = *std::move(url), .timeout = timeout};
  // The certificate is for the names that clients use, and this request goes to an address of the
  // machine itself. It sends no secret, and only a status comes back.
  options.client.tls.dangerously_accept_any_certificate = true;
  options.client.tls.system_authorities = false;
  auto check = http_check(std::move(options));
  if (!check) return std::unexpected(check.error());
  return check->run(std::stop_token());
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
