#include "katana/stores/database/postgres/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>

#include "katana/base/values/secrets.hpp"
#include "katana/stores/database/postgres/target/keywords.hpp"

namespace katana::database::postgres {
namespace {

std::unexpected<katana::Error> wrong(const std::string& what) {
  return katana::fail(
      Code::invalid_argument,
      fmt::format("the database URL {}: it is as postgresql://USER@HOST:PORT/DATABASE"
                  "?sslmode=verify-full",
                  what));
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    unsigned octet = 0;
    if (text.size() - at < 3) return std::nullopt;
    const char* const end = text.data() + at + 3;
    const auto [behind, failure] = std::from_chars(text.data() + at + 1, end, octet, 16);
    if (failure != std::errc() || behind != end || octet == 0) return std::nullopt;
    decoded += static_cast<char>(octet);
    at += 2;
  }
  return decoded;
}

// "a,b,c" one after another.
template <class F>
katana::Result<void> for_each_part(std::string_view list, char separator, F&& each) {
  while (true) {
    const std::size_t end = list.find(separator);
    if (auto good = each(list.substr(0, end)); !good) return good;
    if (end == std::string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
}

katana::Result<Host> host_of(std::string_view text) {
  Host host;
  std::string_view name = text;
  std::string_view port;
  if (name.starts_with('[')) {
    const std::size_t end = name.find(']');
    if (end == std::string_view::npos) return wrong("has an address with '[' and without ']'");
    port = name.substr(end + 1);
    name = name.substr(1, end - 1);
  } else if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    port = name.substr(colon);
    name = name.substr(0, colon);
  }
  auto decoded = percent_decoded(name);
  if (!decoded) return wrong("has a host that is not percent-encoded well");
  host.name = *std::move(decoded);
  if (port.empty()) return host;
  const char* const end = port.data() + port.size();
  const auto [behind, failure] = std::from_chars(port.data() + 1, end, host.port);
  if (!port.starts_with(':') || failure != std::errc() || behind != end || host.port == 0) {
    return wrong(fmt::format("has a port of host '{}' that is none of 1 to 65535", host.name));
  }
  return host;
}

// The keywords that are members of Options, or would take the session out of the driver's hands.
// link_options() judges the values of the others.
bool is_keyword(std::string_view name) noexcept {
  static constexpr std::array<std::string_view, 5> taken = {"passfile", "service", "options",
                                                            "client_encoding", "replication"};
  if (std::ranges::find(taken, name) != taken.end()) return false;
  return name == "requiressl" || target::find_keyword(name).has_value();
}

katana::Result<void> add_parameter(Options& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto name = percent_decoded(text.substr(0, equals));
  if (!name || equals == std::string_view::npos) {
    return wrong("has a parameter that is not NAME=VALUE, percent-encoded");
  }
  auto value = percent_decoded(text.substr(equals + 1));
  if (!value)
    return wrong(fmt::format("has a value of '{}' that is not percent-encoded well", *name));
  if (*name == "host") {
    options.hosts.clear();
    return for_each_part(*value, ',', [&](std::string_view each) -> katana::Result<void> {
      options.hosts.push_back({std::string(each)});
      return {};
    });
  }
  if (*name == "user")
    options.user = *std::move(value);
  else if (*name == "password")
    options.password = *std::move(value);
  else if (*name == "password_file")
    options.password_file = *std::move(value);
  else if (*name == "dbname")
    options.database = *std::move(value);
  else if (*name == "application_name")
    options.application_name = *std::move(value);
  else if (!is_keyword(*name))
    return wrong(fmt::format("has the unknown parameter '{}'", *name));
  else
    options.parameters.emplace_back(*name, *std::move(value));
  return {};
}

// port: one for each host, or one for all. A list that does not fit is left to the parameters,
// which name the mistake.
void set_host_ports(Options& options) {
  const auto given =
      std::ranges::find(options.parameters, "port", &std::pair<std::string, std::string>::first);
  if (given == options.parameters.end()) return;
  std::vector<std::uint16_t> ports;
  const auto read = for_each_part(given->second, ',', [&](std::string_view each) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), port);
    if (error != std::errc() || end != each.data() + each.size() || port == 0) {
      return katana::Result<void>(wrong("has a port that is none"));
    }
    ports.push_back(port);
    return katana::Result<void>();
  });
  if (!read || (ports.size() != 1 && ports.size() != options.hosts.size())) return;
  options.parameters.erase(given);
  for (std::size_t at = 0; at < options.hosts.size(); ++at) {
    options.hosts[at].port = ports[ports.size() == 1 ? 0 : at];
  }
}

// hostaddr: one address for each host. A host without a name is called like its address, which TLS
// then checks; without an address it is "localhost".
katana::Result<void> finish_hosts(Options& options) {
  const auto given = std::ranges::find(options.parameters, "hostaddr",
                                       &std::pair<std::string, std::string>::first);
  if (given != options.parameters.end()) {
    const std::string list = given->second;
    options.parameters.erase(given);
    std::vector<std::string> parts;
    (void)for_each_part(list, ',', [&](std::string_view each) -> katana::Result<void> {
      parts.emplace_back(each);
      return {};
    });
    const bool has_name = options.hosts.size() > 1 || !options.hosts.front().name.empty();
    if (!has_name) options.hosts.resize(parts.size(), options.hosts.front());
    if (parts.size() != options.hosts.size()) {
      return wrong(fmt::format("has {} addresses in hostaddr for {} hosts", parts.size(),
                               options.hosts.size()));
    }
    for (std::size_t at = 0; at < parts.size(); ++at) options.hosts[at].address = parts[at];
  }
  set_host_ports(options);
  for (Host& host : options.hosts) {
    if (host.name.empty()) host.name = host.address.empty() ? "localhost" : host.address;
  }
  return {};
}

