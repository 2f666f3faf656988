// Status codes: the names of those that IANA registers, and their status lines, ready to send.
//
// Owns      the text, for the life of the program.
// Borrows   nothing.
// Thread    any; the table is built by the compiler.
// Allocates never.
// Fails     an unregistered status has an empty phrase and an empty line.
// Invariant reason_phrase() and status_line() are one indexed load each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

namespace detail {

struct RegisteredStatus {
  std::uint16_t status;
  Bytes phrase;
};

// The IANA "HTTP Status Code Registry", without the unused 306 and 418 and the temporary 104.
inline constexpr auto registered_statuses = std::to_array<RegisteredStatus>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {510, "Not Extended"},
    {511, "Network Authentication Required"},
});

inline constexpr Bytes status_line_version = "HTTP/1.1 ";
inline constexpr std::size_t phrase_offset = status_line_version.size() + 4;  // three digits, SP
inline constexpr std::size_t status_line_overhead = phrase_offset + 2;        // and CR LF
inline constexpr unsigned status_min = 100;
inline constexpr unsigned status_max = 599;

constexpr std::size_t status_text_bytes() {
  std::size_t bytes = 0;
  for (const auto& entry : registered_statuses) bytes += status_line_overhead + entry.phrase.size();
  return bytes;
}

struct StatusTable {
  struct Line {
    std::uint16_t offset = 0;
    std::uint16_t size = 0;
  };

  std::array<char, status_text_bytes()> text{};
  std::array<Line, status_max - status_min + 1> lines{};

  // The line of an unknown status is empty.
  [[nodiscard]] constexpr Bytes line(unsigned status) const noexcept {
    if (status < status_min || status > status_max) return {};
    const Line line = lines[status - status_min];
    return Bytes{text.data() + line.offset, line.size};
  }
};

constexpr StatusTable make_status_table() {
  StatusTable table;
  std::size_t end = 0;
  const auto append = [&](Bytes text) {
    for (const char c : text) table.text[end++] = c;
  };
  for (const auto& [status, phrase] : registered_statuses) {
    const std::size_t begin = end;
    const std::array<char, 4> digits = {static_cast<char>('0' + status / 100),
                                        static_cast<char>('0' + status / 10 % 10),
                                        static_cast<char>('0' + status % 10), ' '};
    append(status_line_version);
    append(Bytes{digits.data(), digits.size()});
    append(phrase);
    append("\r\n");
    table.lines[status - status_min] = {static_cast<std::uint16_t>(begin),
                                        static_cast<std::uint16_t>(end - begin)};
  }
  return table;
}

inline constexpr StatusTable status_table = make_status_table();

}  // namespace detail

// "OK" for 200; empty for a status that is not registered.
[[nodiscard]] constexpr Bytes reason_phrase(unsigned status) noexcept {
  const Bytes line = detail::status_table.line(status);
  if (line.empty()) return {};
  return Bytes{line.data() + detail::phrase_offset, line.size() - detail::status_line_overhead};
}

// "HTTP/1.1 200 OK\r\n" for 200 (RFC 9112 §4); empty for a status that is not registered.
[[nodiscard]] constexpr Bytes status_line(unsigned status) noexcept {
  return detail::status_table.line(status);
}

// False for the responses that never have content, whatever their fields say (RFC 9110 §6.4.1).
// The caller handles the replies to HEAD.
[[nodiscard]] constexpr bool status_has_content(unsigned status) noexcept {
  return status >= 200 && status != 204 && status != 304;
}

// Reset Content: framed like a response with content, which is always empty (RFC 9110 §15.3.6).
inline constexpr unsigned reset_content = 205;

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
