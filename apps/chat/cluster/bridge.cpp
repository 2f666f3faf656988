#include "apps/chat/cluster/bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/spawn.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::chat::cluster {
namespace {

// A claim's token is its hub's, and the hub.
constexpr unsigned claim_bits = 48;
constexpr Duration drain_look = milliseconds(5);
constexpr std::size_t histories_max = 1024;
// The number of former rooms that are kept for each place.
constexpr std::uint32_t places_kept = 8;

HubOptions own_options(HubOptions options) {
  options.observer = nullptr;
  options.names = nullptr;
  options.history = nullptr;
  return options;
}

}  // namespace

Bridge::Alarm::Alarm(Bridge& owner) noexcept
    : TimerEntry(
          [](net::TimerEntry& entry) noexcept { static_cast<Alarm&>(entry).bridge.on_alarm(); }),
      bridge(owner) {}

Bridge::Doorbell::Doorbell(Bridge& owner) noexcept
    : Message(
          [](Message& message) noexcept { static_cast<Doorbell&>(message).bridge.on_doorbell(); }),
      bridge(owner) {}

Bridge::Bridge(const BridgeOptions& options, bus::Bus& bus, Directory& directory,
               const HubOptions& hub_options, unsigned index)
    : options_(options),
      bus_(bus),
      directory_(directory),
      node_(options.cluster, *this, roster_),
      hub_options_(hub_options),
      index_(index),
      hub_(own_options(hub_options), directory, index, *this),
      subject_all_(options.prefix + ".all") {
  hub_.set_tap(*this);
}

Bridge::~Bridge() { KATANA_CHECK(reactor_ == nullptr); }

void Bridge::attach(net::Reactor& reactor, const std::vector<Hub*>& hubs) {
  reactor_ = &reactor;
  hubs_ = hubs;
  directory_.attach(
      roster_, [](void* bridge) noexcept { static_cast<Bridge*>(bridge)->ring(); }, this);
}

Result<void> Bridge::start() {
  if (reactor_ == nullptr) return {};  // it ended before it began
  const auto on_frame_of = [this](const bus::Delivery& message) { on_frame(message); };
  for (const std::string& subject :
       {subject_all_, fmt::format("{}.to.{:016x}", options_.prefix, node_.id())}) {
    auto subscribed = subscribe(subject, on_frame_of);
    if (!subscribed) return std::unexpected(subscribed.error());
    subscriptions_.push_back(*std::move(subscribed));
  }
  node_.start(reactor_->now());
  auto spawned = reactor_->tasks().spawn(stop_when_drained(), "chat cluster: goodbye");
  if (!spawned) return spawned;
  arm();
  return {};
}

// All members leave when a reactor drains; their last lines have been handed over by then.
Task<void> Bridge::stop_when_drained() {
  co_await reactor_->drain_begun().wait();
  do {
    co_await net::sleep_for(drain_look);
    take_changes();
  } while (!rooms_.empty());
  // The last lines of the members were posted before the members left.
  co_await net::sleep_for(drain_look);
  hub_.flush_for_end();
  node_.stop(reactor_->now());
}

void Bridge::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  directory_.detach();
  alarm_.cancel();
  hub_.stop();
  rooms_.clear();
  subscriptions_.clear();
  reactor_ = nullptr;
}

// ---- what reactors tell it ---------------------------------------------------------------------

void Bridge::ring() noexcept {
  const std::lock_guard lock(mutex_);
  // Under the lock, so that nothing is posted once end() has returned.
  if (!ended_ && !std::exchange(rung_, true)) reactor_->post(doorbell_);
}

void Bridge::claim(unsigned hub, std::uint64_t token, Bytes name) {
  {
    const std::lock_guard lock(mutex_);
    wishes_.push_back({std::uint64_t{hub} << claim_bits | token, std::string(name)});
  }
  ring();
}

void Bridge::release(Bytes name) {
  {
    const std::lock_guard lock(mutex_);
    wishes_.push_back({0, std::string(name)});
  }
  ring();
}

void Bridge::on_doorbell() noexcept {
  if (reactor_ == nullptr) return;  // a reactor that is destroyed runs its posted messages
  {
    const std::lock_guard lock(mutex_);
    rung_ = false;
  }
  take_changes();
  take_wishes();
  arm();
}

