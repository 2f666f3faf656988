#include "katana_tool/sql/records.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "katana_tool/files.hpp"

namespace katana::tool::sql {
namespace {

constexpr std::string_view symbol_suffix = "17katana_sql_recordE";
constexpr std::string_view lto_remedy =
    "; link-time optimisation leaves no code in objects: compile with -ffat-lto-objects, or check "
    "a build without it";

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return taken;
}

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

CppType type_in(std::string_view text) {
  const bool optional = text.starts_with('?');
  return {std::string(text.substr(optional ? 1 : 0)), optional};
}

bool add_line(std::string_view line, Record& record) {
  const std::string_view word = take_until(line, ' ');
  if (word == "row") {
    record.row = take_until(line, ' ');
    record.row_type = line;
  } else if (word == "column") {
    const std::string_view type = take_until(line, '\t');
    record.members.push_back({type_in(type), std::string(line)});
  } else if (word == "parameter") {
    record.parameters.push_back(type_in(line));
  } else {
    return false;
  }
  return true;
}

// The tables of an ELF file, and what lies in it where its tables say; null: outside of the file.
class Elf {
 public:
  explicit Elf(std::string_view content) : content_(content) {}

  bool read_header() {
    if (!read(header_, 0) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return false;
    return header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_ident[EI_DATA] == ELFDATA2LSB &&
           header_.e_shentsize == sizeof(Elf64_Shdr);
  }
  std::size_t sections() {
    Elf64_Shdr first{};  // has the number when there are too many for the header
    if (header_.e_shnum == 0 && read(first, header_.e_shoff)) return first.sh_size;
    return header_.e_shnum;
  }
  bool section(std::size_t index, Elf64_Shdr& out) const {
    if (index >= content_.size()) return false;
    return read(out, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  bool is_relocatable() const { return header_.e_type == ET_REL; }

  std::optional<std::string_view> octets(std::uint64_t offset, std::uint64_t size) const {
    if (offset > content_.size() || size > content_.size() - offset) return std::nullopt;
    return content_.substr(offset, size);
  }
  template <class T>
  bool read(T& out, std::uint64_t offset) const {
    const auto found = octets(offset, sizeof(T));
    if (found) std::memcpy(&out, found->data(), sizeof(T));
    return found.has_value();
  }
  std::optional<std::string_view> octets_of(const Elf64_Sym& symbol) const {
    Elf64_Shdr in{};
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE ||
        !section(symbol.st_shndx, in) || in.sh_type == SHT_NOBITS) {
      return std::nullopt;
    }
    const std::uint64_t base = is_relocatable() ? 0 : in.sh_addr;
    return octets(in.sh_offset + symbol.st_value - base, symbol.st_size);
  }

 private:
  std::string_view content_;
  Elf64_Ehdr header_{};
};

std::string_view name_of(const Elf64_Sym& symbol, std::string_view names) {
  if (symbol.st_name >= names.size()) return {};
  std::string_view rest = names.substr(symbol.st_name);
  return take_until(rest, '\0');
}

// False: the table of symbols is damaged.
bool add_records(const Elf& elf, const Elf64_Shdr& table, std::vector<Record>& records) {
  Elf64_Shdr strings{};
  if (!elf.section(table.sh_link, strings)) return false;
  const auto names = elf.octets(strings.sh_offset, strings.sh_size);
  if (!names || !elf.octets(table.sh_offset, table.sh_size)) return false;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol{};
    if (!elf.read(symbol, table.sh_offset + at)) return false;
    if (!name_of(symbol, *names).ends_with(symbol_suffix)) continue;
    const auto octets = elf.octets_of(symbol);
    if (!octets) continue;  // another object has it
    auto record = parse_record(octets->substr(0, octets->find('\0')));
    if (!record) return false;
    const bool known =
        std::ranges::any_of(records, [&](const Record& each) { return each.says_as(*record); });
    if (!known) records.push_back(*std::move(record));
  }
  return true;
}

}  // namespace

std::optional<Record> parse_record(std::string_view text) {
  Record record;
  std::string_view head = take_until(text, '\n');
  record.call = take_until(head, ' ');
  const std::string_view length = take_until(head, ' ');
  const auto arguments = number_in(head);
  if (length != "-") record.length = number_in(length);
  if (record.call.empty() || !arguments || (length != "-" && !record.length)) return std::nullopt;
  record.arguments = *arguments;
  while (!text.empty()) {
    if (!add_line(take_until(text, '\n'), record)) return std::nullopt;
  }
  return record;
}

Result<std::vector<Record>> records_in(std::string_view content, const std::string& path) {
  Elf elf(content);
  if (!elf.read_header()) {
    return fail(Code::invalid_argument,
                fmt::format("'{}' is no 64-bit ELF object{}", path, lto_remedy));
  }
  std::vector<Record> records;
  const std::size_t count = elf.sections();
  for (std::size_t index = 0; index < count; ++index) {
    Elf64_Shdr section{};
    if (!elf.section(index, section)) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' is a damaged ELF file: build it again", path));
    }
    if (section.sh_type == SHT_SYMTAB && !add_records(elf, section, records)) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' has records of statements in a form that this katana does not "
                              "know: build it with the headers of the same version",
                              path));
    }
  }
  return records;
}

Result<std::vector<Record>> read_records(const std::string& path) {
  const auto content = read_file(path);
  if (!content) return std::unexpected(content.error());
  auto records = records_in(*content, path);
  if (records) {
    for (Record& each : *records) each.objects = {path};
  }
  return records;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
