// Orders of other threads to a hub: messages of the other servers of the chat about its members.
#include <fmt/format.h>

#include <utility>

#include "apps/chat/hub.hpp"
#include "katana/base/system/check.hpp"

namespace katana::chat {

void Hub::stop() noexcept {
  stopped_ = true;
  const std::lock_guard lock(orders_mutex_);
  orders_stopped_ = true;
  orders_.clear();
}

void Hub::order(HubOrder order) {
  const std::lock_guard lock(orders_mutex_);
  if (orders_stopped_) return;
  orders_.push_back(std::move(order));
  // Under the lock, so that nothing is posted once stop() has returned.
  if (orders_.size() == 1) turn_.post(orders_doorbell_);
}

void Hub::run_orders() noexcept {
  std::vector<HubOrder> due;
  {
    const std::lock_guard lock(orders_mutex_);
    due.swap(orders_);
  }
  for (const HubOrder& each : due) run(each);
}

void Hub::run(const HubOrder& order) {
  switch (order.kind) {
    case HubOrder::Kind::miss: miss(order); break;
    case HubOrder::Kind::decide_name: decide_name(order); break;
    case HubOrder::Kind::lose_name:
      for (LocalRoom& room : rooms_) {
        for (Member* const each : room.members) {
          if (each->named_ && each->name() == order.name) {
            directory_.give_name(order.name);
            call_by_number(*each);
            return;
          }
        }
      }
      break;
    case HubOrder::Kind::renumber: renumber(order); break;
    case HubOrder::Kind::recall: recall(order); break;
  }
}

Hub::LocalRoom* Hub::find_room(RoomKey room) noexcept {
  if (room.place >= rooms_.size() || rooms_[room.place].generation != room.generation) {
    return nullptr;
  }
  return &rooms_[room.place];
}

void Hub::miss(const HubOrder& order) {
  LocalRoom* const room = find_room(order.room);
  if (room == nullptr) return;
  for (Member* const each : room->members) {
    counters_.due.add(order.count);
    counters_.of(Loss::bus).add(order.count);
    each->missed_ += order.count;
    // Behind a backlog it is told when that moves.
    if (!each->backlog_.empty()) continue;
    if (report_gap(*each)) {
      each->on_output();
    } else {
      each->on_backlog();
    }
  }
}

void Hub::decide_name(const HubOrder& order) {
  const auto found = wishes_.find(order.count);
  KATANA_CHECK(found != wishes_.end());
  const Wish wish = std::move(found->second);
  wishes_.erase(found);
  // The member may have gone meanwhile.
  if (!order.granted || wish.member == nullptr) {
    if (order.granted && options_.names != nullptr) options_.names->release(wish.name);
    directory_.give_name(wish.name);
  }
  if (wish.member == nullptr) return;
  Member& member = *wish.member;
  member.claim_ = 0;
  if (order.granted) take_name(member, wish.name);
  member.on_name_decided(wish.name, order.granted);
}

void Hub::call_by_number(Member& member) {
  const std::string before(member.name());
  member.prefix_ = fmt::format("[USER{}] ", member.number_);
  member.named_ = false;
  if (member.index_ != Member::nowhere) {
    directory_.rename(member.room_, member.number_, member.name());
  }
  member.on_renamed(before);
}

void Hub::renumber(const HubOrder& order) {
  for (LocalRoom& room : rooms_) {
    for (Member* const each : room.members) {
      if (each->number_ % order.stride != order.count) continue;
      const std::string before(each->name());
      const std::uint64_t number = each->number_ - order.count + order.other;
      if (!each->named_) each->prefix_ = fmt::format("[USER{}] ", number);
      directory_.renumber(each->room_, each->number_, number, each->name());
      each->number_ = number;
      if (!each->named_) each->on_renamed(before);
    }
  }
}

// For those who joined before there was any.
void Hub::recall(const HubOrder& order) {
  LocalRoom* const room = find_room(order.room);
  if (room == nullptr) return;
  for (Member* const each : room->members) {
    if (each->history_until_ != 0) continue;
    if (!each->put(fmt::format("* The last {} message{} of this room:\n{}", order.count,
                               order.count == 1 ? "" : "s", order.name))) {
      continue;
    }
    each->on_output();
  }
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
