// Refusal: a violation of the protocol that no NATS server should commit.
#pragma once

#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::nats {

enum class Refusal : std::uint8_t {
  none,               // the machine goes on
  unknown_operation,  // most often another protocol on that port
  line_too_long,      // Limits::line_bytes_max, or info_bytes_max
  bad_arguments,      // not as many as the operation has, or not of the right form
  bad_size,           // no number, or headers larger than the message
  message_too_large,  // more than the limit of the machine
  no_line_end,        // behind the bytes of a message
  count_,
};

// The reason in words, for an error message.
Bytes sentence_of(Refusal refusal) noexcept;

}  // namespace katana::nats

// SPDX-License-Identifier: Apache-2.0
