#include "katana/stores/database/postgres/target/read_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/connection_string.hpp"
#include "katana/stores/database/postgres/target/defaults.hpp"
#include "katana/stores/database/postgres/target/password_file.hpp"
#include "katana/stores/database/postgres/target/target_parts.hpp"
#include "katana/stores/database/postgres/target/values.hpp"

namespace katana::database::postgres::target {
namespace {

using katana::postgres::ChannelBinding;
using katana::postgres::version_3_0;
using katana::postgres::version_3_2;

constexpr Choices<ChannelBinding, 3> bindings = {{{"disable", ChannelBinding::off},
                                                  {"prefer", ChannelBinding::preferred},
                                                  {"require", ChannelBinding::required}}};
constexpr Choices<SessionKind, 6> sessions = {{{"any", SessionKind::any},
                                               {"read-write", SessionKind::read_write},
                                               {"read-only", SessionKind::read_only},
                                               {"primary", SessionKind::primary},
                                               {"standby", SessionKind::standby},
                                               {"prefer-standby", SessionKind::prefer_standby}}};
constexpr Choices<bool, 2> balances = {{{"disable", false}, {"random", true}}};
constexpr Choices<std::uint32_t, 3> versions = {
    {{"3.0", version_3_0}, {"3.2", version_3_2}, {"latest", version_3_2}}};
constexpr Choices<bool, 3> gss_modes = {{{"disable", false}, {"prefer", false}, {"require", true}}};

// Variables without a keyword, and the parameters that they set. PGDATESTYLE is not among them:
// KATANA reads dates in the form that it asks for.
constexpr std::array<std::pair<const char*, std::string_view>, 2> session_variables = {
    {{"PGTZ", "TimeZone"}, {"PGGEQO", "geqo"}}};

// The values of `replication` that ask for none.
bool is_off(Bytes value) {
  constexpr std::array<Bytes, 4> names = {"false", "off", "no", "0"};
  return std::ranges::find(names, value) != names.end();
}

katana::Result<void> refuse_unsupported(const Settings& settings) {
  for (const KeywordFacts& each : keywords()) {
    const Bytes value = settings.text(each.keyword);
    if (each.handling != Handling::refused || value.empty()) continue;
    if (each.keyword == Keyword::replication && is_off(value)) continue;
    // Values of these keywords may be secrets.
    return katana::fail(Code::unsupported, fmt::format("{} is not supported. {}",
                                                       settings.describe(each.keyword), each.note));
  }
  KATANA_TRY(const bool needs_gss, choice_of(settings, Keyword::gssencmode, false, gss_modes));
  if (!needs_gss) return {};
  return unsupported_value(settings, Keyword::gssencmode,
                           "GSSAPI is not supported: use sslmode=verify-full for encryption");
}

katana::Result<void> read_login(Target& target, const Settings& settings, const Sources& sources) {
  const Bytes user = settings.text(Keyword::user);
  target.user = user.empty() ? sources.user : std::string(user);
  if (target.user.empty()) {
    return katana::fail(
        Code::invalid_argument,
        "the database has no user, and the operating system knows none: give 'user'");
  }
  const Bytes database = settings.text(Keyword::dbname);
  target.database = database.empty() ? target.user : std::string(database);
  target.peer_user = settings.text(Keyword::requirepeer);
  return {};
}

void set_passwords(Target& target, const Settings& settings, const Sources& sources) {
  const Bytes password = settings.text(Keyword::password);
  if (!password.empty()) {
    for (Server& server : target.servers) server.password = SecretText(password);
    return;
  }
  target.password_file = settings.text(Keyword::passfile);
  if (target.password_file.empty() && !sources.home.empty()) {
    target.password_file = sources.home + "/.pgpass";
  }
  read_passwords(target, sources);
}

katana::Result<void> read_keepalive(Keepalive& keepalive, const Settings& settings) {
  const auto duration = [&](Keyword keyword,
                            Duration unit) -> katana::Result<std::optional<Duration>> {
    KATANA_TRY(const auto number, integer_of(settings, keyword));
    if (!number) return std::optional<Duration>();
    return std::optional(unit * std::max(*number, 0));
  };
  // libpq takes an empty text as 0 here.
  if (settings.find(Keyword::keepalives) == Bytes()) keepalive.is_on = false;
  if (!settings.text(Keyword::keepalives).empty()) {
    KATANA_TRY(const auto is_on, integer_of(settings, Keyword::keepalives));
    keepalive.is_on = *is_on != 0;
  }
  KATANA_TRY(keepalive.idle, duration(Keyword::keepalives_idle, seconds(1)));
  KATANA_TRY(keepalive.interval, duration(Keyword::keepalives_interval, seconds(1)));
  KATANA_TRY(const auto count, integer_of(settings, Keyword::keepalives_count));
  if (count) keepalive.count = static_cast<unsigned>(std::max(*count, 0));
  KATANA_TRY(keepalive.user_timeout, duration(Keyword::tcp_user_timeout, milliseconds(1)));
  return {};
}

// The letters and digits in lower case, as the server compares names of encodings.
bool is_utf8(Bytes name) {
  std::string plain;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
  }
  return plain == "utf8" || plain == "unicode";
}

katana::Result<void> read_parameters(Target& target, const Settings& settings,
                                     const Sources& sources) {
  const Bytes encoding = settings.text(Keyword::client_encoding);
  if (!encoding.empty() && encoding != "auto" && !is_utf8(encoding)) {
    return unsupported_value(settings, Keyword::client_encoding,
                             "texts of KATANA are UTF-8: write UTF8");
  }
  target.parameters.emplace_back("client_encoding", "UTF8");
  const auto add = [&](std::string_view name, Bytes value) {
    if (!value.empty()) target.parameters.emplace_back(name, value);
  };
  const auto name = settings.find(Keyword::application_name);
  add("application_name", name ? *name : settings.text(Keyword::fallback_application_name));
  add("options", settings.text(Keyword::options));
  for (const auto& [variable, parameter] : session_variables) {
    const auto value = sources.variable(variable);
    if (value && *value != "default") add(parameter, *value);
  }
  return {};
}

katana::Result<void> read_versions(Target& target, const Settings& settings) {
  constexpr Keyword min = Keyword::min_protocol_version;
  constexpr Keyword max = Keyword::max_protocol_version;
  KATANA_TRY(target.version_min, choice_of(settings, min, version_3_0, versions));
  // A higher minimum raises the maximum, which some poolers only know as 3.0.
  KATANA_TRY(target.version_max, choice_of(settings, max, target.version_min, versions));
  if (target.version_min <= target.version_max) return {};
  return wrong_value(settings, max, "it is at least min_protocol_version");
}

// verify-full compares a name, which `hostaddr` alone does not have.
katana::Result<void> check_names(const Target& target) {
  if (target.tls.mode != TlsMode::verify_full) return {};
  for (const Server& server : target.servers) {
    if (!server.host.empty()) continue;
    return katana::fail(
        Code::invalid_argument,
        fmt::format("sslmode=verify-full has no name to check for hostaddr '{}': give "
                    "'host' as well",
                    server.address));
  }
  return {};
}

}  // namespace