void Bridge::take_wishes() {
  std::vector<Wish> wishes;
  {
    const std::lock_guard lock(mutex_);
    wishes.swap(wishes_);
  }
  for (const Wish& each : wishes) {
    if (each.token == 0) {
      node_.release_name(each.name);
    } else {
      node_.claim_name(each.token, each.name, reactor_->now());
    }
  }
}

void Bridge::take_changes() {
  for (ChangedRoom& each : directory_.take_changed(options_.cluster.names_max)) {
    if (each.members > 0) {
      Room& room = rooms_[each.name];
      // The old place is not valid for a room that has ended and begun again.
      if (room.key != each.key) {
        room.outward = false;
        room.untold = UINT64_MAX;
      }
      room.name = each.name;
      room.key = each.key;
      note_place(each.key, each.name);
    }
    node_.on_local_room({each.name, each.members, std::move(each.first)}, reactor_->now());
  }
}

void Bridge::on_alarm() noexcept {
  node_.on_deadline(reactor_->now());
  arm();
}

void Bridge::arm() noexcept {
  const Instant due = node_.deadline();
  if (due == never) {
    alarm_.cancel();
  } else if (!alarm_.armed() || due < alarm_.expiry()) {
    reactor_->timers().arm(alarm_, due);
  }
}

std::string Bridge::subject_of(Bytes room) const {
  return fmt::format("{}.room.{}", options_.prefix, bus::escape_token(room));
}

void Bridge::note_place(RoomKey key, const std::string& room) {
  const std::uint64_t first = std::uint64_t{key.place} << 32;
  const std::uint64_t at = first | key.generation;
  if (!places_.try_emplace(at, Place{room, subject_of(room)}).second) return;
  if (key.generation < places_kept) return;
  places_.erase(places_.lower_bound(first), places_.upper_bound(at - places_kept));
}

const Bridge::Place* Bridge::find_place(RoomKey key) const {
  const auto found = places_.find(std::uint64_t{key.place} << 32 | key.generation);
  return found == places_.end() ? nullptr : &found->second;
}

// A batch of a reactor here.
void Bridge::on_relayed(const Relayed& relayed, Batch& batch) {
  const Place* const place = find_place(relayed.room);
  if (place == nullptr) {  // too many rooms have ended there: no server knows its name
    counters_.not_published.add(relayed.messages);
    return;
  }
  const Node::Said said = node_.said(place->name, relayed.messages);
  if (relayed.sequence != 0) {
    hub_options_.history->set_origin(relayed.room, relayed.sequence, {node_.id(), said.first});
  }
  if (!said.wanted) return;
  const std::string stamp = write(BatchStamp{node_.id(), said.first, relayed.messages});
  const bus::Header header{stamp_header, stamp};
  const auto published = bus_.publish({.subject = place->subject,
                                       .payload = batch.bytes().substr(relayed.begin, relayed.size),
                                       .headers = {&header, 1},
                                       .memory = &batch});
  if (!published) {
    counters_.not_published.add(relayed.messages);
    if (options_.observer != nullptr) {
      options_.observer->on_not_published(relayed.messages, published.error());
    }
    return;
  }
  counters_.published.add(relayed.messages);
  counters_.published_batches.add(1);
  counters_.published_bytes.add(relayed.size);
}

// ---- what the bus brings -----------------------------------------------------------------------

Result<bus::Subscription> Bridge::subscribe(const std::string& subject, bus::Handler handler) {
  bus::SubscribeOptions options;
  options.own = false;
  options.on_notice = [this](const bus::Notice& notice) { on_notice(notice); };
  return bus_.subscribe(subject, std::move(handler), std::move(options));
}

// The numbers of the streams say which messages were lost, as soon as the others have told theirs.
void Bridge::on_notice(const bus::Notice& notice) {
  if (options_.observer != nullptr && notice.kind != bus::NoticeKind::missed) {
    options_.observer->on_bus_notice(bus::name_of(notice.kind));
  }
  if (notice.kind == bus::NoticeKind::disconnected) return;
  node_.on_bus_gap(reactor_->now());
  arm();
}

void Bridge::on_frame(const bus::Delivery& message) {
  const auto head = read_head(message.payload());
  if (!head) {
    counters_.malformed.add(1);
    return;
  }
  node_.on_frame(*head, reactor_->now());
  if (head->kind == Kind::history_wanted) {
    if (const auto wanted = read_history_wanted(head->body)) on_history_wanted(head->from, *wanted);
  } else if (head->kind == Kind::history) {
    if (const auto history = read_history(head->body)) on_history(head->from, *history);
  } else if (!histories_.empty() || hub_options_.history != nullptr) {
    for (auto& [name, room] : rooms_) want_history(room);
  }
  arm();
}

