#include "katana/observe/crash/build_id.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace katana::crash {
namespace {

constexpr std::uint64_t build_id_bytes_max = 64;

// The bytes from `offset` on; empty if they are not all there.
Bytes part_of(Bytes file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (offset > file.size() || bytes > file.size() - offset) return {};
  return file.substr(offset, bytes);
}

template <class T>
std::optional<T> read(Bytes file, std::uint64_t offset) noexcept {
  const Bytes bytes = part_of(file, offset, sizeof(T));
  if (bytes.empty()) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string hex_of_bytes(Bytes bytes) {
  constexpr Bytes alphabet = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto code = static_cast<unsigned char>(each);
    text += alphabet[code >> 4];
    text += alphabet[code & 0xf];
  }
  return text;
}

std::optional<std::string> build_id_in_notes(Bytes notes) {
  const auto padded = [](std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; };
  while (const auto note = read<Elf64_Nhdr>(notes, 0)) {
    const std::uint64_t name = sizeof *note, content = name + padded(note->n_namesz);
    const Bytes value = part_of(notes, content, note->n_descsz);
    if (note->n_type == NT_GNU_BUILD_ID &&
        part_of(notes, name, note->n_namesz) == Bytes("GNU\0", 4) && !value.empty() &&
        value.size() <= build_id_bytes_max) {
      return hex_of_bytes(value);
    }
    const std::uint64_t end = content + padded(note->n_descsz);
    if (end > notes.size()) break;
    notes.remove_prefix(end);
  }
  return std::nullopt;
}

// T: Elf64_Shdr or Elf64_Phdr, whose rows are at `offset`.
template <class T, class IsNote, class PartOf>
std::optional<std::string> build_id_in_table(Bytes file, std::uint64_t offset, unsigned rows,
                                             IsNote is_note, PartOf part) {
  const Bytes table = part_of(file, offset, std::uint64_t{rows} * sizeof(T));
  for (unsigned row = 0; row < rows; ++row) {
    const auto entry = read<T>(table, std::uint64_t{row} * sizeof(T));
    if (!entry) break;
    if (!is_note(*entry)) continue;
    if (auto found = build_id_in_notes(part(*entry))) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> build_id_of(Bytes file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  if (header->e_shentsize == sizeof(Elf64_Shdr)) {
    auto found = build_id_in_table<Elf64_Shdr>(
        file, header->e_shoff, header->e_shnum,
        [](const Elf64_Shdr& each) { return each.sh_type == SHT_NOTE; },
        [file](const Elf64_Shdr& each) { return part_of(file, each.sh_offset, each.sh_size); });
    if (found) return found;
  }
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  return build_id_in_table<Elf64_Phdr>(
      file, header->e_phoff, header->e_phnum,
      [](const Elf64_Phdr& each) { return each.p_type == PT_NOTE; },
      [file](const Elf64_Phdr& each) { return part_of(file, each.p_offset, each.p_filesz); });
}

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
