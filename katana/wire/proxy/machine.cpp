#include "katana/wire/proxy/machine.hpp"

#include <algorithm>
#include <charconv>

namespace katana::proxy {
namespace {

constexpr Bytes signature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t fixed_bytes = 16;  // signature, command, family, length
constexpr std::size_t v4_bytes = 12;     // two addresses, two ports
constexpr std::size_t v6_bytes = 36;
constexpr std::size_t unix_bytes = 216;  // two paths
constexpr std::size_t field_bytes = 3;   // type and length
constexpr char checksum_type = 0x03;     // PP2_TYPE_CRC32C

std::uint16_t word_at(const char* at) noexcept {
  return static_cast<std::uint16_t>(static_cast<unsigned char>(at[0]) << 8 |
                                    static_cast<unsigned char>(at[1]));
}

template <std::size_t count>
std::array<std::uint8_t, count> octets_at(const char* at) noexcept {
  std::array<std::uint8_t, count> octets;
  std::copy(at, at + count, octets.begin());
  return octets;
}

// Up to the next space, or the end.
Bytes take_word(Bytes& text) noexcept {
  const std::size_t end = std::min(text.find(' '), text.size());
  const Bytes word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// Digits without a leading zero.
std::optional<std::uint16_t> read_port(Bytes text) noexcept {
  std::uint16_t port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return port;
}

// Reads an address of the family that the line names; an IPv4 address in IPv6 is of TCP6.
std::optional<IpAddress> read_address(Bytes text, bool is_v6) noexcept {
  if ((text.find(':') != Bytes::npos) != is_v6) return std::nullopt;
  return IpAddress::read(text);
}

}  // namespace

Bytes name_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::signature: return "signature";
    case Refusal::line: return "line";
    case Refusal::command: return "command";
    case Refusal::length: return "length";
    case Refusal::checksum: return "checksum";
    case Refusal::none:
    case Refusal::count_: break;
  }
  return "none";
}

Step Machine::next(Bytes input) noexcept {
  const std::size_t given = input.size();
  while (!input.empty() && state_ != State::done && state_ != State::refused) take(input);
  const std::size_t consumed = given - input.size();
  if (state_ == State::done) return {Event::done, consumed};
  if (state_ == State::refused) return {Event::refused, consumed};
  return {Event::need_bytes, consumed};
}

void Machine::take(Bytes& input) noexcept {
  switch (state_) {
    case State::start:
      if (input.front() == 'P') {
        state_ = State::line;
      } else if (input.front() == signature.front()) {
        state_ = State::signature;
      } else {
        refuse(Refusal::signature);
      }
      break;
    case State::line: take_line(input); break;
    case State::signature:
      if (collect(input, fixed_bytes)) {
        read_signature();
      } else if (const std::size_t known = std::min(kept_bytes_, signature.size());
                 Bytes(kept_.data(), known) != signature.substr(0, known)) {
        refuse(Refusal::signature);
      }
      break;
    case State::addresses:
      if (collect(input, is_v6_ ? v6_bytes : v4_bytes)) read_addresses();
      break;
    case State::fields:
      if (collect(input, field_bytes)) read_field();
      break;
    case State::value:
    case State::skipped: take_value(input); break;
    case State::done:
    case State::refused: break;
  }
}

// ---- version 1 ----

void Machine::take_line(Bytes& input) noexcept {
  constexpr Bytes begin = "PROXY ";
  while (!input.empty()) {
    kept_[kept_bytes_++] = input.front();
    input.remove_prefix(1);
    const Bytes line(kept_.data(), kept_bytes_);
    if (kept_bytes_ <= begin.size() && !begin.starts_with(line)) return refuse(Refusal::signature);
    if (line.ends_with("\r\n")) return read_line(line.substr(0, line.size() - 2));
    if (kept_bytes_ == line_bytes_max) return refuse(Refusal::line);
  }
}

void Machine::read_line(Bytes line) noexcept {
  line.remove_prefix(std::min<std::size_t>(6, line.size()));
  const Bytes family = take_word(line);
  if (family == "UNKNOWN") {  // the rest of the line is ignored
    state_ = State::done;
    return;
  }
  const bool is_v6 = family == "TCP6";
  const auto source = read_address(take_word(line), is_v6);
  const auto destination = read_address(take_word(line), is_v6);
  const auto source_port = read_port(take_word(line));
  const auto destination_port = read_port(line);
  if ((family != "TCP4" && !is_v6) || !source || !destination || !source_port ||
      !destination_port) {
    return refuse(Refusal::line);
  }
  source_ = {*source, *source_port};
  state_ = State::done;
}

