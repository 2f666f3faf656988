// MultipartReader: multipart/form-data (RFC 7578, RFC 2046 §5.1) as a function of bytes.
//
// Owns       a few words of state and the boundary. No bytes: those that next() does not consume
//            stay with the caller.
// Thread     its user's only.
// Allocates  never.
// Fails      input that is malformed or beyond the limits is MultipartEvent::refused, and refusal()
//            says why; no event follows it.
// Invariant  the events are a function of the bytes, however they are cut, but for the cuts of a
//            part's content. Each byte is searched once.
//
// The caller pulls: next() gives at most one event and says how much input it used. After a
// need_bytes that used some input, the rest may still have an event.
//
//   before    --boundary                 a part's head follows; bytes before it are skipped
//   head      name: value CRLF … CRLF    Event::part
//   content   any bytes                  Event::content, as often as it takes
//   content   CRLF --boundary            Event::part_end; then CRLF: head, or "--": Event::end
//   after     anything                   skipped
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// Limits of one form. Beyond them the reader refuses with the reason.
struct MultipartLimits {
  std::size_t head_bytes_max = 8 * 1024;  // of one part; the caller has to hold as many
  std::size_t head_fields_max = 16;
  std::uint32_t parts_max = 1000;
  std::uint64_t part_bytes_max = UINT64_MAX;  // content of one part
  std::size_t preamble_bytes_max = 1024;      // before the first part
};

// The events of next(). need_bytes: no event, until more input comes.
enum class MultipartEvent : std::uint8_t { need_bytes, part, content, part_end, end, refused };

//   malformed       not multipart/form-data
//   head_too_large  of a part
//   too_many_parts
//   part_too_large
// Why a form was refused:
enum class MultipartRefusal : std::uint8_t {
  none,            // it was not
  malformed,       // not multipart/form-data, or cut off
  head_too_large,  // MultipartLimits::head_bytes_max or head_fields_max
  too_many_parts,  // MultipartLimits::parts_max
  part_too_large   // MultipartLimits::part_bytes_max
};

// The headers of a part, borrowed from the input of the call that reported it.
struct MultipartPart {
  Bytes name;      // as it was sent: browsers send UTF-8, and %22 for a quote (RFC 7578 §5.1)
  Bytes filename;  // the same; never a path to write to
  bool has_filename = false;  // false: the part is no file
  Bytes content_type;         // empty: text/plain (RFC 7578 §4.4)
};

class MultipartReader {
 public:
  // The boundary of a Content-Type field's value; nothing when it is not multipart/form-data or has
  // none that is well-formed.
  static std::optional<Bytes> boundary_of(Bytes content_type) noexcept;

  // REQUIRES a boundary as boundary_of() gives it.
  explicit MultipartReader(Bytes boundary, const MultipartLimits& limits = {}) noexcept;

  // The result of one call of next().
  struct Step {
    MultipartEvent event;  // at most one for each call
    std::size_t consumed;  // bytes of the input that are done with
  };
  // REQUIRES `input` to begin with the bytes that the last call did not consume.
  Step next(Bytes input) noexcept;

  const MultipartPart& part() const noexcept { return part_; }  // of the last MultipartEvent::part
  // The bytes of the last MultipartEvent::content.
  Bytes content() const noexcept { return content_; }
  MultipartRefusal refusal() const noexcept { return refusal_; }
  // Event::end has been reported: without it the content ended too soon.
  bool ended() const noexcept { return state_ == State::after; }

 private:
  enum class State : std::uint8_t { before, delimiter, head, content, after, refused };

  static constexpr std::size_t boundary_bytes_max = 70;  // RFC 2046 §5.1.1

  Bytes delimiter() const noexcept { return {delimiter_.data(), delimiter_size_}; }
  Step next_before(Bytes input) noexcept;
  Step next_delimiter(Bytes input) noexcept;
  Step next_head(Bytes input) noexcept;
  Step next_content(Bytes input) noexcept;
  bool read_head(Bytes head) noexcept;
  bool read_field(Bytes name, Bytes value) noexcept;
  bool read_disposition(Bytes value) noexcept;
  Step refuse(MultipartRefusal refusal) noexcept;

  MultipartLimits limits_;
  std::array<char, boundary_bytes_max + 4> delimiter_;  // CRLF "--" and the boundary
  std::size_t delimiter_size_ = 0;
  MultipartPart part_;
  Bytes content_;
  std::size_t searched_ = 0;        // of a head that is not complete
  std::uint64_t content_left_ = 0;  // that the part may have
  std::size_t preamble_left_ = 0;
  std::uint32_t parts_left_ = 0;
  bool first_ = true;  // the first delimiter, which may have no CRLF before it
  State state_ = State::before;
  MultipartRefusal refusal_ = MultipartRefusal::none;
};

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
