#include "katana/identity/idempotency/stored_reply.hpp"

#include <cstddef>
#include <cstdint>

namespace katana::idempotency {
namespace {

constexpr char form_number = 1;
constexpr std::size_t head_bytes = 10;
constexpr char flag_whole = 1;

void put(std::string& to, std::uint64_t number, unsigned octets) {
  while (octets-- > 0) to.push_back(static_cast<char>(number >> (8 * octets)));
}
std::size_t get(Bytes from, unsigned octets) noexcept {
  std::size_t number = 0;
  for (const char c : from.substr(0, octets)) {
    number = number << 8 | static_cast<unsigned char>(c);
  }
  return number;
}

}  // namespace

std::string encode(const StoredReply& reply) {
  std::string to;
  to.reserve(head_bytes + reply.type.size() + reply.fields.size() + reply.content.size());
  to.push_back(form_number);
  to.push_back(reply.is_whole ? flag_whole : 0);
  put(to, reply.status, 2);
  put(to, reply.type.size(), 2);
  put(to, reply.fields.size(), 4);
  to += reply.type;
  to += reply.fields;
  to += reply.content;
  return to;
}

std::optional<StoredReply> decode(Bytes octets) {
  if (octets.size() < head_bytes || octets[0] != form_number) return {};
  if ((octets[1] & ~flag_whole) != 0) return {};
  StoredReply reply;
  reply.is_whole = (octets[1] & flag_whole) != 0;
  reply.status = static_cast<unsigned>(get(octets.substr(2), 2));
  const std::size_t type = get(octets.substr(4), 2);
  const std::size_t fields = get(octets.substr(6), 4);
  octets.remove_prefix(head_bytes);
  if (reply.status < 200 || reply.status > 599 || type > octets.size() ||
      fields > octets.size() - type) {
    return {};
  }
  reply.type = octets.substr(0, type);
  reply.fields = octets.substr(type, fields);
  reply.content = octets.substr(type + fields);
  return reply;
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
