#include "apps/chat/hub.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/text/format.hpp"

namespace katana::chat {
namespace {

// References of one outbox: what one gathered send takes.
constexpr std::uint32_t references_max = 64;
// A batch, with what stands in front of its bytes, is one piece of the recycler.
constexpr std::size_t batch_bytes = 16 * 1024 - sizeof(Block);
constexpr std::size_t prefix_bytes_max = 64;
constexpr std::size_t spare_drafts_max = 16;
// A member's own lines in a batch lie in so many places at most, or it gets a copy without them.
constexpr std::uint32_t own_places_max = 16;

}  // namespace

void HubOptions::fit_queue(std::size_t bytes) noexcept {
  queue_bytes_max = bytes;
  turn_bytes_max = std::min(turn_bytes_most, bytes / 4);
  window_bytes = turn_bytes_max;
}

Hub::FlushMessage::FlushMessage(Hub& owner) noexcept
    : Message([](Message& message) noexcept {
        Hub& owner_hub = static_cast<FlushMessage&>(message).hub;
        owner_hub.flush_due_ = false;  // not by flush(): a message is deferred once at a time
        owner_hub.flush();
      }),
      hub(owner) {}

Hub::OrdersBell::OrdersBell(Hub& owner) noexcept
    : Message(
          [](Message& message) noexcept { static_cast<OrdersBell&>(message).hub.run_orders(); }),
      hub(owner) {}

Hub::Hub(const HubOptions& options, Directory& directory, unsigned index, Turn& turn)
    : options_(options),
      directory_(directory),
      index_(index),
      turn_(turn),
      draft_bytes_max_(std::max(batch_bytes, options.line_bytes_max + prefix_bytes_max)),
      fair_turn_(options.turn_bytes_max) {
  KATANA_REQUIRE(options.queue_bytes_max >= queue_bytes_min);
  KATANA_REQUIRE(options.window_bytes <= options.queue_bytes_max / 4);
  KATANA_REQUIRE(options.turn_bytes_max <= options.queue_bytes_max / 4);
}

Hub::~Hub() {
  for (Outgoing& each : outgoing_) {
    for (const Relayed& left : each.overflow) left.block->drop();
  }
}

void Hub::connect(const std::vector<Hub*>& hubs) {
  for (Hub* const from : hubs) {
    if (hubs.size() > 1) from->fair_turn_.set_bytes_max(from->options_.turn_bytes_max / 2);
    for (Hub* const to : hubs) {
      if (from == to) continue;
      auto relay = std::make_unique<Relay>(
          from->options_.relay_batches_max,
          [](void* hub, Relay& rung) noexcept { static_cast<Hub*>(hub)->take_from(rung, false); },
          to, [](void* hub, Relay&) noexcept { static_cast<Hub*>(hub)->on_relay_writable(); },
          from);
      to->incoming_.push_back({from, relay.get(), 0});
      from->outgoing_.push_back({to, std::move(relay), {}});
    }
  }
}

// ---- members -----------------------------------------------------------------------------------

Hub::LocalRoom& Hub::local(RoomKey room) {
  if (rooms_.size() <= room.place) rooms_.resize(room.place + std::size_t{1});
  LocalRoom& found = rooms_[room.place];
  if (found.generation != room.generation) {
    KATANA_CHECK(found.members.empty() && found.draft == nullptr);
    found.generation = room.generation;
  }
  return found;
}

bool Hub::join(Member& member, Bytes room) {
  if (member.index_ != Member::nowhere && directory_.name_of(member.room_) == room) return true;
  const auto key = directory_.join(room, index_, member.number_, member.name());
  if (!key) return false;
  if (member.index_ != Member::nowhere) {
    if (options_.notices) announce(member, "left");
    leave(member);
  }
  LocalRoom& joined = local(*key);
  if (joined.draft != nullptr) seal(joined);  // the member does not get earlier messages
  member.room_ = *key;
  member.index_ = static_cast<std::uint32_t>(joined.members.size());
  joined.members.push_back(&member);
  counters_.members.add(1);
  if (options_.notices) announce(member, "joined");
  return true;
}

Naming Hub::rename(Member& member, Bytes name) {
  if (name == member.name()) return Naming::given;
  if (!directory_.take_name(name)) return Naming::taken;
  if (options_.names != nullptr) {
    // The name is kept for the member until the others have answered.
    member.claim_ = ++last_claim_;
    wishes_.emplace(member.claim_, Wish{&member, std::string(name)});
    options_.names->claim(index_, member.claim_, name);
    return Naming::pending;
  }
  take_name(member, name);
  return Naming::given;
}

void Hub::take_name(Member& member, Bytes name) {
  if (member.named_) lose_name(member.name());
  member.prefix_ = fmt::format("[{}] ", name);
  member.named_ = true;
  if (member.index_ != Member::nowhere) directory_.rename(member.room_, member.number_, name);
}

// No member here has it any more.
void Hub::lose_name(Bytes name) {
  if (options_.names != nullptr) options_.names->release(name);
  directory_.give_name(name);
}

void Hub::recall(Member& member) {
  if (options_.history == nullptr || member.index_ == Member::nowhere) return;
  const History::Recent recent = options_.history->recent(member.room_);
  if (recent.messages == 0) return;
  if (!member.put(fmt::format("* The last {} message{} of this room:\n{}", recent.messages,
                              recent.messages == 1 ? "" : "s", recent.lines))) {
    return;  // without output blocks there is no history
  }
  member.history_until_ = recent.until;
}

void Hub::leave(Member& member) noexcept {
  if (member.index_ == Member::nowhere) return;
  LocalRoom& room = rooms_[member.room_.place];
  if (room.draft != nullptr) seal(room);  // the member may have to get the messages so far
  // To be sealed may have been too much for it.
  if (member.index_ != Member::nowhere) detach(member);
}

void Hub::detach(Member& member) noexcept {
  LocalRoom& room = rooms_[member.room_.place];
  room.members.back()->index_ = member.index_;
  room.members[member.index_] = room.members.back();
  room.members.pop_back();
  member.index_ = Member::nowhere;
  counters_.members.subtract(1);
  const bool room_ended = directory_.leave(member.room_, index_, member.number_);
  if (room_ended && options_.history != nullptr) options_.history->forget(member.room_);
  member.history_until_ = 0;
}

void Hub::remove(Member& member, Loss why) noexcept {
  fair_turn_.forget(member);
  if (member.index_ != Member::nowhere && options_.notices) announce(member, "left");
  leave(member);
  (void)drop_backlog(member, why);
  // Messages told as a gap are counted already. A message in the outbox is lost unless its last
  // byte was taken. Lines that are not messages are the outbox's own, and nothing retains them.
  std::uint64_t lost = 0;
  member.outbox_.for_each_pending([&lost](Bytes bytes, const Retained* memory) {
    if (memory != nullptr) lost += static_cast<std::uint64_t>(std::ranges::count(bytes, '\n'));
  });
  counters_.of(why).add(lost);
  counters_.delivered.add(member.sent_messages_ - lost);
  member.sent_messages_ = 0;
  if (member.named_) lose_name(member.name());
  if (member.claim_ != 0) wishes_[member.claim_].member = nullptr;
}

// ---- what is said ------------------------------------------------------------------------------

void Hub::let_publish() noexcept {
  if (overflow_batches_ != 0) return;
  fair_turn_.let_on([](Sender& speaker) { static_cast<Member&>(speaker).on_may_publish(); },
                    [](Sender& speaker) { static_cast<Member&>(speaker).on_turn(); });
  // Senders that were let on may have nothing to say after all, and no other sender may begin a
  // turn.
  if (fair_turn_.anybody_waits()) flush_this_turn();
}

void Hub::publish(Member& member, Bytes text) {
  KATANA_REQUIRE(member.index_ != Member::nowhere && text.size() <= options_.line_bytes_max);
  counters_.message_bytes.add(put_line(member, member.prefix_, text));
  counters_.messages.add(1);
}

// "* alice joined": from the member, which does not get it.
void Hub::announce(Member& member, Bytes what) {
  (void)put_line(member, "* ", fmt::format("{} {}", member.name(), what));
}

// Returns how many bytes the line has.
std::size_t Hub::put_line(Member& member, Bytes prefix, Bytes text) {
  const std::size_t bytes = prefix.size() + text.size() + 1;
  Draft& draft = draft_for(member, bytes);
  const auto index = static_cast<std::uint32_t>(draft.spans.size());
  if (member.draft_number_ != draft.number) {
    member.draft_number_ = draft.number;
    member.first_span_ = index;
  } else {
    draft.spans[member.last_span_].next_of_member = index;
  }
  member.last_span_ = index;
  char* at = draft.bytes.get() + draft.size;
  std::memcpy(at, prefix.data(), prefix.size());
  at += prefix.size();
  std::memcpy(at, text.data(), text.size());  // a message is never empty
  at[text.size()] = '\n';
  const auto begin = static_cast<std::uint32_t>(draft.size);
  draft.size += bytes;
  fair_turn_.note_said(member, bytes);
  draft.spans.push_back({begin, static_cast<std::uint32_t>(draft.size), no_span});
  return bytes;
}

Hub::Draft& Hub::draft_for(Member& member, std::size_t bytes) {
  LocalRoom& room = rooms_[member.room_.place];
  // A line that is longer has its own batch.
  if (room.draft != nullptr && room.draft->size + bytes > batch_bytes) seal(room);
  if (room.draft != nullptr) return *room.draft;
  if (spare_drafts_.empty()) {
    room.draft = std::make_unique<Draft>();
    room.draft->bytes = std::make_unique_for_overwrite<char[]>(draft_bytes_max_);
  } else {
    room.draft = std::move(spare_drafts_.back());
    spare_drafts_.pop_back();
  }
  room.draft->number = ++draft_number_;
  room.draft->room = member.room_;
  drafted_.push_back(member.room_);
  flush_this_turn();
  return *room.draft;
}

void Hub::flush_this_turn() noexcept {
  if (std::exchange(flush_due_, true)) return;
  turn_.defer(flush_message_);
}

void Hub::flush() noexcept {
  for (std::size_t index = 0; index < drafted_.size(); ++index) {
    LocalRoom& room = rooms_[drafted_[index].place];
    if (room.draft != nullptr) seal(room);
  }
  drafted_.clear();
  fair_turn_.begin();
  ask_those_left();
  let_publish();
}

void Hub::flush_for_end() noexcept {
  for (Relay* const each : std::exchange(left_for_next_turn_, {})) take_from(*each, true);
  flush();
}

void Hub::seal(LocalRoom& room) {
  std::unique_ptr<Draft> draft = std::move(room.draft);
  Batch& batch = Block::make(draft->size, static_cast<std::uint32_t>(draft->spans.size()));
  std::memcpy(batch.block().data(), draft->bytes.get(), draft->size);
  counters_.batches.add(1);
  deliver(room, batch, *draft);
  Relayed relayed{
      draft->room, &batch.block(), 0, static_cast<std::uint32_t>(draft->size), batch.messages(), 0};
  if (options_.history != nullptr) relayed.sequence = options_.history->add(relayed);
  relay(relayed);
  batch.let_go();
  if (spare_drafts_.size() < spare_drafts_max) {
    draft->size = 0;
    draft->spans.clear();
    spare_drafts_.push_back(std::move(draft));
  }
}

// ---- to those who are to have it ---------------------------------------------------------------

// From the back, because a member that reads too slowly may leave its place to the last one.
void Hub::deliver(LocalRoom& room, Batch& batch, const Draft& own) {
  if (HeldMemory* const memory = turn_.memory()) batch.charge_to(*memory);
  const auto size = static_cast<std::uint32_t>(batch.bytes().size());
  for (std::size_t index = room.members.size(); index-- > 0;) {
    Member& member = *room.members[index];
    if (member.draft_number_ != own.number) {
      promise(member, batch, 0, size, batch.messages());
    } else {
      deliver_around_own(member, batch, own);
    }
  }
}

void Hub::deliver_relayed(const Relayed& relayed, Batch& batch) {
  if (tap_ != nullptr) {
    tap_->on_relayed(relayed, batch);
    return;
  }
  // All members may have left meanwhile, and others have made a room in that place.
  LocalRoom* const room = find_room(relayed.room);
  if (room == nullptr) return;
  if (HeldMemory* const memory = turn_.memory()) batch.charge_to(*memory);
  for (std::size_t index = room->members.size(); index-- > 0;) {
    Member& member = *room->members[index];
    if (relayed.sequence != 0 && relayed.sequence <= member.history_until_) continue;
    promise(member, batch, relayed.begin, relayed.size, relayed.messages);
  }
}

void Hub::deliver_around_own(Member& member, Batch& batch, const Draft& draft) {
  std::size_t own_bytes = 0;
  std::uint32_t places = 0;
  std::uint32_t behind_last = no_span;
  for (std::uint32_t at = member.first_span_; at != no_span; at = draft.spans[at].next_of_member) {
    own_bytes += draft.spans[at].end - draft.spans[at].begin;
    if (draft.spans[at].begin != behind_last) ++places;
    behind_last = draft.spans[at].end;
  }
  // A reference keeps the whole block. A member that has said most of it gets a copy of the rest.
  // Its charge is then at most twice the bytes that it receives. A member whose lines are scattered
  // gets a copy, too: many small references cost more time and memory than a copy.
  if (own_bytes == draft.size) return;
  if (own_bytes > draft.size / 2 || places > own_places_max) {
    deliver_copy(member, batch, draft);
    return;
  }
  std::uint32_t begin = 0;
  std::uint32_t first = 0;
  const auto promise_until = [&](std::uint32_t end, std::uint32_t index) {
    // Meanwhile the member may turn out to be too slow, and be removed.
    if (end != begin && member.index_ != Member::nowhere) {
      promise(member, batch, begin, end - begin, index - first);
    }
  };
  for (std::uint32_t at = member.first_span_; at != no_span; at = draft.spans[at].next_of_member) {
    promise_until(draft.spans[at].begin, at);
    begin = draft.spans[at].end;
    first = at + 1;
  }
  promise_until(static_cast<std::uint32_t>(draft.size),
                static_cast<std::uint32_t>(draft.spans.size()));
}

void Hub::deliver_copy(Member& member, Batch& batch, const Draft& draft) {
  std::size_t size = draft.size;
  std::uint32_t messages = batch.messages();
  for (std::uint32_t at = member.first_span_; at != no_span; at = draft.spans[at].next_of_member) {
    size -= draft.spans[at].end - draft.spans[at].begin;
    --messages;
  }
  Batch& copy = Block::make(size, messages);
  char* to = copy.block().data();
  std::uint32_t own = member.first_span_;
  for (std::uint32_t at = 0; at < draft.spans.size(); ++at) {
    const Span& span = draft.spans[at];
    if (at == own) {
      own = span.next_of_member;
      continue;
    }
    std::memcpy(to, batch.bytes().data() + span.begin, span.end - span.begin);
    to += span.end - span.begin;
  }
  if (HeldMemory* const memory = turn_.memory()) copy.charge_to(*memory);
  promise(member, copy, 0, static_cast<std::uint32_t>(size), messages);
  copy.let_go();
}

void Hub::promise(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
                  std::uint32_t messages) {
  counters_.due.add(messages);
  counters_.due_bytes.add(size);
  if (member.outbox_.empty()) note_sent(member);
  if (member.backlog_.empty() && refer(member, batch, begin, size, messages)) {
    member.on_output();
  } else {
    queue(member, batch, begin, size, messages);
  }
}

// Everything that the outbox referred to is with the kernel.
void Hub::note_sent(Member& member) noexcept {
  counters_.delivered.add(member.sent_messages_);
  member.sent_messages_ = 0;
  member.references_ = 0;
}

// An outbox that is empty takes a batch of any size.
bool Hub::refer(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
                std::uint32_t messages) noexcept {
  const std::size_t pending = member.outbox_.pending();
  if (pending != 0 && pending + size > options_.window_bytes) return false;
  if (member.references_ >= references_max) return false;
  if (!member.put(batch.bytes().substr(begin, size), batch)) return false;
  ++member.references_;
  member.sent_messages_ += messages;
  return true;
}

// ---- slow readers ------------------------------------------------------------------------------

// The batches charge themselves (deliver()), each once; this is the list of them.
void Hub::note_backlog(Member& member, std::size_t bytes_before) noexcept {
  counters_.queued_bytes.add(member.backlog_.charged_bytes() - bytes_before);
  if (HeldMemory* const memory = turn_.memory()) {
    memory->set(Holder::queue, member.held_, member.backlog_.list_bytes());
  }
}

void Hub::queue(Member& member, Batch& batch, std::uint32_t begin, std::uint32_t size,
                std::uint32_t messages) {
  const std::size_t before = member.backlog_.charged_bytes();
  member.backlog_.push(batch, begin, size, messages);
  note_backlog(member, before);
  if (queued_bytes(member) > options_.queue_bytes_max) limit_queue(member);
  counters_.queue_peak_bytes.raise_to(queued_bytes(member));
  if (member.index_ != Member::nowhere) member.on_backlog();
}

void Hub::limit_queue(Member& member) noexcept {
  if (options_.observer != nullptr && member.gap_ == 0) {
    options_.observer->on_slow_reader(member.number_, options_.slow_reader);
  }
  if (options_.slow_reader == SlowReader::disconnect) {
    const std::uint64_t dropped = drop_backlog(member, Loss::disconnected);
    counters_.disconnects.add(1);
    detach(member);
    member.on_too_slow(dropped);
    return;
  }
  drop_oldest(member, options_.queue_bytes_max);
}

bool Hub::drop_for_memory(Member& member) noexcept {
  if (member.backlog_.empty()) return false;
  if (options_.observer != nullptr && member.gap_ == 0) {
    options_.observer->on_slow_reader(member.number_, SlowReader::drop);
  }
  drop_oldest(member, 0);
  return true;
}

// Until the queue has at most so much.
void Hub::drop_oldest(Member& member, std::size_t bytes_max) noexcept {
  const std::size_t before = member.backlog_.charged_bytes();
  std::uint64_t dropped = 0;
  while (!member.backlog_.empty() && queued_bytes(member) > bytes_max) {
    dropped += member.backlog_.drop_oldest();
  }
  member.gap_ += dropped;
  counters_.of(Loss::slow_reader).add(dropped);
  note_backlog(member, before);
}

std::uint64_t Hub::drop_backlog(Member& member, Loss why) noexcept {
  const std::size_t before = member.backlog_.charged_bytes();
  const std::uint64_t dropped = member.backlog_.clear();
  note_backlog(member, before);
  counters_.of(why).add(dropped);
  return dropped;
}

// The gap lies between the lines of the outbox and the rest of the backlog.
bool Hub::report_gap(Member& member) noexcept {
  if (member.gap_ == 0 && member.missed_ == 0) return true;
  const auto tell = [&member](std::uint64_t& count, Bytes why) {
    if (count == 0) return true;
    fmt::memory_buffer line;
    fmt::format_to(fmt::appender(line), "* {} message{} {}\n", count,
                   count == 1 ? " was" : "s were", why);
    if (!member.put({line.data(), line.size()})) return false;
    count = 0;
    return true;
  };
  return tell(member.gap_, "dropped because you read too slowly") &&
         tell(member.missed_, "lost on the way from another server");
}

bool Hub::refill(Member& member) noexcept {
  if (member.outbox_.empty()) note_sent(member);
  if (!report_gap(member)) return false;
  const std::size_t before = member.backlog_.charged_bytes();
  while (!member.backlog_.empty()) {
    const Backlog::Entry& oldest = member.backlog_.front();
    if (!refer(member, *oldest.batch, oldest.begin, oldest.size, oldest.messages)) break;
    member.backlog_.pop();
  }
  if (before != 0) note_backlog(member, before);
  if (member.backlog_.empty()) return true;
  if (member.outbox_.empty()) return false;
  member.on_backlog();
  return true;
}

void Hub::refill_for_end(Member& member, Loss otherwise) noexcept {
  if (!report_gap(member)) member.gap_ = member.missed_ = 0;  // counted; no room to say so
  const std::size_t before = member.backlog_.charged_bytes();
  while (!member.backlog_.empty()) {
    const Backlog::Entry& oldest = member.backlog_.front();
    if (!member.put(oldest.bytes(), *oldest.batch)) break;
    member.sent_messages_ += oldest.messages;
    member.backlog_.pop();
  }
  counters_.of(otherwise).add(member.backlog_.clear());
  if (before != 0) note_backlog(member, before);
}

// ---- other reactors ----------------------------------------------------------------------------

void Hub::relay(const Relayed& relayed) {
  if (stopped_) return;
  for (Outgoing& each : outgoing_) {
    if (directory_.members_on(relayed.room, each.to->index_) == 0) continue;
    bool ring = false;
    counters_.relayed.add(1);
    if (each.overflow.empty() && each.relay->push(relayed, ring)) {
      if (ring) each.to->turn_.post(each.relay->batches_doorbell());
      continue;
    }
    relayed.block->share();
    each.overflow.push_back(relayed);
    ++overflow_batches_;
    counters_.relay_waits.add(1);
    push_overflow();
  }
}

void Hub::push_overflow() noexcept {
  for (Outgoing& each : outgoing_) {
    if (each.overflow.empty()) continue;
    std::size_t pushed = 0;
    do {
      bool ring = false;
      while (pushed < each.overflow.size() && each.relay->push(each.overflow[pushed], ring)) {
        each.overflow[pushed++].block->drop();  // the relay has its own share
        if (ring) each.to->turn_.post(each.relay->batches_doorbell());
      }
    } while (pushed < each.overflow.size() && !each.relay->wait_for_capacity());
    each.overflow.erase(each.overflow.begin(),
                        each.overflow.begin() + static_cast<std::ptrdiff_t>(pushed));
    overflow_batches_ -= pushed;
  }
}

void Hub::on_relay_writable() noexcept {
  if (stopped_) return;
  push_overflow();
  let_publish();
}

void Hub::take_from(Relay& relay, bool all) noexcept {
  if (stopped_) return;
  flush_this_turn();
  Incoming& incoming = *std::ranges::find(incoming_, &relay, &Incoming::relay);
  const auto has_capacity = [this, &incoming, all] {
    return all ||
           (taken_bytes_ < fair_turn_.bytes_max() && incoming.taken_bytes < relay_share_bytes_);
  };
  if (!has_capacity()) {
    left_for_next_turn_.push_back(&relay);
    return;
  }
  const auto [more, ring] = relay.take([this, &incoming, &has_capacity](const Relayed& relayed) {
    Batch& batch = relayed.block->adopt();
    taken_bytes_ += relayed.size;
    incoming.taken_bytes += relayed.size;
    deliver_relayed(relayed, batch);
    batch.let_go();
    return has_capacity();
  });
  if (more) left_for_next_turn_.push_back(&relay);
  if (ring) incoming.from->turn_.post(relay.writable_doorbell());
}

// If several relays have more than a turn holds, each gets the same share of the next turn. A relay
// that had to wait without having been asked at all comes first.
void Hub::ask_those_left() noexcept {
  const auto post = [this](bool asked) {
    for (Relay* const each : left_for_next_turn_) {
      const Incoming& of = *std::ranges::find(incoming_, each, &Incoming::relay);
      if ((of.taken_bytes != 0) == asked) turn_.post(each->batches_doorbell());
    }
  };
  post(false);
  post(true);
  relay_share_bytes_ =
      fair_turn_.bytes_max() / std::max<std::size_t>(1, left_for_next_turn_.size());
  left_for_next_turn_.clear();
  taken_bytes_ = 0;
  for (Incoming& each : incoming_) each.taken_bytes = 0;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
