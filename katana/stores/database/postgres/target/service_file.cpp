#include "katana/stores/database/postgres/target/service_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/propagate.hpp"
#include "katana/stores/database/postgres/target/connection_string.hpp"

namespace katana::database::postgres::target {
namespace {

// With its end of line; libpq's limit.
constexpr std::size_t line_bytes_max = 1022;

std::unexpected<katana::Error> wrong_line(const std::string& path, std::size_t line,
                                          std::string_view what) {
  return katana::fail(Code::invalid_argument,
                      fmt::format("service file '{}', line {}: {}", path, line, what));
}

Bytes without_blanks(Bytes text) {
  while (!text.empty() && detail::is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && detail::is_blank(text.front())) text.remove_prefix(1);
  return text;
}

bool opens_section(Bytes line, Bytes service) {
  line.remove_prefix(1);  // '['
  return line.starts_with(service) && line.substr(service.size()).starts_with(']');
}

// The reason why a line is refused; empty: it was added.
std::string_view add_line(Settings& settings, Bytes line) {
  if (line.starts_with("ldap")) {
    return "look-ups by LDAP are not supported: write the keywords themselves";
  }
  const std::size_t equals = line.find('=');
  if (equals == Bytes::npos) return "has no '=': write KEYWORD=VALUE";
  const auto keyword = find_keyword(line.substr(0, equals));
  if (!keyword) return "has an unknown keyword: write KEYWORD=VALUE without blanks around '='";
  if (keyword == Keyword::service) {
    return "names another service, which is not supported: write its keywords here";
  }
  settings.set_if_absent(*keyword, line.substr(equals + 1), Origin::service_file);
  return {};
}

// False: another file may have the service.
katana::Result<bool> add_from_file(Settings& settings, const Sources& sources,
                                   const std::string& path, Bytes service, bool may_be_missing) {
  const SourceFile file = sources.file(path);
  if (file.state == SourceFile::State::missing && may_be_missing) return false;
  if (file.state == SourceFile::State::read) {
    return add_section(settings, file.content.reveal(), service, path);
  }
  const bool is_large = file.state == SourceFile::State::too_large;
  return katana::fail(Code::not_found,
                      fmt::format("service file '{}' {}", path,
                                  is_large ? "is larger than 1 MiB" : "cannot be read"));
}

}  // namespace

katana::Result<bool> add_section(Settings& settings, Bytes content, Bytes service,
                                 const std::string& path) {
  bool is_found = false;
  for (std::size_t number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size() - 1) + 1;
    const Bytes whole = content.substr(0, end);
    content.remove_prefix(end);
    if (whole.size() > line_bytes_max) return wrong_line(path, number, "is too long");
    if (whole.find('\0') != Bytes::npos) return wrong_line(path, number, "has a zero byte");
    const Bytes line = without_blanks(whole);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      if (is_found) return true;
      is_found = opens_section(line, service);
    } else if (is_found) {
      const std::string_view problem = add_line(settings, line);
      if (!problem.empty()) return wrong_line(path, number, problem);
    }
  }
  return is_found;
}

katana::Result<void> add_service(Settings& settings, const Sources& sources) {
  std::string service(settings.text(Keyword::service));
  if (!settings.find(Keyword::service)) {
    const auto named = sources.variable("PGSERVICE");
    if (!named) return {};
    service = *named;
  }
  const auto own = sources.variable("PGSERVICEFILE");
  if (own || !sources.home.empty()) {
    const std::string path = own ? *own : sources.home + "/.pg_service.conf";
    KATANA_TRY(const bool is_found,
               add_from_file(settings, sources, path, service, !own.has_value()));
    if (is_found) return {};
  }
  const std::string folder = sources.variable("PGSYSCONFDIR").value_or(sources.system_folder);
  KATANA_TRY(const bool is_found,
             add_from_file(settings, sources, folder + "/pg_service.conf", service, true));
  if (is_found) return {};
  return katana::fail(
      Code::not_found,
      fmt::format("no service file has the section [{}]: add it, or remove 'service'", service));
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
