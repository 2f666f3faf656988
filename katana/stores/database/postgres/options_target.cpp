#include "katana/stores/database/postgres/options_target.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/defaults.hpp"

namespace katana::database::postgres {
namespace {

using target::Keyword;
using target::Origin;

// TCP has to find out that a server vanished, which takes hours with the system's values.
constexpr std::array<std::pair<Keyword, std::string_view>, 4> own_defaults = {
    {{Keyword::keepalives_idle, "30"},
     {Keyword::keepalives_interval, "10"},
     {Keyword::keepalives_count, "3"},
     {Keyword::tcp_user_timeout, "60000"}}};

void add_hosts(target::Settings& settings, const Options& options) {
  std::string names;
  std::string ports;
  std::string addresses;
  bool has_address = false;
  for (const Host& host : options.hosts) {
    const char* const comma = &host != options.hosts.data() ? "," : "";
    names += comma + host.name;
    ports += comma + std::to_string(host.port);
    addresses += comma + host.address;
    has_address = has_address || !host.address.empty();
  }
  settings.set(Keyword::host, names, Origin::connection_string);
  settings.set(Keyword::port, ports, Origin::connection_string);
  settings.set(Keyword::hostaddr, has_address ? addresses : std::string(),
               Origin::connection_string);
}

}  // namespace

katana::Result<target::Target> target_of(const Options& options, const std::string& password,
                                         const target::Sources& sources) {
  target::Settings settings;
  const auto add = [&](Keyword keyword, Bytes value) {
    if (!value.empty()) settings.set(keyword, value, Origin::connection_string);
  };
  add_hosts(settings, options);
  add(Keyword::user, options.user);
  add(Keyword::dbname, options.database);
  add(Keyword::password, password);
  add(Keyword::application_name, options.application_name);
  for (const auto& [name, value] : options.parameters) {
    const auto keyword = target::find_keyword(name);
    if (name == "requiressl") {
      const Bytes mode = value.starts_with('1') ? "require" : "prefer";
      settings.set(Keyword::sslmode, mode, Origin::connection_string);
      continue;
    }
    if (!keyword) {
      return katana::fail(Code::invalid_argument,
                          fmt::format("the database has the unknown parameter '{}'", name));
    }
    settings.set(*keyword, value, Origin::connection_string);
  }
  KATANA_TRY_DONE(target::add_defaults(settings, sources));
  for (const auto& [keyword, value] : own_defaults) {
    settings.set_if_absent(keyword, value, Origin::fallback);
  }
  return target::make_target(settings, sources);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
