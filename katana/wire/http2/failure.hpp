// Failure: why a connection ends, with the code that its GOAWAY carries and a sentence for it.
//
// All are the other side's doing but the last two rows. The caller counts them: a row is a metric.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/http2/frame.hpp"

namespace katana::http2 {

// Why a connection ends. failure_texts has code, label and sentence of each.
enum class Failure : std::uint8_t {
  none,  // it was idle, or the program closes it
  // ---- malformed ----
  bad_preface,
  bad_frame,
  bad_frame_size,
  bad_settings,
  bad_stream,
  closed_stream,
  broken_block,
  compression,
  flow_control,
  // ---- attacks ----
  rapid_reset,
  made_reset,
  continuation_flood,
  header_bomb,
  settings_flood,
  ping_flood,
  empty_frame_flood,
  window_flood,
  other_flood,
  // ---- time ----
  head_timeout,
  settings_timeout,
  // ---- ours ----
  no_room,
  count_,
};

// The code and the texts of a Failure.
struct FailureText {
  ErrorCode code;  // of GOAWAY
  Bytes name;      // of the metric's label
  Bytes detail;    // the debug data of GOAWAY
};

// Code, label and sentence by Failure.
inline constexpr std::array<FailureText, static_cast<std::size_t>(Failure::count_)> failure_texts =
    {{
        {ErrorCode::no_error, "idle", ""},
        {ErrorCode::protocol_error, "bad_preface",
         "The connection does not begin with the preface and SETTINGS (RFC 9113 §3.4)."},
        {ErrorCode::protocol_error, "bad_frame",
         "A frame is malformed, or stands where it may not (RFC 9113 §6)."},
        {ErrorCode::frame_size_error, "bad_frame_size",
         "A frame has a size that its type does not have (RFC 9113 §4.2)."},
        {ErrorCode::protocol_error, "bad_settings",
         "A setting has a value that it may not have (RFC 9113 §6.5.2)."},
        {ErrorCode::protocol_error, "bad_stream",
         "A frame names a stream that it cannot be for (RFC 9113 §5.1.1)."},
        {ErrorCode::stream_closed, "closed_stream",
         "A frame is for a stream that its sender has ended (RFC 9113 §5.1)."},
        {ErrorCode::protocol_error, "broken_block",
         "A header block is interrupted by another frame (RFC 9113 §6.10)."},
        {ErrorCode::compression_error, "compression",
         "A header block cannot be decoded (RFC 7541)."},
        {ErrorCode::flow_control_error, "flow_control",
         "More was sent than the window allowed, or a window is too large (RFC 9113 §6.9)."},
        {ErrorCode::enhance_your_calm, "rapid_reset",
         "Too many requests were given up before their replies."},
        {ErrorCode::enhance_your_calm, "made_reset", "Too many streams had to be reset."},
        {ErrorCode::enhance_your_calm, "continuation_flood",
         "A header block has too many frames, or is too large."},
        {ErrorCode::enhance_your_calm, "header_bomb",
         "A header block decodes to far more than is accepted."},
        {ErrorCode::enhance_your_calm, "settings_flood", "Too many SETTINGS frames."},
        {ErrorCode::enhance_your_calm, "ping_flood", "Too many PING frames."},
        {ErrorCode::enhance_your_calm, "empty_frame_flood", "Too many DATA frames without data."},
        {ErrorCode::enhance_your_calm, "window_flood", "Too many WINDOW_UPDATE frames."},
        {ErrorCode::enhance_your_calm, "other_flood", "Too many frames that change nothing."},
        {ErrorCode::no_error, "head_timeout", "A frame or a header block was not completed."},
        {ErrorCode::settings_timeout, "settings_timeout",
         "SETTINGS were not acknowledged in time (RFC 9113 §6.5.3)."},
        {ErrorCode::internal_error, "no_room", "There is no room to answer."},
    }};

// Lives as long as the program.
constexpr const FailureText& text_of(Failure failure) noexcept {
  return failure_texts[static_cast<std::size_t>(failure)];
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
