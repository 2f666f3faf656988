#include "katana/http/client/content_decoding.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "katana/wire/http/characters.hpp"

namespace katana::client {
namespace {

constexpr std::size_t decoded_turn_bytes = 64 * 1024;

// Sets no limit of the ratio: the decoded body is bounded in bytes, here or by the reader.
coding::DecoderLimits limits_of(std::uint64_t bytes_max) {
  return {.bytes_max = bytes_max, .ratio_max = std::numeric_limits<std::uint32_t>::max()};
}

std::unexpected<Error> malformed(http::Coding coding) {
  return fail(Code::data_loss,
              fmt::format("the content of the reply is not valid {}, or it is incomplete",
                          http::coding_name(coding)));
}

}  // namespace

std::optional<http::Coding> coding_of(const Response& response,
                                      const coding::Codecs& codecs) noexcept {
  std::optional<http::Coding> found;
  for (std::size_t index = 0; index < response.field_count(); ++index) {
    if (!http::equals_ignoring_case(response.name(index), "Content-Encoding")) continue;
    if (found) return {};
    found = http::coding_from(response.value(index));
    if (!found || !codecs.contains(*found)) return {};
  }
  return found;
}

Result<void> decode_content(Response& response, const coding::Codecs& codecs,
                            std::uint64_t bytes_max) {
  const auto coding = coding_of(response, codecs);
  Bytes coded = response.content();
  if (!coding || coded.empty()) return {};
  const auto decoder = codecs.make_decoder(*coding, limits_of(bytes_max));
  Text decoded;
  coding::Decoding state{};
  do {
    state = decoder->decode(coded, decoded_turn_bytes, decoded);
  } while (state == coding::Decoding::full);
  if (state == coding::Decoding::too_large) {
    return fail(Code::resource_exhausted,
                fmt::format("the content of the reply exceeds {} bytes once decoded ({}); raise "
                            "content_bytes_max, or read it with open()",
                            bytes_max, http::coding_name(*coding)));
  }
  if (!decoder->is_whole()) return malformed(*coding);
  response.set_decoded(std::move(decoded));
  return {};
}

ContentDecoder::ContentDecoder(http::Coding coding, const coding::Codecs& codecs)
    : coding_(coding),
      decoder_(codecs.make_decoder(coding, limits_of(std::numeric_limits<std::uint64_t>::max()))) {}

Result<Text> ContentDecoder::next(std::size_t bytes_max) {
  Text made;
  const coding::Decoding state = decoder_->decode(rest_, bytes_max, made);
  if (state == coding::Decoding::going || state == coding::Decoding::full) return made;
  return malformed(coding_);
}

void ContentDecoder::add(Text coded) noexcept {
  begun_ = true;
  coded_ = std::move(coded);
  rest_ = coded_.bytes();
}

Result<void> ContentDecoder::finish() const {
  if (begun_ && !decoder_->is_whole()) return malformed(coding_);
  return {};
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
