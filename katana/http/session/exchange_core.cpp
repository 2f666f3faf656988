#include "katana/http/session/exchange_core.hpp"

namespace katana::session {

void ExchangeCore::detach_head() {
  if (detached_ != nullptr) return;
  detached_.reset(new Detached);
  detached_->head_bytes.append(head_->bytes());
  detached_->head = *head_;
  detached_->head.rebase(detached_->head_bytes.data());
  head_ = &detached_->head;
}

bool ExchangeCore::return_head(bool kept) {
  if (detached_ != nullptr || head_ == nullptr) return false;
  note_head_bytes();
  if (kept || (mode == Mode::collect && content_pending)) {
    detach_head();
    return true;
  }
  head_ = nullptr;
  return false;
}

std::size_t ExchangeCore::kept_bytes(std::size_t more) const noexcept {
  std::size_t bytes = 0;
  if (detached_ != nullptr) {
    bytes += sizeof(Detached) + detached_->head_bytes.capacity() +
             detached_->content.capacity_with(more);
  }
  if (state) [[unlikely]]
    bytes += state->held_bytes();
  if (pending != nullptr) bytes += frame_bytes_counted + head_bytes_ + pending->held_bytes();
  return bytes;
}

bool ExchangeCore::stop_work(HeldMemory& memory) noexcept {
  pending.reset();
  release(memory);
  if (state) state->on_exchange_end(state);
  return state.is_shared();
}

// Without work that continues the places end here.
void ExchangeCore::leave(HeldMemory& memory, RequestPlaces places) noexcept {
  if (state.is_shared()) {
    state->places = std::move(places);
    state->charge = HeldCharge(memory, Holder::work);
    state->charge.set(state->held_bytes());
  }
  state.reset();
}

void ExchangeCore::drop_all(HeldMemory& memory) noexcept {
  stop_work(memory);
  leave(memory, {});
  detached_.reset();
}

ExchangeRecord ExchangeCore::record(Duration duration, std::uint32_t request, bool is_websocket,
                                    bool answers_head) const noexcept {
  const bool has_content =
      !answers_head && http::status_has_content(status) && status != http::reset_content;
  ExchangeRecord record{.route = route,
                        .status = status,
                        .content_bytes = has_content ? content_bytes : 0,
                        .duration = duration,
                        .request = request,
                        .end = end_reason,
                        .kind = is_websocket ? ExchangeKind::websocket
                                : patient    ? ExchangeKind::events
                                             : ExchangeKind::request};
  if (head_ != nullptr) {
    record.head = head_;
    record.method = head_->method_text();
    record.target = head_->target();
  }
  return record;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
