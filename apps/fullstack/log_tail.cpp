#include "fullstack/log_tail.hpp"

#include <algorithm>

namespace katana::fullstack {

Result<void> LogTail::write(Bytes records) {
  const std::lock_guard lock(mutex_);
  while (!records.empty()) {
    const std::size_t end = std::min(records.find('\n'), records.size());
    // Cut where the text is ASCII or a character begins: half a character is no UTF-8.
    std::size_t size = std::min(end, line_bytes_max);
    while (size < end && size > 0 && (records[size] & 0xc0) == 0x80) --size;
    std::string& line = kept_[written_++ % lines_kept_max];
    line = records.substr(0, size);
    if (size < end) line.append("…");
    records.remove_prefix(std::min(end + 1, records.size()));
  }
  return {};
}

LogTail::Lines LogTail::since(std::uint64_t number, std::size_t count_max) const {
  const std::lock_guard lock(mutex_);
  const auto count = std::min<std::uint64_t>({written_ - number, lines_kept_max, count_max});
  Lines lines{.lines = {}, .until = written_};
  for (std::uint64_t at = written_ - count; at < written_; ++at) {
    lines.lines.push_back(kept_[at % lines_kept_max]);
  }
  return lines;
}

}  // namespace katana::fullstack

// SPDX-License-Identifier: Apache-2.0
