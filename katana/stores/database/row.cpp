// Columns of a common form, read straight from their bytes.
#include "katana/stores/database/row.hpp"

#include <algorithm>
#include <bit>

namespace katana::database::detail {
namespace {

template <class Number>
std::int64_t read_big_endian(const char* bytes) noexcept {
  std::make_unsigned_t<Number> number = 0;
  std::memcpy(&number, bytes, sizeof number);
  if constexpr (std::endian::native == std::endian::little) number = std::byteswap(number);
  return static_cast<Number>(number);
}

// Copies at most 15 bytes without a call of memcpy(), which takes longer than they do.
void copy_short(char* to, const char* from, std::size_t size) noexcept {
  const auto copy_ends = [&]<class Word>(Word) {  // they may overlap
    Word first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
  };
  if (size >= 8) {
    copy_ends(std::uint64_t{});
  } else if (size >= 4) {
    copy_ends(std::uint32_t{});
  } else if (size >= 2) {
    copy_ends(std::uint16_t{});
  } else if (size == 1) {
    *to = *from;
  }
}

// The column with that name; mostly the one at the member's place.
std::size_t find(const Row& row, Bytes name, std::size_t place) noexcept {
  const std::size_t columns = row.columns();
  if (place < columns && row.name(place) == name) return place;
  for (std::size_t column = 0; column < columns; ++column) {
    if (row.name(column) == name) return column;
  }
  return columns;
}

}  // namespace

TypeMismatch map_members(const Row& row, const void* of, std::span<const Bytes> names,
                         std::span<std::uint16_t> columns, std::span<Plain> forms) noexcept {
  Mapping* const kept = row.mapping();
  if (kept != nullptr && kept->of == of) {
    std::copy_n(kept->columns.begin(), columns.size(), columns.begin());
  } else {
    for (std::size_t place = 0; place < names.size(); ++place) {
      const std::size_t column = find(row, names[place], place);
      if (column == row.columns()) return {"is no column of the result", names[place]};
      columns[place] = static_cast<std::uint16_t>(column);
    }
    if (kept != nullptr) {
      kept->of = of;
      std::ranges::copy(columns, kept->columns.begin());
    }
  }
  if (row.bytes() == nullptr) return {};
  for (std::size_t place = 0; place < columns.size(); ++place) {
    forms[place] = row.form(columns[place]);
  }
  return {};
}

bool read_plain(Bytes bytes, Plain form, std::int64_t& out) noexcept {
  if (form == Plain::int64 && bytes.size() == 8) {
    out = read_big_endian<std::int64_t>(bytes.data());
  } else if (form == Plain::int32 && bytes.size() == 4) {
    out = read_big_endian<std::int32_t>(bytes.data());
  } else if (form == Plain::int16 && bytes.size() == 2) {
    out = read_big_endian<std::int16_t>(bytes.data());
  } else {
    return false;
  }
  return true;
}

bool read_plain(Bytes bytes, Plain form, double& out) noexcept {
  if (form != Plain::float64 || bytes.size() != 8) return false;
  out = std::bit_cast<double>(read_big_endian<std::int64_t>(bytes.data()));
  return true;
}

bool read_plain(Bytes bytes, Plain form, std::string& out) {
  if (form != Plain::text || bytes.data() == nullptr) return false;
  // Most texts are short, and a string keeps those without memory of the heap.
  constexpr std::size_t short_bytes_max = 15;
  if (bytes.size() > short_bytes_max) {
    out.assign(bytes);
    return true;
  }
  out.resize_and_overwrite(bytes.size(), [&](char* to, std::size_t size) {
    copy_short(to, bytes.data(), size);
    return size;
  });
  return true;
}

}  // namespace katana::database::detail

// SPDX-License-Identifier: Apache-2.0
