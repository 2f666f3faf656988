// Invariant: the elements that trusted proxies wrote are read as if no bytes stood in front of
// them. Every address and host that is read is well formed and lies in the head.
//
// The input is a byte that chooses fields, lines and parts, and the values of a field.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/check.hpp"
#include "katana/wire/http/forwarded.hpp"
#include "katana/wire/http/url.hpp"

namespace {

using namespace katana;
using namespace katana::http;

struct Lines {
  explicit Lines(Bytes values) : bytes(values) {}

  // A field named `name` of the bytes that were added since the last one.
  void end_field(Bytes name) {
    const auto at = static_cast<std::uint16_t>(begin);
    const auto size = static_cast<std::uint16_t>(bytes.size() - begin);
    fields.push_back({name, {at, size}});
    begin = bytes.size();
  }
  Head head() {
    Head head;
    std::string all = bytes;
    const std::size_t names_at = all.size();
    std::size_t at = names_at;
    for (const auto& [name, value] : fields) all += name;
    kept = std::move(all);
    head.begin(kept.data());
    for (const auto& [name, value] : fields) {
      head.add_field({static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(name.size())},
                     value);
      at += name.size();
    }
    head.set_bytes(kept.size());
    return head;
  }

  std::string bytes;
  std::size_t begin = 0;
  std::vector<std::pair<Bytes, Slice>> fields;
  std::string kept;
};

void check(const Forwarding& found, const Head& head) {
  KATANA_CHECK(found.hops <= 8);
  if (found.host.empty()) return;
  KATANA_CHECK(valid_authority(found.host));
  KATANA_CHECK(found.host.data() >= head.bytes().data() &&
               found.host.data() + found.host.size() <= head.bytes().data() + head.bytes().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 4096) return 0;
  const Network networks[] = {*Network::parse("10.0.0.0/8"), *Network::parse("2001:db8::/32")};
  const NetworkSet trusted(networks);
  const bool x = (data[0] & 1) != 0;
  const bool own_line = (data[0] & 2) != 0;
  const Bytes name = x ? Bytes("X-Forwarded-For") : Bytes("Forwarded");
  const Bytes values(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ForwardedRules rules{
      .fields = x ? ForwardedFields::x_forwarded : ForwardedFields::forwarded,
      .hops_max = 8,
      .parts = {.client = true, .proto = true, .host = (data[0] & 4) != 0}};

  Lines alone(values);
  alone.end_field(name);
  const Head head = alone.head();
  check(read_forwarding(head, rules, trusted), head);

  Lines behind(values);
  if (own_line) behind.end_field(name);
  if (!own_line) behind.bytes += ",";
  behind.bytes += x ? "192.0.2.9" : "for=\"192.0.2.9:80\";proto=https;host=a.example";
  behind.end_field(name);
  const Head longer = behind.head();
  const Forwarding found = read_forwarding(longer, rules, trusted);
  check(found, longer);
  KATANA_CHECK(found.hops == 1 && !found.is_malformed);
  KATANA_CHECK(found.client.address == IpAddress::read("192.0.2.9"));
  if (x) return 0;
  KATANA_CHECK(found.scheme == Scheme::https);
  KATANA_CHECK(found.host == (rules.parts.host ? Bytes("a.example") : Bytes()));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
