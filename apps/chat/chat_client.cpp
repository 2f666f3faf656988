#include "apps/chat/chat_client.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace katana::chat {
namespace {

Duration interval_of(std::uint32_t per_second) noexcept {
  return nanoseconds(1'000'000'000 / per_second);
}

}  // namespace

ChatClient::ChatClient(ChatProtocol& protocol, Outbox& outbox, std::uint64_t number, Instant now)
    : Member(number, outbox), protocol_(protocol), machine_(protocol.options().limits, now) {}

void ChatClient::cease() noexcept {
  if (number() == 0) return;
  hub().remove(*this, loss_);
  hub().directory().dismiss();
}

void ChatClient::begin(bool draining) {
  if (number() == 0) {
    hub().counters().turned_away.add(1);
    if (Observer* const observer = hub().options().observer) observer->on_turned_away();
    reply("! The server has as many connections as it may have: try again later.\n");
    finish(true);
  } else if (draining) {  // it was in the kernel's queue when the others were told
    drain();
  } else {
    (void)hub().join(*this, lobby_name);
    hub().recall(*this);
  }
}

// ---- input -------------------------------------------------------------------------------------

std::size_t ChatClient::read(Bytes input) noexcept {
  std::size_t consumed = 0;
  while (may_go_on()) {
    const Step step = machine_.next(input.substr(consumed), now());
    consumed += step.consumed;
    if (step.event == Event::need_bytes) break;
    obey(step);
    if (ending()) break;
  }
  return consumed;
}

// Backpressure is not to call next().
bool ChatClient::may_go_on() noexcept {
  if (paused() || claims_name()) return false;
  if (!hub().may_publish(*this)) {
    wait_for_relay();
    hub().wait_to_publish(*this);
    return false;
  }
  return is_within_rate();
}

bool ChatClient::is_within_rate() noexcept {
  const ChatOptions& options = protocol_.options();
  if (options.rate_max_per_s == 0) return true;
  const Instant allowed_at = {rate_mark_.ns -
                              interval_of(options.rate_max_per_s).ns * options.rate_burst};
  if (now() >= allowed_at) return true;
  throttled_until_ = allowed_at;
  wait_for_rate();
  hub().counters().throttles.add(1);
  return false;
}

void ChatClient::obey(const Step& step) noexcept {
  if (const std::uint32_t rate = protocol_.options().rate_max_per_s; rate != 0) {
    rate_mark_ = std::max(rate_mark_, now()) + interval_of(rate);
  }
  switch (step.event) {
    case Event::message: hub().publish(*this, step.text); break;
    case Event::join: join(step.text); break;
    case Event::leave:
      if (room() == Directory::lobby()) {
        refuse("You are in the lobby: /join ROOM goes elsewhere, /quit ends the connection.");
      } else {
        join(lobby_name);
      }
      break;
    case Event::who: list_members_to(step.text); break;
    case Event::nick: rename(step.text); break;
    case Event::quit: end("* Goodbye.\n", Loss::left); break;
    case Event::refused: refuse(text_of(step.refusal).sentence); break;
    case Event::ping_due:
      hub().counters().pings.add(1);
      reply("* ping: send a line, an empty one will do\n");
      break;
    case Event::timed_out:
      hub().counters().timeouts.add(1);
      end("* You were silent for too long. Goodbye.\n", Loss::left);
      break;
    case Event::empty:
    case Event::closed:
    case Event::need_bytes: break;
  }
}

void ChatClient::join(Bytes room) {
  if (hub().join(*this, room)) {
    reply(fmt::format("* You are in room {}.\n", room));
    hub().recall(*this);
  } else {
    refuse("There are as many rooms as there may be: join one of them.");
  }
}

void ChatClient::list_members_to(Bytes room) {
  Directory& directory = hub().directory();
  const std::string here = room.empty() ? directory.name_of(this->room()) : std::string(room);
  const auto presence = directory.who(here, protocol_.options().who_names_max);
  if (!presence) {
    refuse("There is no such room.");
    return;
  }
  std::string line = fmt::format("* {} in room {}: {}", presence->members, presence->room,
                                 fmt::join(presence->names, ", "));
  if (presence->names.size() < presence->members) {
    line += fmt::format(" and {} more", presence->members - presence->names.size());
  }
  line += '\n';
  reply(line);
}

void ChatClient::rename(Bytes name) {
  const Naming naming = hub().rename(*this, name);
  if (naming == Naming::pending) {
    wait_for_relay();  // the next line waits for the decision about the name
  } else {
    tell_name(name, naming == Naming::given);
  }
}

void ChatClient::tell_name(Bytes name, bool given) noexcept {
  if (given) {
    reply(fmt::format("* You are {}.\n", name));
  } else {
    refuse("Somebody has that name, or may have it by number: choose another.");
  }
}

void ChatClient::on_name_decided(Bytes name, bool given) noexcept {
  if (ending()) return;
  tell_name(name, given);
  on_output();
  on_may_publish();
  on_turn();
}

void ChatClient::on_renamed(Bytes before) noexcept {
  if (ending()) return;
  reply(fmt::format("* You are {} now: {} is somebody else on another server.\n", name(), before));
  on_output();
}

void ChatClient::refuse(Bytes why) noexcept {
  hub().counters().refused.add(1);
  reply(fmt::format("! {}\n", why));
}

void ChatClient::reply(Bytes lines) noexcept {
  if (!put(lines)) {
    give_up();
    return;
  }
  note_reply();
}

// ---- ends --------------------------------------------------------------------------------------

void ChatClient::leave() noexcept {
  machine_.end_of_input();
  end({}, Loss::left);
}

// The bytes in the outbox are still sent. No line is cut off in the middle.
void ChatClient::on_too_slow(std::uint64_t messages_dropped) noexcept {
  loss_ = Loss::disconnected;
  reply(
      fmt::format("* You read too slowly: {} messages were dropped. Goodbye.\n", messages_dropped));
  finish(true);
}

bool ChatClient::shed() noexcept {
  if (hub().drop_for_memory(*this)) return true;
  loss_ = Loss::disconnected;
  hub().counters().disconnects.add(1);
  return false;
}

void ChatClient::end(Bytes last_line, Loss otherwise) noexcept {
  loss_ = otherwise;
  hub().leave(*this);
  hub().refill_for_end(*this, otherwise);
  // Without room for it the client is not told why; it sees the end.
  if (!last_line.empty()) (void)put(last_line);
  finish(!last_line.empty());
}

void ChatClient::drain() noexcept {
  if (ending()) return;
  hub().flush_for_end();  // earlier messages come before the farewell
  if (ending()) return;   // it was too much for this one
  const std::string& farewell = protocol_.options().farewell;
  end(farewell.empty() ? std::string() : fmt::format("* {}\n", farewell), Loss::draining);
}

// ---- time --------------------------------------------------------------------------------------

bool ChatClient::end_throttle() noexcept {
  if (now() < throttled_until_) return false;
  throttled_until_ = never;
  machine_.restart_deadline(now());
  return true;
}

void ChatClient::meet_deadline() noexcept {
  // While it is not read, silence is not the client's doing.
  if (paused()) machine_.restart_deadline(now());
  machine_.on_deadline(now());
  for (;;) {
    const Step step = machine_.next({}, now());
    if (step.event == Event::need_bytes || step.event == Event::closed) break;
    obey(step);
  }
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
