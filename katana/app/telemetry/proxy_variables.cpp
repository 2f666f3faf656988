#include "katana/app/telemetry/proxy_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "katana/http/client/proxy.hpp"
#include "katana/observe/otlp/resource.hpp"

namespace katana::app {
namespace {

struct Variable {
  const char* name = "";
  std::string_view text;
};

Variable first_set(const Variables& variables, const char* lower, const char* upper) {
  for (const char* const name : {lower, upper}) {
    const char* const value = variables(name);
    if (value != nullptr && *value != '\0') return {name, value};
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// A host of no_proxy without the dot that some programs want before it, and without its port.
std::string_view host_of(std::string_view item) {
  item = trimmed(item);
  if (item.starts_with("*.")) item.remove_prefix(1);
  if (item.starts_with('.')) item.remove_prefix(1);
  if (std::ranges::count(item, ':') == 1) item = item.substr(0, item.find(':'));
  return item;
}

// False: no host has a proxy.
bool add_exceptions(std::string_view list, std::vector<std::string>& to) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view host = host_of(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (host == "*") return false;
    if (!host.empty()) to.emplace_back(host);
  }
  return true;
}

// Takes "user:password@" from the address. False: its percent-encoding is wrong.
bool take_account(std::string_view& address, client::ProxyOptions& to) {
  const std::size_t end = address.rfind('@');
  if (end == std::string_view::npos) return true;
  const std::string_view account = address.substr(0, end);
  address.remove_prefix(end + 1);
  const std::size_t colon = std::min(account.find(':'), account.size());
  auto user = otlp::percent_decoded(account.substr(0, colon));
  auto password = otlp::percent_decoded(account.substr(std::min(colon + 1, account.size())));
  if (!user || !password) return false;
  to.user = *std::move(user);
  to.password = *std::move(password);
  return true;
}

}  // namespace

client::ProxyOptions proxy_of(bool secure, const Variables& variables,
                              std::vector<std::string>& notes) {
  const Variable wanted = secure ? first_set(variables, "https_proxy", "HTTPS_PROXY")
                                 : first_set(variables, "http_proxy", "HTTP_PROXY");
  client::ProxyOptions options;
  if (wanted.text.empty()) return options;
  options.except = {"localhost", "127.0.0.1", "::1", "[::1]"};
  if (!add_exceptions(first_set(variables, "no_proxy", "NO_PROXY").text, options.except)) return {};
  std::string_view address = trimmed(wanted.text);
  constexpr std::string_view scheme = "http://";
  if (address.starts_with(scheme)) address.remove_prefix(scheme.size());
  const bool has_other_scheme = address.find("://") != std::string_view::npos;
  const bool is_read = !has_other_scheme && take_account(address, options);
  while (address.ends_with('/')) address.remove_suffix(1);
  options.url = fmt::format("{}{}", scheme, address);
  // The error would repeat the value, which may have a password.
  if (is_read && client::Proxy::make(options)) return options;
  notes.push_back(fmt::format(
      "{} is ignored: set http://host:port, or http://user:password@host:port", wanted.name));
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
