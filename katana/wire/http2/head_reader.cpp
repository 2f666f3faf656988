#include "katana/wire/http2/head_reader.hpp"

#include <algorithm>
#include <cstring>

#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::http2 {

Priority parse_priority(Bytes value) noexcept {
  Priority priority;
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    Bytes part = value.substr(0, comma);
    value.remove_prefix(std::min(comma + 1, value.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (part.size() == 3 && part.starts_with("u=") && part[2] >= '0' && part[2] <= '7') {
      priority.urgency = static_cast<std::uint8_t>(part[2] - '0');
    }
    if (part == "i" || part == "i=?1") priority.incremental = true;
    if (part == "i=?0") priority.incremental = false;
  }
  return priority;
}

HeadVerdict HeadReader::read_request(Inflater& inflater, Bytes block) noexcept {
  if (kept_.is(inflater, block)) return HeadVerdict::accepted;
  const HeadVerdict verdict = read(inflater, block, false);
  if (verdict == HeadVerdict::accepted) kept_.keep(inflater, block);
  return verdict;
}

HeadVerdict HeadReader::read_trailers(Inflater& inflater, Bytes block) noexcept {
  return read(inflater, block, true);
}

HeadVerdict HeadReader::read(Inflater& inflater, Bytes block, bool trailers) noexcept {
  begin();
  const auto verdict = decode(inflater, block, limits_.head_decoded_bytes_max, listed_bytes_,
                              [&](Bytes name, Bytes value) { take(name, value, trailers); });
  if (verdict != Decoded::all) {
    return verdict == Decoded::bomb ? HeadVerdict::bomb : HeadVerdict::broken;
  }
  if (!trailers && !malformed_) judge();
  if (malformed_) return HeadVerdict::malformed;
  return status_ != 0 ? HeadVerdict::refused : HeadVerdict::accepted;
}

void HeadReader::begin() noexcept {
  kept_.forget();
  head_.begin(bytes_.data());
  head_.set_request_line(http::Method::get, {}, {}, 1);
  priority_ = {};
  content_length_ = no_length;
  listed_bytes_ = kept_bytes_ = cookies_ = 0;
  status_ = 0;
  seen_ = 0;
  regular_seen_ = malformed_ = expects_continue_ = false;
  host_ = {};
  scheme_text_ = {};
}

void HeadReader::take(Bytes name, Bytes value, bool trailers) noexcept {
  if (malformed_) return;
  if (listed_bytes_ > limits_.head_bytes_max) {
    refuse(431, "The head is larger than this server accepts (RFC 6585 §5).");
    return;
  }
  if (name.starts_with(':')) {
    // RFC 9113 §8.3: before all others, and none in trailers.
    if (trailers || regular_seen_) return spoil();
    take_pseudo(name, value);
    return;
  }
  regular_seen_ = true;
  if (!valid_name(name) || !valid_value(value) || is_about_connection(name)) return spoil();
  if (!trailers) take_field(name, value);
}

void HeadReader::take_pseudo(Bytes name, Bytes value) noexcept {
  const auto first = [this](Seen which) {
    if ((seen_ & which) != 0) spoil();
    seen_ = static_cast<std::uint8_t>(seen_ | which);
  };
  if (name == ":method") {
    first(method);
    if (value.empty() || !http::all_are(value, http::token_character)) return spoil();
    method_text_ = keep(value);
  } else if (name == ":path") {
    first(path);
    if (value.empty() || !http::all_are(value, http::target_character)) return spoil();
    target_ = keep(value);
  } else if (name == ":scheme") {
    first(scheme);
    scheme_text_ = value == "https" ? Bytes("https") : Bytes("http");
    if (value != "http" && value != "https") {
      if (!valid_value(value) || value.empty()) return spoil();
      refuse(421, "Only http and https are served here.");
    }
  } else if (name == ":authority") {
    first(authority);
    if (!valid_value(value)) return spoil();
    const http::Slice host_name = keep("host");
    authority_ = keep(value);
    host_ = {bytes_.data() + authority_.at, authority_.size};
    head_.add_field(host_name, authority_);
  } else if (name == ":protocol" && extended_connect_) {
    first(protocol);
    if (value.empty() || !http::all_are(value, http::token_character)) return spoil();
    const http::Slice upgrade = keep("upgrade");
    head_.add_field(upgrade, keep(value));
    // RFC 9220 §3.
    if (!http::equals_ignoring_case(value, "websocket")) {
      refuse(501, "The only protocol that is spoken on a stream here is websocket (RFC 8441).");
    }
  } else {
    spoil();
  }
}

void HeadReader::take_field(Bytes name, Bytes value) noexcept {
  if (!note(name, value)) return;
  if (head_.field_count() + (cookies_ != 0 ? 1 : 0) >= limits_.fields_max) {
    refuse(431, "The head has more fields than this server accepts (RFC 6585 §5).");
    return;
  }
  const http::Slice kept_name = keep(name);
  head_.add_field(kept_name, keep(value));
}

bool HeadReader::note(Bytes name, Bytes value) noexcept {
  switch (name.size()) {
    case 2:
      if (name == "te" && !http::equals_ignoring_case(value, "trailers")) spoil();
      break;
    case 4:
      if (name == "host") return note_host(value);
      break;
    case 6:
      if (name == "expect") {
        expects_continue_ = http::equals_ignoring_case(value, "100-continue");
        if (!expects_continue_) {
          refuse(417, "The only expectation known here is 100-continue (RFC 9110 §10.1.1).");
        }
      } else if (name == "cookie") {
        // Clients may send cookies in pieces, which compress better (RFC 9113 §8.2.3). All pieces
        // become one field.
        if (cookies_ == 0 ? head_.field_count() < limits_.fields_max
                          : cookies_ < limits_.fields_max) {
          cookie_slices_[cookies_++] = keep(value);
        } else {
          refuse(431, "The head has more fields than this server accepts (RFC 6585 §5).");
        }
        return false;
      }
      break;
    case 8:
      if (name == "priority") priority_ = parse_priority(value);
      break;
    case 14:
      if (name == "content-length" && !take_content_length(value, content_length_)) spoil();
      break;
    default: break;
  }
  return true;
}

// One host, whichever field names it: RFC 9113 §8.3.1 wants the two compared in their normal form.
// A second line is refused whatever it says, as in HTTP/1.1 (RFC 9112 §3.2).
bool HeadReader::note_host(Bytes value) noexcept {
  if ((seen_ & host) != 0) spoil();
  seen_ = static_cast<std::uint8_t>(seen_ | host);
  if ((seen_ & authority) == 0) {
    host_ = {bytes_.data() + kept_bytes_ + 4, value.size()};  // where it is kept
    return true;
  }
  if (!http::same_authority(host_, value, scheme_text_)) spoil();
  return false;
}

void HeadReader::judge() noexcept {
  if (cookies_ != 0) join_cookies();
  head_.set_bytes(kept_bytes_);
  if (status_ == 431) return;  // parts of it may be missing
  if ((seen_ & method) == 0) return spoil();
  const auto text = [this](http::Slice slice) {
    return Bytes(bytes_.data() + slice.at, slice.size);
  };
  http::Method known = http::method_from(text(method_text_));
  if (!judge_target(known)) return spoil();
  if (asks_upgrade()) {
    known = http::Method::get;
    method_text_ = keep("GET");
    head_.set_bytes(kept_bytes_);
  }
  head_.set_request_line(known, method_text_, target_, 1);
  head_.set_target_is_plain(known != http::Method::connect && text(target_).starts_with('/') &&
                            http::all_are(text(target_), http::plain_path_character));
  if (host_.empty()) {
    refuse(400, "A request needs an authority (RFC 9113 §8.3.1).");
  } else if (!http::all_are(host_, http::plain_host_character) && !http::valid_authority(host_)) {
    refuse(400, "The authority is not a host with an optional port (RFC 9113 §8.3.1).");
  }
}

bool HeadReader::judge_target(http::Method known) noexcept {
  const bool is_connect = known == http::Method::connect;
  if (asks_upgrade() && (!is_connect || (seen_ & authority) == 0)) return false;  // RFC 8441 §4
  if (is_connect && !asks_upgrade()) {
    // CONNECT names only the host to connect to (RFC 9113 §8.5).
    if ((seen_ & (scheme | path)) != 0 || (seen_ & authority) == 0) return false;
    target_ = authority_;
    return true;
  }
  if ((seen_ & (scheme | path)) != (scheme | path)) return false;
  const Bytes target{bytes_.data() + target_.at, target_.size};
  const bool is_asterisk = known == http::Method::options && target == "*";
  return target.starts_with('/') || is_asterisk;
}

void HeadReader::join_cookies() noexcept {
  http::Slice joined = cookie_slices_[0];
  if (cookies_ > 1) {
    std::size_t bytes = 0;
    for (std::size_t index = 0; index < cookies_; ++index) bytes += cookie_slices_[index].size + 2;
    if (kept_bytes_ + bytes > bytes_.size()) {
      refuse(431, "The cookies are larger than this server accepts (RFC 6585 §5).");
      return;
    }
    const std::size_t begin = kept_bytes_;
    for (std::size_t index = 0; index < cookies_; ++index) {
      if (index != 0) keep("; ");
      const http::Slice part = cookie_slices_[index];
      keep({bytes_.data() + part.at, part.size});
    }
    joined = {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(kept_bytes_ - begin)};
  }
  if (kept_bytes_ + 6 > bytes_.size()) {
    refuse(431, "The cookies are larger than this server accepts (RFC 6585 §5).");
    return;
  }
  head_.add_field(keep("cookie"), joined);
}

// A header list within the limit always fits: each field counts 32 bytes more than it has.
http::Slice HeadReader::keep(Bytes bytes) noexcept {
  const http::Slice slice{static_cast<std::uint16_t>(kept_bytes_),
                          static_cast<std::uint16_t>(bytes.size())};
  std::memcpy(bytes_.data() + kept_bytes_, bytes.data(), bytes.size());
  kept_bytes_ += bytes.size();
  return slice;
}

// The first reason counts; a head that is malformed is not answered.
void HeadReader::refuse(unsigned status, Bytes detail) noexcept {
  if (status_ != 0) return;
  status_ = static_cast<std::uint16_t>(status);
  detail_ = detail;
}

}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
