#include "katana/testing/pending_reply.hpp"

#include "katana/base/system/check.hpp"

namespace katana::testing {

bool PendingReply::is_done() const noexcept { return state_->reply.has_value(); }

TestReply PendingReply::reply() {
  detail::PendingState& state = *state_;
  if (!state.reply) state.loop->wait([&] { return state.reply.has_value(); }, {});
  if (!state.reply) state.connection->reset(state, state.loop->no_reply());
  KATANA_CHECK(state.reply);
  return *state.reply;
}

unsigned PendingReply::status() const noexcept { return state_->status; }

std::optional<std::string_view> PendingReply::header(std::string_view name) const noexcept {
  const std::string* const value = detail::find_field(state_->fields, name);
  return value != nullptr ? std::optional<std::string_view>(*value) : std::nullopt;
}

std::string_view PendingReply::content_so_far() const noexcept {
  return state_->reply ? std::string_view(state_->reply->content()) : state_->content;
}

std::string PendingReply::take_content() {
  if (state_->reply) return state_->reply->take_content();
  state_->content_was_taken = true;
  return std::exchange(state_->content, {});
}

const std::vector<TestReply>& PendingReply::interim_replies() const noexcept {
  return state_->interims;
}

bool PendingReply::wait_for(const std::function<bool()>& holds, Duration limit) {
  const auto is_over = [&] { return holds() || state_->reply.has_value(); };
  if (!is_over()) state_->loop->wait(is_over, limit);
  return holds();
}

bool PendingReply::wait_for_head() {
  return wait_for([&] { return state_->status != 0; }, {});
}

bool PendingReply::wait_for_interim_reply() {
  const std::size_t before = state_->interims.size();
  return wait_for([&] { return state_->interims.size() > before; }, {});
}

bool PendingReply::wait_for_content(std::size_t bytes) {
  return wait_for([&] { return content_so_far().size() >= bytes; }, {});
}

void PendingReply::run() {
  if (state_->connection == nullptr) return;
  // A handler that writes for ever must not block the test for ever.
  constexpr std::size_t enough_bytes = std::size_t{256} * 1024;
  const std::size_t enough = state_->received + enough_bytes;
  state_->loop->run_network(
      [&] { return state_->reply.has_value() || state_->received >= enough; });
}

bool PendingReply::send_some(std::string_view piece) {
  if (state_->connection == nullptr || !state_->in_pieces) return false;
  state_->connection->send(*state_, piece, false);
  run();
  return true;
}

bool PendingReply::finish() {
  if (state_->connection == nullptr || !std::exchange(state_->in_pieces, false)) return false;
  state_->connection->send(*state_, {}, true);
  run();
  return true;
}

void PendingReply::pause_reading() {
  if (state_->connection != nullptr) state_->connection->set_reading(*state_, false);
}

void PendingReply::resume_reading() {
  if (state_->connection == nullptr) return;
  state_->connection->set_reading(*state_, true);
  run();
}

void PendingReply::reset() {
  if (state_->connection == nullptr) return;
  detail::ClientLoop& loop = *state_->loop;
  state_->connection->reset(*state_, "the client reset the connection");
  loop.run_network([] { return false; });
}

void PendingReply::half_close() {
  if (state_->connection == nullptr) return;
  state_->connection->half_close();
  run();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
