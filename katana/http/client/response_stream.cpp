#include "katana/http/client/response_stream.hpp"

namespace katana::client {
namespace {

constexpr std::size_t decoded_bytes_max = 64 * 1024;  // of one read()

}  // namespace

ResponseStream::ResponseStream(std::unique_ptr<Exchange> exchange, const coding::Codecs& codecs)
    : exchange_(std::move(exchange)) {
  if (!exchange_->outgoing.decodes || exchange_->outgoing.is_head) return;
  if (const auto coding = coding_of(head(), codecs)) {
    decoder_ = std::make_unique<ContentDecoder>(*coding, codecs);
  }
}

Task<Result<Text>> ResponseStream::read_coded() {
  Exchange& exchange = *exchange_;
  Call& call = exchange.call;
  call.want(Call::Wanted::content);
  co_await call;
  if (Text piece = call.take_content(); !piece.empty()) co_return piece;
  if (call.failed()) co_return std::unexpected(call.error().within(exchange.outgoing.name));
  co_return Text();
}

Task<Result<Text>> ResponseStream::read() {
  if (decoder_ == nullptr) return read_coded();
  return read_decoded();
}

Task<Result<Text>> ResponseStream::read_decoded() {
  for (;;) {
    auto decoded = decoder_->next(decoded_bytes_max);
    if (!decoded) co_return std::unexpected(decoded.error().within(exchange_->outgoing.name));
    if (!decoded->empty()) co_return *std::move(decoded);
    auto coded = co_await read_coded();
    if (!coded) co_return std::move(coded);
    if (coded->empty()) {
      const auto whole = decoder_->finish();
      if (!whole) co_return std::unexpected(whole.error().within(exchange_->outgoing.name));
      co_return Text();
    }
    decoder_->add(*std::move(coded));
  }
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
