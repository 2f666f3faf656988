#include "katana/http/client/upload.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

namespace katana::client {

Upload::Upload(ReactorContext& context, Call& call) noexcept
    : TimerEntry(&Upload::on_timer), context_(context), call_(call) {
  call.set_upload(*this);
}

void Upload::begin() noexcept {
  if (std::exchange(begun_, true)) return;
  if (!call_.outgoing().expects) return read_later();
  waits_ = true;
  const Instant now = context_.reactor().now();
  context_.reactor().timers().arm(*this, now + context_.options().continue_timeout);
}

void Upload::go() noexcept {
  if (!std::exchange(waits_, false)) return;
  cancel();
  read_later();
}

void Upload::advance(std::size_t bytes) noexcept {
  taken_ += bytes;
  if (!ready().empty()) return;
  piece_ = Text();
  taken_ = 0;
  if (!ended_) read_later();
}

void Upload::run() noexcept {
  if (call_.done()) return;
  consumed_ = true;
  pulling_.emplace(pull());
  pulling_->start();
}

Task<void> Upload::pull() {
  std::optional<Error> problem;
  try {
    auto piece = co_await call_.outgoing().source->read();
    if (piece) {
      take(*std::move(piece));
    } else {
      problem = piece.error().within("content of the request");
    }
  } catch (const std::exception& thrown) {
    problem = Error(Code::internal,
                    fmt::format("the source of the request's content threw: {}", thrown.what()));
  } catch (...) {
    problem = Error(Code::internal, "the source of the request's content threw");
  }
  if (problem && !call_.done()) call_.abort(*std::move(problem));
}

void Upload::take(Text piece) noexcept {
  if (call_.done()) return;
  total_ += piece.size();
  ended_ = piece.empty();
  const std::int64_t declared = call_.outgoing().content_length;
  const auto length = static_cast<std::uint64_t>(declared);
  if (declared != http::unknown_length && (total_ > length || (ended_ && total_ < length))) {
    return call_.abort(
        Error(Code::invalid_argument,
              fmt::format("the source of the request's content gave {} {} bytes, but {} were "
                          "declared",
                          ended_ ? "only" : "at least", total_, length)));
  }
  piece_ = std::move(piece);
  taken_ = 0;
  call_.announce_upload();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
