#include "katana/wire/postgres/messages.hpp"

#include <algorithm>

#include "katana/base/system/check.hpp"

namespace katana::postgres {
namespace {

constexpr std::uint32_t null_size = 0xffff'ffff;

// The size of a value.
std::uint32_t size_at(const char* at) noexcept { return read_number<std::uint32_t>(at); }

constexpr bool is_digit(char octet) noexcept { return octet >= '0' && octet <= '9'; }

// SQL standard: five digits and upper-case letters.
bool is_sqlstate(Bytes text) noexcept {
  return text.size() == 5 && std::ranges::all_of(text, [](char octet) {
           return is_digit(octet) || (octet >= 'A' && octet <= 'Z');
         });
}

bool is_format(std::uint16_t code) noexcept { return code <= 1; }

// A single text is the whole body.
bool is_text(Bytes body) noexcept { return !body.empty() && body.find('\0') == body.size() - 1; }

// Nothing: no number, or one that has more than 64 bits.
std::optional<std::uint64_t> number_of(Bytes text) noexcept {
  if (text.empty() || text.size() > 19 || !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char digit : text) number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  return number;
}

Bytes* field_of(Report& report, char code) noexcept {
  switch (code) {
    case 'C': return &report.sqlstate;
    case 'M': return &report.message;
    case 'D': return &report.detail;
    case 'H': return &report.hint;
    case 'P': return &report.position;
    case 'p': return &report.internal_position;
    case 'q': return &report.internal_query;
    case 'W': return &report.where;
    case 's': return &report.schema;
    case 't': return &report.table;
    case 'c': return &report.column;
    case 'd': return &report.type;
    case 'n': return &report.constraint;
    case 'F': return &report.file;
    case 'L': return &report.line;
    case 'R': return &report.routine;
    default: return nullptr;  // of a later server
  }
}

}  // namespace

bool Fields::next(Field& field) noexcept {
  if (taken_ == count_) return false;
  field.name = reader_.take_text();
  field.table = reader_.take_32();
  field.column = reader_.take_16();
  field.type = reader_.take_32();
  field.type_bytes = static_cast<std::int16_t>(reader_.take_16());
  field.modifier = static_cast<std::int32_t>(reader_.take_32());
  field.format = reader_.take_16() == 1 ? Format::binary : Format::text;
  taken_ = reader_.is_good() ? static_cast<std::uint16_t>(taken_ + 1) : count_;
  return reader_.is_good();
}

bool Row::next(Value& value) noexcept {
  if (taken_ == count_) return false;
  const std::uint32_t size = reader_.take_32();
  value.is_null = size == null_size && reader_.is_good();
  value.bytes = value.is_null ? Bytes() : reader_.take(size);
  taken_ = reader_.is_good() ? static_cast<std::uint16_t>(taken_ + 1) : count_;
  return reader_.is_good();
}

bool ParameterTypes::next(std::uint32_t& type) noexcept {
  if (taken_ == count_) return false;
  type = reader_.take_32();
  taken_ = reader_.is_good() ? static_cast<std::uint16_t>(taken_ + 1) : count_;
  return reader_.is_good();
}

bool CopyFormats::next(Format& format) noexcept {
  if (taken_ == count_) return false;
  format = reader_.take_16() == 1 ? Format::binary : Format::text;
  taken_ = reader_.is_good() ? static_cast<std::uint16_t>(taken_ + 1) : count_;
  return reader_.is_good();
}

Tag tag_of(Bytes body) noexcept {
  const Bytes text = ByteReader(body).take_text();
  const std::size_t blank = text.rfind(' ');
  if (blank == Bytes::npos) return {text, std::nullopt};
  return {text, number_of(text.substr(blank + 1))};
}

Report report_of(Bytes body) noexcept {
  Report report;
  ByteReader reader(body);
  Bytes translated_severity;
  while (const char code = static_cast<char>(reader.take_8())) {
    const Bytes text = reader.take_text();
    if (code == 'S') translated_severity = text;
    if (code == 'V') report.severity = text;
    if (Bytes* const field = field_of(report, code)) *field = text;
  }
  if (report.severity.empty()) report.severity = translated_severity;
  return report;
}

Setting setting_of(Bytes body) noexcept {
  ByteReader reader(body);
  const Bytes name = reader.take_text();
  return {name, reader.take_text()};
}

Notification notification_of(Bytes body) noexcept {
  ByteReader reader(body);
  Notification made;
  made.process = reader.take_32();
  made.channel = reader.take_text();
  made.payload = reader.take_text();
  return made;
}

BackendKey backend_key_of(Bytes body) noexcept {
  ByteReader reader(body);
  const std::uint32_t process = reader.take_32();
  return {process, reader.rest()};
}

Transaction transaction_of(Bytes body) noexcept {
  return Transaction{body.empty() ? 'E' : body.front()};
}

Refusal check_fields(Bytes body) noexcept {
  ByteReader reader(body);
  const std::uint16_t count = reader.take_16();
  for (std::uint16_t at = 0; at < count && reader.is_good(); ++at) {
    reader.take_text();
    reader.take(16);
    if (!is_format(reader.take_16())) return Refusal::bad_description;
  }
  return reader.is_at_end() && count <= columns_max ? Refusal::none : Refusal::bad_description;
}

// The hottest of the checks: it runs for each row.
Refusal check_row(Bytes body) noexcept {
  if (body.size() < 2) return Refusal::bad_row;
  const std::uint16_t count = ByteReader(body).take_16();
  const char* at = body.data() + 2;
  std::size_t left = body.size() - 2;
  for (std::uint16_t column = 0; column < count; ++column) {
    if (left < 4) return Refusal::bad_row;
    const std::uint32_t size = size_at(at);
    at += 4;
    left -= 4;
    if (size == null_size) continue;
    if (size > left) return Refusal::bad_row;
    at += size;
    left -= size;
  }
  return left == 0 && count <= columns_max ? Refusal::none : Refusal::bad_row;
}

std::uint16_t read_row(Bytes body, std::span<Bytes> values) noexcept {
  const std::uint16_t count = ByteReader(body).take_16();
  KATANA_REQUIRE(values.size() >= count);
  KATANA_REQUIRE(take_row(body, values.first(count)));
  return count;
}

bool take_row(Bytes body, std::span<Bytes> values) noexcept {
  if (body.size() < 2 || ByteReader(body).take_16() != values.size()) return false;
  const char* at = body.data() + 2;
  const char* const end = body.data() + body.size();
  for (Bytes& value : values) {
    if (end - at < 4) return false;
    const std::uint32_t size = size_at(at);
    at += 4;
    if (size == null_size) {
      value = Bytes();
    } else if (size <= static_cast<std::size_t>(end - at)) {
      value = Bytes(at, size);
      at += size;
    } else {
      return false;
    }
  }
  return at == end;
}

Refusal check_parameter_types(Bytes body) noexcept {
  ByteReader reader(body);
  reader.take(std::size_t{reader.take_16()} * 4);
  return reader.is_at_end() ? Refusal::none : Refusal::bad_description;
}

Refusal check_copy_formats(Bytes body) noexcept {
  ByteReader reader(body);
  const std::uint8_t overall = reader.take_8();
  if (!is_format(overall)) return Refusal::bad_copy;
  const std::uint16_t count = reader.take_16();
  for (std::uint16_t at = 0; at < count && reader.is_good(); ++at) {
    const std::uint16_t format = reader.take_16();
    // "If the overall COPY format is textual, all of these must be zero."
    if (!is_format(format) || format > overall) return Refusal::bad_copy;
  }
  return reader.is_at_end() && count <= columns_max ? Refusal::none : Refusal::bad_copy;
}

Refusal check_tag(Bytes body) noexcept {
  if (!is_text(body)) return Refusal::bad_text;
  const Bytes text = body.substr(0, body.size() - 1);
  const bool is_plain =
      std::ranges::all_of(text, [](char octet) { return octet >= ' ' && octet <= '~'; });
  return is_plain && !text.empty() ? Refusal::none : Refusal::bad_tag;
}

Refusal check_report(Bytes body) noexcept {
  ByteReader reader(body);
  while (reader.take_8() != 0) reader.take_text();
  if (!reader.is_at_end()) return Refusal::bad_report;
  const Report report = report_of(body);
  const bool is_whole = !report.severity.empty() && is_sqlstate(report.sqlstate);
  return is_whole ? Refusal::none : Refusal::bad_report;
}

Refusal check_setting(Bytes body) noexcept {
  ByteReader reader(body);
  const bool has_name = !reader.take_text().empty();
  reader.take_text();
  return reader.is_at_end() && has_name ? Refusal::none : Refusal::bad_setting;
}

Refusal check_notification(Bytes body) noexcept {
  ByteReader reader(body);
  reader.take_32();
  const bool has_channel = !reader.take_text().empty();
  reader.take_text();
  return reader.is_at_end() && has_channel ? Refusal::none : Refusal::bad_notification;
}

Refusal check_transaction(Bytes body) noexcept {
  const bool is_one = body == "I" || body == "T" || body == "E";
  return is_one ? Refusal::none : Refusal::bad_transaction;
}

Refusal check(Reply type, Bytes body) noexcept {
  switch (type) {
    case Reply::row_description: return check_fields(body);
    case Reply::data_row: return check_row(body);
    case Reply::parameter_description: return check_parameter_types(body);
    case Reply::copy_in:
    case Reply::copy_out: return check_copy_formats(body);
    case Reply::command_complete: return check_tag(body);
    case Reply::error:
    case Reply::notice: return check_report(body);
    case Reply::parameter_status: return check_setting(body);
    case Reply::notification: return check_notification(body);
    case Reply::ready: return check_transaction(body);
    default: return Refusal::none;  // without a body, COPY data, or of a start
  }
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
