#include "katana/chat/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/core/reactor.hpp"

namespace katana::chat {
namespace {

Duration interval_of(std::uint32_t per_second) noexcept {
  return nanoseconds(1'000'000'000 / per_second);
}

}  // namespace

ChatSession::ChatSession(ChatProtocol& protocol, core::Connection& connection, std::uint64_t number)
    : Member(number, connection.outbox()),
      protocol_(protocol),
      connection_(connection),
      machine_(protocol.options().limits, connection.reactor().now()) {
  if (number == 0) {
    hub().counters().turned_away.add(1);
    if (Observer* const observer = hub().options().observer) observer->on_turned_away();
    reply("! The server has as many connections as it may have: try again later.\n");
    connection_.finish(core::Finish::linger);
    return;
  }
  if (connection.reactor().draining()) {  // it was in the kernel's queue when the others were told
    on_drain();
    return;
  }
  (void)hub().join(*this, lobby_name);
  update_deadline();
}

ChatSession::~ChatSession() {
  if (number() == 0) return;
  hub().remove(*this, loss_);
  hub().directory().dismiss();
}

// ---- input -------------------------------------------------------------------------------------

std::size_t ChatSession::on_bytes(Bytes input) noexcept {
  std::size_t consumed = 0;
  while (may_go_on()) {
    const Step step = machine_.next(input.substr(consumed), now());
    consumed += step.consumed;
    if (step.event == Event::need_bytes) break;
    obey(step);
    if (connection_.finishing()) break;
  }
  update_deadline();
  return consumed;
}

// Backpressure is not to call next().
bool ChatSession::may_go_on() noexcept {
  if (connection_.paused()) return false;
  if (!hub().may_publish()) {
    connection_.pause(core::PauseReason::relay_full);
    hub().wait_to_publish(*this);
    return false;
  }
  return is_within_rate();
}

bool ChatSession::is_within_rate() noexcept {
  const ChatOptions& options = protocol_.options();
  if (options.rate_max_per_s == 0) return true;
  const Instant allowed_at = {rate_mark_.ns -
                              interval_of(options.rate_max_per_s).ns * options.rate_burst};
  if (now() >= allowed_at) return true;
  connection_.pause(core::PauseReason::throttled);
  throttled_until_ = allowed_at;
  hub().counters().throttles.add(1);
  return false;
}

void ChatSession::obey(const Step& step) noexcept {
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
    case Event::who: tell_who(step.text); break;
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

void ChatSession::join(Bytes room) {
  if (hub().join(*this, room)) {
    reply(fmt::format("* You are in room {}.\n", room));
  } else {
    refuse("There are as many rooms as there may be: join one of them.");
  }
}

void ChatSession::tell_who(Bytes room) {
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

void ChatSession::rename(Bytes name) {
  if (hub().rename(*this, name)) {
    reply(fmt::format("* You are {}.\n", name));
  } else {
    refuse("Somebody has that name, or may have it by number: choose another.");
  }
}

void ChatSession::refuse(Bytes why) noexcept {
  hub().counters().refused.add(1);
  reply(fmt::format("! {}\n", why));
}

void ChatSession::reply(Bytes lines) noexcept {
  if (!connection_.outbox().write(lines)) {
    connection_.reset();
    return;
  }
  (void)connection_.output_full();  // who does not read replies may not ask for more
}

void ChatSession::on_input_end() noexcept {
  // Paused, it has lines that were not read yet; it is told again when they are.
  if (connection_.finishing() || connection_.paused()) return;
  machine_.end_of_input();
  end({}, Loss::left);
}

// ---- output ------------------------------------------------------------------------------------

void ChatSession::on_backlog() noexcept {
  connection_.want_room();
  connection_.wake();
}

void ChatSession::on_room() noexcept {
  if (!hub().refill(*this)) (void)connection_.output_full();
}

void ChatSession::on_may_publish() noexcept {
  connection_.resume(core::PauseReason::relay_full);
  machine_.restart_deadline(now());
  connection_.wake();
}

// What the outbox has is still sent, so that nothing ends in the midst of a line.
void ChatSession::on_too_slow(std::uint64_t messages_dropped) noexcept {
  loss_ = Loss::disconnected;
  reply(
      fmt::format("* You read too slowly: {} messages were dropped. Goodbye.\n", messages_dropped));
  connection_.finish(core::Finish::linger);
  connection_.wake();
}

// ---- ends --------------------------------------------------------------------------------------

void ChatSession::end(Bytes last_line, Loss otherwise) noexcept {
  loss_ = otherwise;
  hub().leave(*this);
  hub().refill_for_end(*this, otherwise);
  // Without room for it the peer is not told why; it sees the end.
  if (!last_line.empty()) (void)connection_.outbox().write(last_line);
  connection_.finish(last_line.empty() ? core::Finish::close : core::Finish::linger);
}

void ChatSession::on_drain() noexcept {
  if (connection_.finishing()) return;
  hub().flush();                        // what was said before comes before the farewell
  if (connection_.finishing()) return;  // it was too much for this one
  const std::string& farewell = protocol_.options().farewell;
  end(farewell.empty() ? std::string() : fmt::format("* {}\n", farewell), Loss::draining);
}

// ---- time --------------------------------------------------------------------------------------

void ChatSession::on_deadline() noexcept {
  if (connection_.finishing()) return;
  if (now() >= throttled_until_) {
    throttled_until_ = never;
    connection_.resume(core::PauseReason::throttled);
    machine_.restart_deadline(now());
  }
  // While it is not read, silence is not the peer's doing.
  if (connection_.paused()) machine_.restart_deadline(now());
  machine_.on_deadline(now());
  for (;;) {
    const Step step = machine_.next({}, now());
    if (step.event == Event::need_bytes || step.event == Event::closed) break;
    obey(step);
  }
  update_deadline();
}

void ChatSession::update_deadline() noexcept {
  connection_.set_deadline(std::min(machine_.deadline(), throttled_until_));
}

}  // namespace katana::chat
