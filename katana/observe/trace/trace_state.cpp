#include "katana/observe/trace/trace_state.hpp"

#include <algorithm>
#include <cstring>

#include "katana/observe/trace/list_member.hpp"

namespace katana::trace {
namespace {

constexpr std::size_t long_member_bytes = 128;  // W3C Trace Context §3.3.1.5
constexpr std::size_t text_bytes_max = 256;     // of a key, and of a value

constexpr bool is_key_begin(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
constexpr bool is_key_character(char c) noexcept {
  return is_key_begin(c) || c == '_' || c == '-' || c == '*' || c == '/' || c == '@';
}
bool is_key(Bytes key) noexcept {
  return !key.empty() && key.size() <= text_bytes_max && is_key_begin(key.front()) &&
         std::ranges::all_of(key, is_key_character);
}
bool is_value(Bytes value) noexcept {
  return !value.empty() && value.size() <= text_bytes_max && value.back() != ' ' &&
         std::ranges::all_of(value,
                             [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}
Bytes take_member(Bytes& rest) noexcept { return detail::take_until(',', rest); }
Bytes key_of(Bytes member) noexcept { return member.substr(0, member.find('=')); }

}  // namespace

void TraceState::add(Bytes value) noexcept {
  while (!value.empty() && !is_malformed_) {
    // An empty member is allowed (§3.3.1.1).
    if (const Bytes member = detail::trimmed(take_member(value)); !member.empty())
      add_member(member);
  }
}

bool TraceState::has(Bytes key) const noexcept {
  Bytes rest(octets_.data(), size_);
  while (!rest.empty()) {
    if (key_of(take_member(rest)) == key) return true;
  }
  return false;
}

// True: room was gained.
bool TraceState::drop_long_members() noexcept {
  const std::size_t before = size_;
  Bytes rest(octets_.data(), size_);
  size_ = 0;
  while (!rest.empty()) {
    const Bytes member = take_member(rest);
    if (member.size() > long_member_bytes) continue;
    if (size_ > 0) octets_[size_++] = ',';
    std::memmove(octets_.data() + size_, member.data(), member.size());
    size_ = static_cast<std::uint16_t>(size_ + member.size());
  }
  return size_ < before;
}

void TraceState::add_member(Bytes member) noexcept {
  const std::size_t sign = member.find('=');
  const bool is_right = sign != Bytes::npos && is_key(member.substr(0, sign)) &&
                        is_value(member.substr(sign + 1)) && !has(member.substr(0, sign)) &&
                        ++members_ <= trace_state_members_max;
  if (!is_right) {
    is_malformed_ = true;
    return;
  }
  const auto fits = [&] { return size_ + 1 + member.size() <= trace_state_bytes_max; };
  if (!fits()) {
    is_cut_ = true;
    if (member.size() > long_member_bytes || !drop_long_members() || !fits()) return;
  }
  if (size_ > 0) octets_[size_++] = ',';
  std::memcpy(octets_.data() + size_, member.data(), member.size());
  size_ = static_cast<std::uint16_t>(size_ + member.size());
}

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
