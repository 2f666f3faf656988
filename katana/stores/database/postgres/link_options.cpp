#include "katana/stores/database/postgres/link_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/base/values/random.hpp"
#include "katana/stores/database/postgres/options_target.hpp"

namespace katana::database::postgres {
namespace {

using Mode = LinkTlsOptions::Mode;
using Check = LinkTlsOptions::Check;
using target::TlsMode;

std::unexpected<katana::Error> refuse(std::string_view name, std::string_view why) {
  return katana::fail(Code::unsupported, fmt::format("the database parameter '{}' {}", name, why));
}

// A file that no source names counts only if it is there.
std::string path_of(const target::TlsFile& file) {
  const bool is_there = !file.is_default || access(file.path.c_str(), F_OK) == 0;
  return is_there ? file.path : "";
}

// With `allow` libpq tries without TLS first. Here it is the same as `prefer`.
Mode mode_of(TlsMode mode) {
  if (mode == TlsMode::disable) return Mode::off;
  return mode < TlsMode::require ? Mode::preferred : Mode::required;
}

// As libpq does: `require` with a file of authorities wants one of them to have signed.
Check check_of(const target::TlsOptions& wanted, const LinkTlsOptions& tls) {
  if (wanted.mode == TlsMode::verify_full) return Check::name;
  const bool names_authority = tls.mode == Mode::required && !tls.authorities.empty();
  return wanted.mode == TlsMode::verify_ca || names_authority ? Check::authority : Check::nothing;
}

katana::Result<LinkTlsOptions> tls_of(const target::TlsOptions& wanted) {
  LinkTlsOptions tls;
  tls.mode = mode_of(wanted.mode);
  tls.is_direct = wanted.is_direct;
  tls.sends_name = wanted.has_server_name;
  tls.is_1_3_only = wanted.version_min == target::TlsVersion::v1_3;
  tls.is_1_2_only = wanted.version_max == target::TlsVersion::v1_2;
  if (!wanted.has_system_roots) tls.authorities = path_of(wanted.roots);
  tls.check = check_of(wanted, tls);
  if (wanted.mode == TlsMode::verify_ca && tls.authorities.empty()) {
    return refuse("sslmode",
                  "is 'verify-ca', and no authorities are named: any public authority would do. "
                  "Name them in sslrootcert, or use verify-full");
  }
  if (wanted.certificate_use != target::CertificateUse::disable) {
    tls.certificate = path_of(wanted.certificate);
    // A usual key without its certificate has no use.
    if (!tls.certificate.empty()) {
      tls.key = wanted.key.path;
      tls.key_password = wanted.key_password.copy();
    }
  }
  if (wanted.certificate_use == target::CertificateUse::require) {
    return refuse("sslcertmode",
                  "is 'require', and the driver cannot see whether the server asks for the "
                  "certificate: use verify-full, and demand certificates in pg_hba.conf");
  }
  tls.revoked = path_of(wanted.revoked);
  tls.revoked_dir = wanted.revoked_folder;
  return tls;
}

TcpProbes probes_of(const target::Keepalive& wanted) {
  const auto count_of = [](const std::optional<Duration>& time, Duration unit) {
    return static_cast<unsigned>(time.value_or(Duration{}) / unit);
  };
  return {.are_sent = wanted.is_on,
          .idle_s = count_of(wanted.idle, seconds(1)),
          .interval_s = count_of(wanted.interval, seconds(1)),
          .count = wanted.count.value_or(0),
          .sent_ms = count_of(wanted.user_timeout, milliseconds(1))};
}

// The password file may have another password for each server.
SecretText password_for(const Target& of, const std::vector<target::Server>& servers) {
  const auto found = std::ranges::find_if(servers, [&](const target::Server& each) {
    return each.host == of.name && each.port == of.port;
  });
  return found == servers.end() ? SecretText() : found->password.copy();
}

// The port of the parameters, which replaces those of the hosts.
void set_ports(const Options& options, const std::vector<target::Server>& servers,
               std::vector<Target>& targets) {
  const bool has_port = std::ranges::any_of(options.parameters,
                                            [](const auto& each) { return each.first == "port"; });
  if (!has_port) return;
  for (Target& each : targets) {
    const auto found = std::ranges::find(servers, each.name, &target::Server::host);
    each.port = found == servers.end() ? servers.front().port : found->port;
  }
}

// load_balance_hosts=random: hosts and addresses in a random order, for each connection.
void shuffle(std::vector<Target>& targets, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t left = targets.size(); left > 1; --left) {
    std::swap(targets[left - 1], targets[random.below(left)]);
  }
}

// The addresses of servers are members of the hosts, which a parameter cannot replace.
katana::Result<void> check_servers(const Options& options) {
  const auto is_address = [](const auto& each) { return each.first == "hostaddr"; };
  if (std::ranges::none_of(options.parameters, is_address)) return {};
  return refuse("hostaddr", "is not one of the parameters: it is Host::address");
}

}  // namespace

katana::Result<LinkOptions> link_options(const Options& options, std::vector<Target> targets,
                                         const std::string& password,
                                         std::optional<std::uint64_t> seed) {
  KATANA_TRY(const target::Target wanted, target_of(options, password, target::system_sources()));
  KATANA_TRY_DONE(check_servers(options));
  LinkOptions made;
  made.targets = std::move(targets);
  set_ports(options, wanted.servers, made.targets);
  if (wanted.is_balanced) shuffle(made.targets, seed ? *seed : std::random_device{}());
  made.user = wanted.user;
  made.database = wanted.database;
  made.password = SecretText(password);
  made.warnings = wanted.warnings;
  if (password.empty()) {
    for (const Target& each : made.targets) {
      made.target_passwords.push_back(password_for(each, wanted.servers));
    }
  }
  made.settings = wanted.parameters;
  made.server_user = wanted.peer_user;
  KATANA_TRY(made.tls, tls_of(wanted.tls));
  made.binding = wanted.binding;
  made.methods = wanted.methods.value_or(protocol::Methods{.scram = true, .nothing = true});
  made.version = wanted.version_max;
  made.version_min = wanted.version_min;
  made.session = wanted.session;
  made.probes = probes_of(wanted.keepalive);
  return made;
}

katana::Result<void> check_parameters(const Options& options) {
  const auto made = link_options(options, {}, {});
  return made ? katana::Result<void>() : std::unexpected(made.error());
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
