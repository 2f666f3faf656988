#include "katana/http/handlers/decompression.hpp"

#include <algorithm>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/content_coding.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana::detail {
namespace {

Reply unsupported(const coding::Codecs& codecs) {
  return problem(problem_types::unsupported_coding,
                 "The content is in a coding that is not known here; Accept-Encoding names "
                 "those that are.")
      .with("Accept-Encoding", codecs.names());
}

// Several codings could multiply their ratios, and clients do not need them.
std::optional<http::Coding> single_coding(const http::Head& head, bool& malformed) {
  std::optional<http::Coding> found;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!http::equals_ignoring_case(head.name(index), "Content-Encoding")) continue;
    Bytes element;
    for (http::ListReader list(head.value(index)); list.next(element);) {
      const auto coding = http::coding_from(element);
      if (coding == http::Coding::identity) continue;
      malformed = malformed || !coding || found;
      found = coding;
    }
  }
  return found;
}

}  // namespace

std::expected<std::unique_ptr<ContentDecoder>, Reply> ContentDecoder::make(
    const http::Head& head, const DecompressionOptions& options, std::uint64_t bytes_max) {
  bool malformed = false;
  const auto coding = single_coding(head, malformed);
  if (malformed || (coding && !options.codecs.contains(*coding))) {
    return std::unexpected(unsupported(options.codecs));
  }
  if (!coding) return nullptr;
  coding::DecoderLimits limits;
  limits.bytes_max = std::min(options.bytes_max, bytes_max);
  limits.ratio_max = std::max<std::uint32_t>(1, options.ratio_max);
  return std::unique_ptr<ContentDecoder>(
      new ContentDecoder(options.codecs.make_decoder(*coding, limits)));
}

std::expected<Text, Reply> ContentDecoder::decode_whole(Bytes coded, HeldMemory& memory) {
  constexpr std::size_t step_bytes = 64 * 1024;  // between two checks of the memory
  Text out;
  memory_ = &memory;
  do {
    state_ = decoder_->decode(coded, step_bytes, out);
    if (!memory.grow(Holder::request, charged_, held_bytes() + out.capacity())) {
      return std::unexpected(
          problem(problem_types::memory_scarce, "There is no memory for the content at present.")
              .with("Retry-After", "1"));
    }
  } while (state_ == coding::Decoding::full);
  if (state_ == coding::Decoding::going && decoder_->is_whole()) return out;
  if (state_ == coding::Decoding::going) state_ = coding::Decoding::malformed;
  return std::unexpected(refusal());
}

void ContentDecoder::append(Bytes coded, bool last) {
  waiting_.append(coded);
  last_ = last;
  has_more_ = true;
}

bool ContentDecoder::read(std::size_t bytes_max, Text& out) {
  Bytes input = waiting_.bytes().substr(begin_);
  state_ = decoder_->decode(input, bytes_max, out);
  begin_ = waiting_.size() - input.size();
  if (begin_ == waiting_.size()) {
    waiting_.clear();
    begin_ = 0;
  }
  has_more_ = state_ == coding::Decoding::full;
  if (state_ == coding::Decoding::going && last_) {
    ended_ = true;
    if (!decoder_->is_whole()) state_ = coding::Decoding::malformed;
  }
  failed_ = state_ != coding::Decoding::going && state_ != coding::Decoding::full;
  return !failed_;
}

Reply ContentDecoder::refusal() const {
  switch (state_) {
    case coding::Decoding::too_large:
      return problem(problem_types::content_too_large,
                     "The decoded content is larger than this resource takes.");
    case coding::Decoding::too_dense:
      return problem(problem_types::content_too_large,
                     "The content decodes to more than its size allows here.");
    default:
      return problem(problem_types::malformed_body,
                     "The content is not in the coding that the request names.");
  }
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
