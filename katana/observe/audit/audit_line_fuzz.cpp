// Invariant: a parsed line consists of its text, its number and its digest. An event with any
// content makes exactly one line, which parses.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/observe/audit/audit_event.hpp"
#include "katana/observe/audit/chain.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using namespace katana::audit;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  if (const auto line = parse_line(input)) {
    KATANA_CHECK(std::string(line->text) + R"(,"chain":")" + write_digest(line->chain) + R"("})" ==
                 input);
    KATANA_CHECK(line->text.starts_with(R"({"seq":)" + std::to_string(line->number)));
  }
  if (const auto head = parse_head(input)) KATANA_CHECK(parse_head(write_head(*head)) == head);
  AuditEvent event;
  event.action = input.substr(0, size / 2);
  event.object = input.substr(size / 2);
  event.details = {{std::string(input), std::string(input)}};
  const auto members = render(event, Timestamp());
  if (!members) return 0;
  AuditHead head;
  std::string line;
  AuditChain("").append_line(line, *members, head);
  KATANA_CHECK(line.find('\n') == line.size() - 1);
  const auto parsed = parse_line(Bytes(line).substr(0, line.size() - 1));
  KATANA_CHECK(parsed && parsed->number == 0 && parsed->chain == head.chain);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
