#include "katana/stores/database/migrations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "katana/stores/database/sql.hpp"

namespace katana::database {
namespace {

constexpr std::size_t migration_bytes_max = 16 * 1024 * 1024;
constexpr std::array<std::string_view, 2> migration_dialects = {"sqlite", "postgres"};

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return detail::is_letter(c) || detail::is_digit(c) || c == '-';
  });
}

// The number, and the dialect, of a file's name.
katana::Result<Migration> parse_name(const std::string& file) {
  Migration parsed;
  parsed.file = file;
  std::string_view stem(file);
  stem.remove_suffix(4);  // ".sql"
  for (const std::string_view dialect : migration_dialects) {
    const std::string ending = fmt::format(".{}", dialect);
    if (!stem.ends_with(ending)) continue;
    parsed.dialect = dialect;
    stem.remove_suffix(ending.size());
    break;
  }
  const char* const end = stem.data() + stem.size();
  const auto [behind, failure] = std::from_chars(stem.data(), end, parsed.number);
  const std::string_view name(behind, static_cast<std::size_t>(end - behind));
  if (failure != std::errc() || parsed.number == 0 || !name.starts_with('_') ||
      !is_name(name.substr(1))) {
    return katana::fail(
        Code::invalid_argument,
        fmt::format("'{}' is no name of a migration: name it NUMBER_name.sql, as in "
                    "0001_create_users.sql, or for one kind of database "
                    "NUMBER_name.sqlite.sql or NUMBER_name.postgres.sql",
                    file));
  }
  return parsed;
}

// read() has an error of the system as a state; iterators over the buffer would throw it.
katana::Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream input(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() <= migration_bytes_max && input.good()) {
    input.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(input.gcount()));
  }
  if (text.size() > migration_bytes_max) {
    return katana::fail(Code::out_of_range, fmt::format("'{}' is larger than {} bytes",
                                                        path.string(), migration_bytes_max));
  }
  if (!input.eof()) {  // not open, or an error on the way
    return katana::fail(Code::unavailable, fmt::format("cannot read '{}'", path.string()));
  }
  if (text.find('\0') != std::string::npos) {
    return katana::fail(Code::invalid_argument,
                        fmt::format("'{}' is no text: it has a zero byte", path.string()));
  }
  return text;
}

// REQUIRES that they are for one dialect.
katana::Result<void> check_numbers(const std::vector<Migration>& sorted) {
  std::uint32_t next = 1;
  std::string_view before;
  for (const Migration& each : sorted) {
    if (each.number + 1 == next) {
      return katana::fail(
          Code::invalid_argument,
          fmt::format("'{}' and '{}' have the same number: give one of them the next", before,
                      each.file));
    }
    if (each.number != next) {
      return katana::fail(
          Code::invalid_argument,
          fmt::format("migration {} is missing: the next file is '{}'", next, each.file));
    }
    ++next;
    before = each.file;
  }
  return {};
}

katana::Result<std::vector<Migration>> in_order(std::vector<Migration> found) {
  std::sort(found.begin(), found.end(), [](const Migration& left, const Migration& right) {
    return std::pair(left.number, std::string_view(left.file)) <
           std::pair(right.number, std::string_view(right.file));
  });
  // Checks only dialects that have a file: a program for one database has no files for others.
  bool any = false;
  for (const std::string_view dialect : migration_dialects) {
    if (std::ranges::none_of(found, [&](const auto& each) { return each.dialect == dialect; })) {
      continue;
    }
    any = true;
    if (auto of = migrations_for(dialect, found); !of) return std::unexpected(of.error());
  }
  if (any) return found;
  if (const auto good = check_numbers(found); !good) return std::unexpected(good.error());
  return found;
}

katana::Result<Migration> migration_of(const std::string& file, std::string text) {
  auto migration = parse_name(file);
  if (!migration) return migration;
  // The checksum includes the byte order mark that an editor may have put in front, the text does
  // not. A migration that was applied before then keeps its checksum.
  migration->checksum = migration_checksum(text);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  migration->text = std::move(text);
  return migration;
}

}  // namespace

std::string migration_checksum(std::string_view text) {
  std::string lines(text);
  for (std::size_t at = 0; (at = lines.find("\r\n", at)) != std::string::npos;) lines.erase(at, 1);
  return fmt::format("{:016x}", detail::hash_of(lines));
}

katana::Result<std::vector<Migration>> read_migrations(const std::string& folder) {
  std::error_code failure;
  std::filesystem::directory_iterator entries(folder, failure);
  if (failure) {
    return katana::fail(
        Code::not_found,
        fmt::format("cannot read the folder of migrations '{}': {}", folder, failure.message()));
  }
  std::vector<Migration> found;
  for (const auto& entry : entries) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".sql") || file.starts_with('.')) continue;
    auto text = read_file(entry.path());
    if (!text) return std::unexpected(text.error());
    auto migration = migration_of(file, *std::move(text));
    if (!migration) return std::unexpected(migration.error());
    found.push_back(*std::move(migration));
  }
  return in_order(std::move(found));
}

katana::Result<std::vector<Migration>> bundled_migrations(const std::vector<MigrationFile>& files) {
  std::vector<Migration> found;
  for (const MigrationFile& file : files) {
    if (!file.file.ends_with(".sql")) {
      return katana::fail(
          Code::invalid_argument,
          fmt::format("'{}' is no name of a migration: it ends in .sql", file.file));
    }
    auto migration = migration_of(file.file, file.text);
    if (!migration) return std::unexpected(migration.error());
    found.push_back(*std::move(migration));
  }
  return in_order(std::move(found));
}

katana::Result<std::vector<Migration>> migrations_for(std::string_view dialect,
                                                      const std::vector<Migration>& files) {
  std::vector<Migration> chosen;
  for (const Migration& file : files) {
    if (file.dialect.empty() || file.dialect == dialect) chosen.push_back(file);
  }
  if (chosen.empty() && !files.empty()) {
    return katana::fail(
        Code::invalid_argument,
        fmt::format("no migration is for {}: '{}' is for {} only; add a file for {}", dialect,
                    files.front().file, files.front().dialect, dialect));
  }
  if (const auto good = check_numbers(chosen); !good) {
    return std::unexpected(good.error().within(fmt::format("migrations for {}", dialect)));
  }
  return chosen;
}

katana::Result<std::vector<Migration>> plan_migrations(const std::vector<Migration>& files,
                                                       const std::vector<Migration>& applied) {
  const auto refuse = [](std::string message) {
    return katana::fail(Code::invalid_argument, std::move(message));
  };
  for (std::size_t index = 0; index < applied.size(); ++index) {
    const Migration& was = applied[index];
    if (was.number != index + 1) {
      return refuse(
          fmt::format("the database's own list of migrations lacks number {}", index + 1));
    }
    if (index >= files.size()) {
      return refuse(
          fmt::format("migration '{}' was applied, and its file is missing: bring it back, "
                      "or run the program that it belongs to",
                      was.file));
    }
    if (files[index].checksum != was.checksum) {
      return refuse(
          fmt::format("migration '{}' was changed after it was applied (as '{}', checksum "
                      "{}; now {}): restore the file, and put the change into a new one",
                      files[index].file, was.file, was.checksum, files[index].checksum));
    }
  }
  const auto first_new = files.begin() + static_cast<std::ptrdiff_t>(applied.size());
  return std::vector<Migration>(first_new, files.end());
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
