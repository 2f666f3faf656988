#include "katana/wire/http2/reply_reader.hpp"

#include <cstring>

namespace katana::http2 {
HeadVerdict ReplyReader::read_head(Inflater& inflater, Bytes block) noexcept {
  if (kept_.is(inflater, block)) [[likely]] {
    return HeadVerdict::accepted;
  }
  const HeadVerdict verdict = read(inflater, block, false);
  if (verdict == HeadVerdict::accepted) kept_.keep(inflater, block);
  return verdict;
}

HeadVerdict ReplyReader::read_trailers(Inflater& inflater, Bytes block) noexcept {
  return read(inflater, block, true);
}

HeadVerdict ReplyReader::read(Inflater& inflater, Bytes block, bool trailers) noexcept {
  head_.begin(bytes_.data());
  content_length_ = no_length;
  kept_.forget();
  listed_bytes_ = kept_bytes_ = 0;
  status_ = 0;
  regular_seen_ = malformed_ = too_large_ = false;
  const auto decoded = decode(inflater, block, limits_.head_decoded_bytes_max, listed_bytes_,
                              [&](Bytes name, Bytes value) { take(name, value, trailers); });
  if (decoded != Decoded::all) {
    return decoded == Decoded::bomb ? HeadVerdict::bomb : HeadVerdict::broken;
  }
  head_.set_bytes(kept_bytes_);
  if (malformed_ || (!trailers && !too_large_ && status_ == 0)) return HeadVerdict::malformed;
  return too_large_ ? HeadVerdict::refused : HeadVerdict::accepted;
}

void ReplyReader::take(Bytes name, Bytes value, bool trailers) noexcept {
  if (malformed_ || too_large_) return;
  if (listed_bytes_ > limits_.head_bytes_max) {
    too_large_ = true;
    return;
  }
  if (name.starts_with(':')) {
    // RFC 9113 §8.3: one, before all others, and none in trailers.
    if (trailers || regular_seen_ || name != ":status" || status_ != 0) {
      malformed_ = true;
    } else {
      take_status(value);
    }
    return;
  }
  regular_seen_ = true;
  if (!valid_name(name) || !valid_value(value) || is_about_connection(name) ||
      (name == "content-length" && !take_content_length(value, content_length_))) {
    malformed_ = true;
    return;
  }
  if (head_.field_count() >= limits_.fields_max) {
    too_large_ = true;
    return;
  }
  const http::Slice kept_name = keep(name);
  head_.add_field(kept_name, keep(value));
}

// Three digits; from 600 on they mean 5xx (RFC 9110 §15). 101 is of HTTP/1.1 alone (RFC 9113 §8.6).
void ReplyReader::take_status(Bytes value) noexcept {
  const bool is_number = value.size() == 3 && http::all_are(value, http::digit_character);
  if (is_number) {
    status_ = static_cast<std::uint16_t>((value[0] - '0') * 100 + (value[1] - '0') * 10 +
                                         (value[2] - '0'));
  }
  if (status_ < 100 || status_ == 101) malformed_ = true;
}

// A header list within the limit always fits: each field counts 32 bytes more than it has.
http::Slice ReplyReader::keep(Bytes bytes) noexcept {
  const http::Slice slice{static_cast<std::uint16_t>(kept_bytes_),
                          static_cast<std::uint16_t>(bytes.size())};
  if (!bytes.empty()) std::memcpy(bytes_.data() + kept_bytes_, bytes.data(), bytes.size());
  kept_bytes_ += bytes.size();
  return slice;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