void Bridge::on_said(Bytes room_name, const bus::Delivery& message) {
  const auto found = rooms_.find(room_name);
  if (found == rooms_.end()) return;
  const auto header = message.header(stamp_header);
  const auto stamp = header ? read_stamp(*header) : std::nullopt;
  if (!stamp || !are_lines(message.payload(), stamp->messages)) {
    counters_.malformed.add(1);
    return;
  }
  counters_.received.add(stamp->messages);
  counters_.received_batches.add(1);
  counters_.received_bytes.add(message.payload().size());
  const auto arrival = node_.arrived(room_name, *stamp, reactor_->now());
  if (arrival.missing > 0) tell_missed(found->second, arrival.missing, "on the bus");
  if (arrival.fresh) give(found->second, message, *stamp);
  arm();
}

void Bridge::give(const Room& room, const bus::Delivery& message, const BatchStamp& stamp) {
  if (!hub_.may_pass_on()) {
    counters_.overflowed.add(stamp.messages);
    tell_missed(room, stamp.messages, "because this server is behind");
    return;
  }
  Batch& memory = message.memory();
  const Bytes lines = message.payload();
  Relayed relayed{
      room.key, &memory.block(), 0, static_cast<std::uint32_t>(lines.size()), stamp.messages, 0};
  // A reference to a part keeps the whole block. The hub counts on that being at most twice as
  // much.
  const bool copies = lines.size() < memory.allocated_bytes() / 2;
  Batch* copy = nullptr;
  if (copies) {
    copy = &Block::make(lines.size(), stamp.messages);
    std::memcpy(copy->block().data(), lines.data(), lines.size());
    relayed.block = &copy->block();
    counters_.copied.add(1);
  } else {
    relayed.begin = static_cast<std::uint32_t>(lines.data() - memory.bytes().data());
  }
  if (hub_options_.history != nullptr) {
    relayed.sequence = hub_options_.history->add(relayed, {stamp.from, stamp.first});
  }
  hub_.pass_on(relayed);
  if (copy != nullptr) copy->let_go();
}

void Bridge::tell_missed(const Room& room, std::uint64_t messages, Bytes why) {
  if (options_.observer != nullptr) options_.observer->on_missed(room.name, messages, why);
  order_all({.kind = HubOrder::Kind::miss, .room = room.key, .count = messages});
}

void Bridge::order_all(const HubOrder& order) {
  for (Hub* const each : hubs_) each->order(order);
}

// ---- what the node wants -----------------------------------------------------------------------

void Bridge::publish_frame(const std::string& subject, Bytes frame) {
  const auto published = bus_.publish({.subject = subject, .payload = frame});
  if (!published && options_.observer != nullptr) {
    options_.observer->on_not_published(0, published.error());
  }
}

void Bridge::broadcast(Bytes frame) { publish_frame(subject_all_, frame); }

void Bridge::send(NodeId to, Bytes frame) {
  publish_frame(fmt::format("{}.to.{:016x}", options_.prefix, to), frame);
}

void Bridge::watch(Bytes name) {
  Room& room = rooms_.find(name)->second;
  const std::string subject = subject_of(name);
  auto subscribed = subscribe(
      subject, [this, name = room.name](const bus::Delivery& message) { on_said(name, message); });
  if (subscribed) {
    room.subscription = *std::move(subscribed);
  } else if (options_.observer != nullptr) {
    options_.observer->on_subscription_failed(subject, subscribed.error());
  }
  want_history(room);
}

void Bridge::unwatch(Bytes name) {
  const auto found = rooms_.find(name);
  if (found != rooms_.end()) rooms_.erase(found);
}

void Bridge::set_outward(Bytes name) {
  const auto found = rooms_.find(name);
  if (found == rooms_.end() || std::exchange(found->second.outward, true)) return;
  directory_.set_outward(found->second.key, index_);
  // In this order: messages from here on have a greater number, and are relayed.
  if (hub_options_.history != nullptr) found->second.untold = hub_options_.history->newest();
}