// ---- version 2 ----

bool Machine::collect(Bytes& input, std::size_t bytes) noexcept {
  const std::size_t taken = std::min(bytes - kept_bytes_, input.size());
  std::copy_n(input.begin(), taken, kept_.begin() + static_cast<std::ptrdiff_t>(kept_bytes_));
  input.remove_prefix(taken);
  kept_bytes_ += taken;
  if (kept_bytes_ < bytes) return false;
  crc_.add({kept_.data(), bytes});
  kept_bytes_ = 0;
  return true;
}

void Machine::read_signature() noexcept {
  constexpr char version = 0x20;
  if (Bytes(kept_.data(), signature.size()) != signature) return refuse(Refusal::signature);
  const char command = kept_[12];
  const char family = kept_[13];
  left_ = word_at(&kept_[14]);
  if (left_ > header_bytes_max - fixed_bytes) return refuse(Refusal::length);
  if (command != version && command != (version | 1)) return refuse(Refusal::command);
  std::size_t address_bytes = 0;
  bool is_believed = false;
  switch (family) {
    case 0x00: break;  // UNSPEC
    case 0x11: address_bytes = v4_bytes, is_believed = true; break;
    case 0x21: address_bytes = v6_bytes, is_believed = true; break;
    case 0x31: address_bytes = unix_bytes; break;
    default: return refuse(Refusal::command);  // datagrams, and undefined values
  }
  // LOCAL: the proxy speaks for itself, and the rest of the header is discarded.
  const bool is_local = command == version;
  if (!is_local && left_ < address_bytes) return refuse(Refusal::length);
  if (!is_local && is_believed) {
    is_v6_ = address_bytes == v6_bytes;
    state_ = State::addresses;
    return;
  }
  value_ = left_;
  state_ = left_ == 0 ? State::done : State::skipped;
}

void Machine::read_addresses() noexcept {
  const char* const at = kept_.data();
  source_ = is_v6_ ? Source{IpAddress::v6(octets_at<16>(at)), word_at(at + 32)}
                   : Source{IpAddress::v4(octets_at<4>(at)), word_at(at + 8)};
  left_ -= is_v6_ ? v6_bytes : v4_bytes;
  enter_fields();
}

void Machine::enter_fields() noexcept {
  if (left_ == 0) return end_header();
  if (left_ < field_bytes) return refuse(Refusal::length);
  state_ = State::fields;
}

void Machine::read_field() noexcept {
  left_ -= field_bytes;
  value_ = word_at(&kept_[1]);
  in_sum_ = kept_[0] == checksum_type;
  if (value_ > left_) return refuse(Refusal::length);
  if (in_sum_ && (value_ != sum_.size() || has_sum_)) return refuse(Refusal::checksum);
  left_ -= value_;
  has_sum_ = has_sum_ || in_sum_;
  if (value_ == 0) return enter_fields();
  state_ = State::value;
}

void Machine::take_value(Bytes& input) noexcept {
  const Bytes piece = input.substr(0, value_);
  input.remove_prefix(piece.size());
  if (in_sum_) {
    // The checksum field itself counts as zeros in the checksum.
    for (const char c : piece) {
      sum_[sum_.size() - value_--] = c;
      crc_.add(Bytes("\0", 1));
    }
  } else {
    crc_.add(piece);
    value_ -= piece.size();
  }
  if (value_ != 0) return;
  if (state_ == State::skipped) {
    state_ = State::done;
  } else {
    enter_fields();
  }
}

void Machine::end_header() noexcept {
  const std::uint32_t sum =
      std::uint32_t{word_at(&sum_[0])} << 16 | std::uint32_t{word_at(&sum_[2])};
  if (has_sum_ && sum != crc_.value()) return refuse(Refusal::checksum);
  state_ = State::done;
}

void Machine::refuse(Refusal refusal) noexcept {
  refusal_ = refusal;
  state_ = State::refused;
}

}  // namespace katana::proxy

// SPDX-License-Identifier: Apache-2.0
