// The options of TLS: the keywords that begin with "ssl".
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/target_parts.hpp"
#include "katana/stores/database/postgres/target/values.hpp"

namespace katana::database::postgres::target {
namespace {

constexpr Choices<TlsMode, 6> modes = {{{"disable", TlsMode::disable},
                                        {"allow", TlsMode::allow},
                                        {"prefer", TlsMode::prefer},
                                        {"require", TlsMode::require},
                                        {"verify-ca", TlsMode::verify_ca},
                                        {"verify-full", TlsMode::verify_full}}};
constexpr Choices<bool, 2> negotiations = {{{"postgres", false}, {"direct", true}}};
constexpr Choices<CertificateUse, 3> certificate_uses = {{{"disable", CertificateUse::disable},
                                                          {"allow", CertificateUse::allow},
                                                          {"require", CertificateUse::require}}};

// 0 to 3 for TLSv1 to TLSv1.3, in any case; nothing: no value.
katana::Result<std::optional<int>> version_of(const Settings& settings, Keyword keyword) {
  const Bytes text = settings.text(keyword);
  if (text.empty()) return std::optional<int>();
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 4> names = {"tlsv1", "tlsv1.1", "tlsv1.2", "tlsv1.3"};
  const auto found = std::ranges::find(names, lower);
  if (found == names.end()) return wrong_value(settings, keyword, "it is TLSv1.2 or TLSv1.3");
  return std::optional<int>(static_cast<int>(found - names.begin()));
}

katana::Result<void> read_versions(const Settings& settings, TlsOptions& tls) {
  constexpr int v1_2 = 2;
  const auto made = [](int version) {
    return version <= v1_2 ? TlsVersion::v1_2 : TlsVersion::v1_3;
  };
  KATANA_TRY(const auto min, version_of(settings, Keyword::ssl_min_protocol_version));
  KATANA_TRY(const auto max, version_of(settings, Keyword::ssl_max_protocol_version));
  if (min && max && *max < *min) {
    return wrong_value(settings, Keyword::ssl_max_protocol_version,
                       "it is at least ssl_min_protocol_version");
  }
  if (max && *max < v1_2) {
    return unsupported_value(settings, Keyword::ssl_max_protocol_version,
                             "versions before TLSv1.2 are not supported");
  }
  if (min) tls.version_min = made(*min);
  if (max) tls.version_max = made(*max);
  return {};
}

TlsFile file_of(const Settings& settings, Keyword keyword, const Sources& sources,
                std::string_view usual) {
  const Bytes path = settings.text(keyword);
  if (!path.empty()) return {.path = std::string(path)};
  if (sources.home.empty()) return {};
  return {.path = fmt::format("{}/.postgresql/{}", sources.home, usual), .is_default = true};
}

// Values that would weaken what another one asks for.
katana::Result<void> check_strength(const Settings& settings, const TlsOptions& tls) {
  if (tls.has_system_roots && tls.mode != TlsMode::verify_full) {
    return wrong_value(settings, Keyword::sslmode,
                       "sslrootcert=system needs sslmode=verify-full, because anyone can get "
                       "a certificate of a public authority");
  }
  if (tls.is_direct && tls.mode < TlsMode::require) {
    return wrong_value(settings, Keyword::sslmode,
                       "sslnegotiation=direct needs sslmode=require, verify-ca or verify-full");
  }
  if (settings.text(Keyword::sslkey).find(':') != Bytes::npos) {
    return unsupported_value(settings, Keyword::sslkey,
                             "keys of OpenSSL engines are not supported: name a file");
  }
  return {};
}

}  // namespace

katana::Result<TlsOptions> read_tls(const Settings& settings, const Sources& sources) {
  TlsOptions tls;
  KATANA_TRY(tls.mode, choice_of(settings, Keyword::sslmode, TlsMode::prefer, modes));
  KATANA_TRY(tls.is_direct, choice_of(settings, Keyword::sslnegotiation, false, negotiations));
  KATANA_TRY(tls.certificate_use,
             choice_of(settings, Keyword::sslcertmode, CertificateUse::allow, certificate_uses));
  KATANA_TRY_DONE(read_versions(settings, tls));
  tls.has_system_roots = settings.text(Keyword::sslrootcert) == "system";
  if (!tls.has_system_roots) {
    tls.roots = file_of(settings, Keyword::sslrootcert, sources, "root.crt");
  }
  tls.revoked = file_of(settings, Keyword::sslcrl, sources, "root.crl");
  tls.revoked_folder = settings.text(Keyword::sslcrldir);
  // A folder of lists stands in place of the usual file.
  if (!tls.revoked_folder.empty() && tls.revoked.is_default) tls.revoked = {};
  tls.certificate = file_of(settings, Keyword::sslcert, sources, "postgresql.crt");
  tls.key = file_of(settings, Keyword::sslkey, sources, "postgresql.key");
  tls.key_password = SecretText(settings.text(Keyword::sslpassword));
  tls.has_server_name = settings.text(Keyword::sslsni).starts_with('1');
  KATANA_TRY_DONE(check_strength(settings, tls));
  return tls;
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