void Bridge::on_missed(Bytes room, std::uint64_t messages) {
  const auto found = rooms_.find(room);
  if (found != rooms_.end()) tell_missed(found->second, messages, "on the bus");
}

void Bridge::on_claim_decided(std::uint64_t token, Bytes name, bool granted) {
  const auto hub = static_cast<std::size_t>(token >> claim_bits);
  hubs_[hub]->order({.kind = HubOrder::Kind::decide_name,
                     .count = token & ((std::uint64_t{1} << claim_bits) - 1),
                     .granted = granted,
                     .name = std::string(name)});
}

void Bridge::on_name_lost(Bytes name) {
  order_all({.kind = HubOrder::Kind::lose_name, .name = std::string(name)});
}

void Bridge::on_slot(std::uint16_t before, std::uint16_t now) {
  directory_.set_numbering(slots, now);
  if (before == now) return;
  if (options_.observer != nullptr) options_.observer->on_numbers_moved(before, now);
  order_all({.kind = HubOrder::Kind::renumber, .count = before, .other = now, .stride = slots});
}

void Bridge::on_came(Bytes name, double missing_s) {
  if (options_.observer != nullptr) options_.observer->on_server_came(name, missing_s);
}

void Bridge::on_went(Bytes name, bool was_told) {
  if (options_.observer != nullptr) options_.observer->on_server_went(name, was_told);
}

void Bridge::on_slot_twice(Bytes name, std::uint16_t slot) {
  if (options_.observer != nullptr) options_.observer->on_slot_twice(name, slot);
}

void Bridge::on_members_gone(Bytes name, std::uint32_t members) {
  const auto found = rooms_.find(name);
  if (!hub_options_.notices || found == rooms_.end()) return;
  const std::string line =
      fmt::format("* {} member{} left: their server is gone\n", members, members == 1 ? "" : "s");
  Batch& batch = Block::make(line.size(), 1);
  std::memcpy(batch.block().data(), line.data(), line.size());
  hub_.pass_on(
      {found->second.key, &batch.block(), 0, static_cast<std::uint32_t>(line.size()), 1, 0});
  batch.let_go();
}

// ---- history -----------------------------------------------------------------------------------

// A client that joins a room that begins on this server gets what others have of it.
void Bridge::want_history(Room& room) {
  if (hub_options_.history == nullptr || room.history_asked) return;
  const NodeId most = roster_.most_in(room.name);
  if (most == 0) return;
  room.history_asked = true;
  if (histories_.size() >= histories_max) histories_.erase(histories_.begin());
  histories_[++last_history_] = room.name;
  counters_.histories.add(1);
  send(most, write(node_.id(), HistoryWanted{most, last_history_, room.name,
                                             hub_options_.history->options().messages_max}));
}

void Bridge::on_history_wanted(NodeId from, const HistoryWanted& wanted) {
  const auto found = rooms_.find(wanted.room);
  if (wanted.to != node_.id() || found == rooms_.end() || hub_options_.history == nullptr) return;
  History answer{from, wanted.token, wanted.room, {}};
  for (auto& each :
       hub_options_.history->kept(found->second.key, found->second.untold, control_bytes_wanted)) {
    answer.entries.push_back(
        {each.origin.node, each.origin.first, each.messages, std::move(each.lines)});
  }
  send(from, write(node_.id(), answer));
}

void Bridge::on_history(NodeId, const History& history) {
  const auto asked = histories_.find(history.token);
  if (history.to != node_.id() || asked == histories_.end() || asked->second != history.room) {
    return;
  }
  histories_.erase(asked);
  const auto found = rooms_.find(history.room);
  if (found == rooms_.end()) return;
  std::vector<chat::History::Kept> kept;
  // The newest first: it says where the stream begins here, if it has not.
  for (auto each = history.entries.rbegin(); each != history.entries.rend(); ++each) {
    if (!node_.is_before(history.room, *each)) continue;  // it is here already, or on its way
    kept.push_back({{each->origin, each->first}, each->messages, each->lines});
  }
  std::ranges::reverse(kept);
  const auto added = hub_options_.history->put_in_front(found->second.key, kept);
  if (added.messages == 0) return;
  order_all({.kind = HubOrder::Kind::recall,
             .room = found->second.key,
             .count = added.messages,
             .name = added.lines});
}

}  // namespace katana::chat::cluster

// SPDX-License-Identifier: Apache-2.0
