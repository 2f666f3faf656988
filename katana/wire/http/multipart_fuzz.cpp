// Invariant: for any bytes, however they are cut, MultipartReader gives the same parts with the
// same contents, and never more than its limits allow.
//
// The input is two bytes that choose cuts, and the bytes of a content with the boundary "B".
#include <algorithm>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/multipart.hpp"

namespace {

using namespace katana::http;
using katana::Bytes;

constexpr MultipartLimits limits{
    .head_bytes_max = 200, .parts_max = 4, .part_bytes_max = 64, .preamble_bytes_max = 20};

std::string read(Bytes text, std::size_t first, std::size_t piece) {
  MultipartReader reader("B", limits);
  std::string seen, carried;
  std::uint64_t part_bytes = 0;
  std::size_t content_at = 0;  // in `seen`: that of the last part
  for (std::size_t cut = first; !text.empty(); cut = piece) {
    const Bytes part = text.substr(0, std::min(std::max<std::size_t>(cut, 1), text.size()));
    carried += part;
    text.remove_prefix(part.size());
    for (;;) {
      const auto step = reader.next(carried);
      KATANA_CHECK(step.consumed <= carried.size());
      if (step.event == MultipartEvent::refused) {
        KATANA_CHECK(reader.next(carried).event == MultipartEvent::refused);
        // How much of the last part's content came before it depends on the cuts.
        return seen.substr(0, content_at) + "refused";
      }
      if (step.event == MultipartEvent::part) {
        part_bytes = 0;
        seen += std::string(reader.part().name) + "=";
        content_at = seen.size();
      }
      if (step.event == MultipartEvent::content) {
        part_bytes += reader.content().size();
        KATANA_CHECK(part_bytes <= limits.part_bytes_max);
        seen += reader.content();
      }
      if (step.event == MultipartEvent::part_end) seen += ";";
      carried.erase(0, step.consumed);
      if (step.event == MultipartEvent::need_bytes && (step.consumed == 0 || carried.empty()))
        break;
    }
    KATANA_CHECK(carried.size() <= limits.head_bytes_max + 200 + piece);
  }
  return seen + (reader.ended() ? "ended" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const Bytes text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = read(text, text.size(), text.size());
  const std::string bytewise = read(text, 1, 1);
  const std::string cut = read(text, data[0], std::size_t{data[1]} + 1);
  // A content that is cut off has given different amounts of its last part.
  const bool ended = whole.ends_with("ended") || whole.ends_with("refused");
  if (ended) KATANA_CHECK(whole == bytewise && whole == cut);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