katana::Result<Target> read_target(Bytes connection_string, const Sources& sources) {
  KATANA_TRY(Settings settings, parse(connection_string));
  KATANA_TRY_DONE(add_defaults(settings, sources));
  return make_target(settings, sources);
}

katana::Result<Target> make_target(const Settings& settings, const Sources& sources) {
  Target target;
  KATANA_TRY_DONE(refuse_unsupported(settings));
  KATANA_TRY(target.servers, read_servers(settings, sources));
  KATANA_TRY_DONE(read_login(target, settings, sources));
  KATANA_TRY(target.methods, read_methods(settings));
  KATANA_TRY(target.binding,
             choice_of(settings, Keyword::channel_binding, ChannelBinding::preferred, bindings));
  KATANA_TRY(target.tls, read_tls(settings, sources));
  KATANA_TRY_DONE(check_names(target));
  KATANA_TRY(const auto timeout, integer_of(settings, Keyword::connect_timeout));
  if (timeout) target.connect_timeout = seconds(std::max(*timeout, 0));
  KATANA_TRY_DONE(read_keepalive(target.keepalive, settings));
  KATANA_TRY_DONE(read_parameters(target, settings, sources));
  KATANA_TRY_DONE(read_versions(target, settings));
  KATANA_TRY(target.session,
             choice_of(settings, Keyword::target_session_attrs, SessionKind::any, sessions));
  KATANA_TRY(target.is_balanced, choice_of(settings, Keyword::load_balance_hosts, false, balances));
  set_passwords(target, settings, sources);
  return target;
}

void read_passwords(Target& target, const Sources& sources) {
  if (target.password_file.empty()) return;
  const SourceFile file = sources.file(target.password_file);
  std::string problem = password_file_problem(file, target.password_file);
  const bool is_used = problem.empty() && file.state == SourceFile::State::read;
  if (!problem.empty()) target.warnings = {std::move(problem)};
  for (Server& server : target.servers) {
    // The default socket has the name that a file written for TCP has.
    const bool is_default_socket = server.address.empty() && !sources.socket_folder.empty() &&
                                   server.host == sources.socket_folder;
    const Bytes name = server.host.empty() ? server.address : server.host;
    const PasswordQuestion question{.host = is_default_socket ? "localhost" : name,
                                    .port = server.port,
                                    .database = target.database,
                                    .user = target.user};
    auto found = is_used ? find_password(file.content.reveal(), question) : std::nullopt;
    server.password = found ? *std::move(found) : SecretText();
  }
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