katana::Result<void> set_user(Options& options, std::string_view text) {
  const std::size_t colon = text.find(':');
  auto user = percent_decoded(text.substr(0, colon));
  if (!user) return wrong("has a user that is not percent-encoded well");
  options.user = *std::move(user);
  if (colon == std::string_view::npos) return {};
  auto password = percent_decoded(text.substr(colon + 1));
  if (!password) return wrong("has a password that is not percent-encoded well");
  options.password = *std::move(password);
  return {};
}

}  // namespace

katana::Result<Options> Options::from_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "postgresql" && name != "postgres")) {
    return wrong("does not begin with postgresql://");
  }
  Options options;
  std::string_view rest = url.substr(scheme + 3);
  std::string_view query;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    auto database = percent_decoded(rest.substr(slash + 1));
    if (!database) return wrong("has a database that is not percent-encoded well");
    options.database = *std::move(database);
  }
  std::string_view authority = rest.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (const auto good = set_user(options, authority.substr(0, at)); !good) {
      return std::unexpected(good.error());
    }
    authority.remove_prefix(at + 1);
  }
  const auto hosts =
      for_each_part(authority, ',', [&](std::string_view each) -> katana::Result<void> {
        auto host = host_of(each);
        if (!host) return std::unexpected(host.error());
        options.hosts.push_back(*std::move(host));
        return {};
      });
  if (!hosts) return std::unexpected(hosts.error());
  const auto added = query.empty() ? katana::Result<void>()
                                   : for_each_part(query, '&', [&](std::string_view each) {
                                       return add_parameter(options, each);
                                     });
  if (!added) return std::unexpected(added.error());
  if (const auto good = finish_hosts(options); !good) return std::unexpected(good.error());
  return options;
}

std::string Options::describe() const {
  std::string text = user.empty() ? "" : user + "@";
  for (const Host& host : hosts) {
    if (&host != &hosts.front()) text += ',';
    text += fmt::format("{}:{}", host.name, host.port);
  }
  return text + "/" + database;
}

bool Options::wants_writable() const noexcept {
  return std::ranges::any_of(parameters, [](const auto& parameter) {
    return parameter.first == "target_session_attrs" &&
           (parameter.second == "read-write" || parameter.second == "primary");
  });
}

katana::Result<void> check(const Options& options) {
  const auto refuse = [](std::string_view option, std::string_view remedy) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("database option '{}' {}", option, remedy));
  };
  if (options.hosts.empty()) return refuse("hosts", "is empty: give at least one host");
  if (!options.password.empty() && !options.password_file.empty()) {
    return refuse("password_file", "is given beside a password: give one of them");
  }
  const bool needs_thread = !options.migrations.empty() || !options.bundled.empty() ||
                            !options.password_file.empty() || options.replica_lag_max > Duration{};
  if (options.is_on_reactors_only && needs_thread) {
    return refuse("is_on_reactors_only",
                  "goes without migrations, password_file and replica_lag_max: they need a thread");
  }
  if (options.connections_max == 0 || options.connections_max > 10'000) {
    return refuse("connections_max", "is 1 to 10000");
  }
  if (options.pipeline_depth == 0) return refuse("pipeline_depth", "is at least 1");
  if (options.reads_per_sync == 0) return refuse("reads_per_sync", "is at least 1");
  if (options.statements_max == 0) return refuse("statements_max", "is at least 1");
  if (options.waiting_max == 0) return refuse("waiting_max", "is at least 1");
  if (options.streams_max == 0) return refuse("streams_max", "is at least 1");
  for (const auto& [name, duration] :
       {std::pair("timeout", options.timeout), std::pair("wait_max", options.wait_max),
        std::pair("connect_timeout", options.connect_timeout),
        std::pair("idle_timeout", options.idle_timeout),
        std::pair("backoff_min", options.backoff_min),
        std::pair("probe_interval", options.probe_interval),
        std::pair("probe_timeout", options.probe_timeout),
        std::pair("transaction_hold", options.transaction_hold),
        std::pair("stream_idle", options.stream_idle)}) {
    if (duration <= Duration{}) return refuse(name, "is above 0");
  }
  if (options.backoff_max < options.backoff_min) {
    return refuse("backoff_max", "is at least backoff_min");
  }
  return {};
}

katana::Result<std::string> password_of(const Options& options) {
  if (options.password_file.empty()) return options.password;
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // no copy stays in a buffer
  file.open(options.password_file);
  std::string password;
  if (!std::getline(file, password)) {
    return katana::fail(
        Code::not_found,
        fmt::format("cannot read the password file '{}' of the database", options.password_file));
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
