// Invariant: however the bytes are cut, Machine comes to the same end at the same byte, after at
// most header_bytes_max of them. A header that was made of an address gives that address back.
//
// The input is a byte that chooses a cut, and the bytes.
#include <algorithm>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/wire/proxy/machine.hpp"

namespace {

using namespace katana;
using namespace katana::proxy;

struct Ending {
  Event event = Event::need_bytes;
  Refusal refusal = Refusal::none;
  std::size_t consumed = 0;
  std::optional<Source> source;
  bool operator==(const Ending&) const = default;
};

Ending read(Bytes bytes, std::size_t piece) {
  Machine machine;
  Ending ending;
  while (!bytes.empty()) {
    const Bytes given = bytes.substr(0, std::max<std::size_t>(piece, 1));
    const Step step = machine.next(given);
    KATANA_CHECK(step.consumed <= given.size());
    ending.event = step.event;
    ending.consumed += step.consumed;
    KATANA_CHECK(ending.consumed <= header_bytes_max);
    if (step.event != Event::need_bytes) {
      KATANA_CHECK(machine.next(bytes).event == step.event);
      KATANA_CHECK(machine.next(bytes).consumed == 0);
      break;
    }
    KATANA_CHECK(step.consumed == given.size());
    bytes.remove_prefix(step.consumed);
  }
  // Where a refused header ends does not matter: nothing behind it is read.
  if (ending.event == Event::refused) ending.consumed = 0;
  ending.refusal = machine.refusal();
  ending.source = machine.source();
  return ending;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Ending whole = read(bytes, bytes.size());
  KATANA_CHECK(whole == read(bytes, data[0]));
  KATANA_CHECK(whole == read(bytes, 1));
  if (whole.event != Event::done) KATANA_CHECK(!whole.source);
  if (!whole.source || whole.source->address.is_v4()) return 0;
  const std::string again = "PROXY TCP6 " + std::string(Bytes(whole.source->address.to_text())) +
                            " ::1 " + std::to_string(whole.source->port) + " 1\r\n";
  KATANA_CHECK(read(again, 7).source == whole.source);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
