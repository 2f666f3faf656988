// Invariant: any bytes give rows or a problem. The result is the same however the text is cut.
// Fields that are written again are read back equal.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/data/container/csv.hpp"

namespace {

using katana::Bytes;
using katana::container::CsvReader;
using katana::container::CsvRow;

std::vector<std::vector<std::string>> rows_of(Bytes text, std::size_t piece_bytes, bool& good) {
  CsvReader reader({.row_bytes_max = 4096, .columns_max = 16});
  std::vector<std::vector<std::string>> rows;
  const auto take = [&] {
    while (const CsvRow* const row = reader.next()) {
      auto& to = rows.emplace_back();
      for (std::size_t index = 0; index < row->size(); ++index) to.push_back((*row)[index]);
    }
  };
  while (!text.empty()) {
    const Bytes piece = text.substr(0, piece_bytes);
    text.remove_prefix(piece.size());
    reader.add(piece);
    take();
  }
  reader.finish();
  take();
  good = reader.problem().has_value();
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes text(reinterpret_cast<const char*>(data), size);
  bool is_csv = false;
  bool again = false;
  const auto rows = rows_of(text, size + 1, is_csv);
  KATANA_CHECK(rows_of(text, 1, again) == rows && again == is_csv);
  std::string written;
  for (const auto& row : rows) {
    for (std::size_t index = 0; index < row.size(); ++index) {
      if (index > 0) written += ',';
      katana::container::append_csv_field(written, row[index]);
    }
    written += "\r\n";
  }
  bool good = false;
  const auto read = rows_of(written, 7, good);
  KATANA_CHECK(!good || read == rows);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
