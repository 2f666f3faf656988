#include "katana/wire/postgres/requests.hpp"

#include "katana/wire/postgres/encoder.hpp"

namespace katana::postgres {
namespace {

constexpr std::uint32_t ssl_request_code = 80'877'103;
constexpr std::uint32_t gss_request_code = 80'877'104;
constexpr std::uint32_t cancel_request_code = 80'877'102;

// The header of a message without a type.
constexpr std::size_t length_bytes = 4;

bool has_zero(Bytes text) noexcept { return text.find('\0') != Bytes::npos; }

std::size_t text_bytes(Bytes text) noexcept { return text.size() + 1; }

// Whether a message with such a body can be written now.
Submitted admit(std::size_t body, const Output& output,
                std::size_t header = header_bytes) noexcept {
  if (body > request_bytes_max) return Submitted::too_large;
  return output.takes(body + header) ? Submitted::ok : Submitted::no_room;
}

Submitted check_name(Bytes name) noexcept {
  if (name.size() > name_bytes_max) return Submitted::name_too_long;
  return has_zero(name) ? Submitted::zero_byte : Submitted::ok;
}

// A message of one text.
Submitted write_text(char type, Bytes text, const Output& output) noexcept {
  if (has_zero(text)) return Submitted::zero_byte;
  const Submitted admitted = admit(text_bytes(text), output);
  if (admitted != Submitted::ok) return admitted;
  Encoder(type, text_bytes(text), output).put_text(text);
  return Submitted::ok;
}

// A message of any bytes.
Submitted write_bytes(char type, Bytes bytes, const Output& output) noexcept {
  const Submitted admitted = admit(bytes.size(), output);
  if (admitted == Submitted::ok) Encoder(type, bytes.size(), output).put(bytes);
  return admitted;
}

// A message about a statement or a portal.
Submitted write_kind(char type, Kind kind, Bytes name, const Output& output) noexcept {
  if (const Submitted named = check_name(name); named != Submitted::ok) return named;
  const std::size_t body = 1 + text_bytes(name);
  const Submitted admitted = admit(body, output);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder(type, body, output);
  encoder.put_8(static_cast<std::uint8_t>(kind));
  encoder.put_text(name);
  return Submitted::ok;
}

void put_formats(std::span<const Format> formats, Encoder& encoder) noexcept {
  encoder.put_16(static_cast<std::uint16_t>(formats.size()));
  for (const Format format : formats) encoder.put_16(static_cast<std::uint16_t>(format));
}

}  // namespace

Submitted write_query(Bytes sql, const Output& output) noexcept {
  return write_text('Q', sql, output);
}

Submitted write_parse(const Parse& parse, const Output& output) noexcept {
  if (const Submitted named = check_name(parse.name); named != Submitted::ok) return named;
  if (has_zero(parse.sql)) return Submitted::zero_byte;
  if (parse.types.size() > values_max) return Submitted::too_large;
  const std::size_t body =
      text_bytes(parse.name) + text_bytes(parse.sql) + 2 + 4 * parse.types.size();
  const Submitted admitted = admit(body, output);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder('P', body, output);
  encoder.put_text(parse.name);
  encoder.put_text(parse.sql);
  encoder.put_16(static_cast<std::uint16_t>(parse.types.size()));
  for (const std::uint32_t type : parse.types) encoder.put_32(type);
  return Submitted::ok;
}

Submitted write_bind(const Bind& bind, const Output& output) noexcept {
  for (const Bytes name : {bind.portal, bind.statement}) {
    if (const Submitted named = check_name(name); named != Submitted::ok) return named;
  }
  if (bind.values.size() > values_max || bind.formats.size() > values_max ||
      bind.result_formats.size() > values_max) {
    return Submitted::too_large;
  }
  std::size_t body = text_bytes(bind.portal) + text_bytes(bind.statement) + 6 +
                     2 * (bind.formats.size() + bind.result_formats.size());
  for (const Value& value : bind.values) body += 4 + (value.is_null ? 0 : value.bytes.size());
  const Submitted admitted = admit(body, output);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder('B', body, output);
  encoder.put_text(bind.portal);
  encoder.put_text(bind.statement);
  put_formats(bind.formats, encoder);
  encoder.put_16(static_cast<std::uint16_t>(bind.values.size()));
  for (const Value& value : bind.values) {
    encoder.put_32(value.is_null ? 0xffff'ffff : static_cast<std::uint32_t>(value.bytes.size()));
    if (!value.is_null) encoder.put(value.bytes);
  }
  put_formats(bind.result_formats, encoder);
  return Submitted::ok;
}

Submitted write_describe(Kind kind, Bytes name, const Output& output) noexcept {
  return write_kind('D', kind, name, output);
}

Submitted write_close(Kind kind, Bytes name, const Output& output) noexcept {
  return write_kind('C', kind, name, output);
}

Submitted write_execute(Bytes portal, std::uint32_t rows_max, const Output& output) noexcept {
  if (const Submitted named = check_name(portal); named != Submitted::ok) return named;
  if (rows_max > 0x7fff'ffff) return Submitted::too_large;  // a negative number is no limit
  const std::size_t body = text_bytes(portal) + 4;
  const Submitted admitted = admit(body, output);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder('E', body, output);
  encoder.put_text(portal);
  encoder.put_32(rows_max);
  return Submitted::ok;
}

Submitted write_sync(const Output& output) noexcept { return write_bytes('S', {}, output); }
Submitted write_flush(const Output& output) noexcept { return write_bytes('H', {}, output); }
Submitted write_terminate(const Output& output) noexcept { return write_bytes('X', {}, output); }

Submitted write_copy_data(Bytes data, const Output& output) noexcept {
  return write_bytes('d', data, output);
}
Submitted write_copy_done(const Output& output) noexcept { return write_bytes('c', {}, output); }
Submitted write_copy_fail(Bytes why, const Output& output) noexcept {
  return write_text('f', why, output);
}

Submitted write_cancel(const BackendKey& key, const Output& output) noexcept {
  if (key.key.empty() || key.key.size() > cancel_key_bytes_max) return Submitted::wrong_state;
  const std::size_t body = 8 + key.key.size();
  const Submitted admitted = admit(body, output, length_bytes);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder(body, output);
  encoder.put_32(cancel_request_code);
  encoder.put_32(key.process);
  encoder.put(key.key);
  return Submitted::ok;
}

Submitted write_password(Bytes password, const Output& output) noexcept {
  return write_text('p', password, output);
}

Submitted write_sasl_initial(Bytes mechanism, Bytes message, const Output& output) noexcept {
  if (has_zero(mechanism)) return Submitted::zero_byte;
  const std::size_t body = text_bytes(mechanism) + 4 + message.size();
  const Submitted admitted = admit(body, output);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder('p', body, output);
  encoder.put_text(mechanism);
  encoder.put_32(static_cast<std::uint32_t>(message.size()));
  encoder.put(message);
  return Submitted::ok;
}

Submitted write_sasl(Bytes message, const Output& output) noexcept {
  return write_bytes('p', message, output);
}

Submitted write_startup(std::uint32_t version, std::span<const StartupParameter> parameters,
                        const Output& output) noexcept {
  std::size_t body = 4 + 1;
  for (const auto& [name, value] : parameters) {
    // An empty name would end the list.
    if (name.empty() || has_zero(name) || has_zero(value)) return Submitted::zero_byte;
    body += text_bytes(name) + text_bytes(value);
  }
  if (body + length_bytes > startup_bytes_max) return Submitted::too_large;
  const Submitted admitted = admit(body, output, length_bytes);
  if (admitted != Submitted::ok) return admitted;
  Encoder encoder(body, output);
  encoder.put_32(version);
  for (const auto& [name, value] : parameters) {
    encoder.put_text(name);
    encoder.put_text(value);
  }
  encoder.put_8(0);
  return Submitted::ok;
}

Submitted write_encryption_request(Encryption encryption, const Output& output) noexcept {
  const Submitted admitted = admit(4, output, length_bytes);
  if (admitted != Submitted::ok) return admitted;
  Encoder(4, output).put_32(encryption == Encryption::tls ? ssl_request_code : gss_request_code);
  return Submitted::ok;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
