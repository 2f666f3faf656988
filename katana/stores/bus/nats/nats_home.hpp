// NatsBus::Home: the side of a NatsBus that lives on its home reactor.
//
// Owns       the connections, the numbers of published messages, and the StoreSender.
// Borrows    the bus, until leave(), and its options.
// Thread     the home reactor's; ring() any, with the lock of the bus.
// Allocates  as Bus says.
// Fails      as Bus says.
// Invariant  nothing of it is called by the reactor once the bus or the reactor has ended.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "katana/stores/bus/nats/link.hpp"
#include "katana/stores/bus/nats/nats_bus.hpp"
#include "katana/stores/bus/nats/publisher.hpp"
#include "katana/stores/bus/nats/store_sender.hpp"
#include "katana/stores/bus/requests.hpp"

namespace katana::bus {

class NatsBus::Home final : public std::enable_shared_from_this<Home>,
                            private NatsLinkEvents,
                            private StoreLink {
 public:
  Home(NatsBus& bus, net::Reactor& reactor)
      : bus_(&bus),
        reactor_(reactor),
        options_(bus.options_),
        link_(std::make_unique<NatsLink>(reactor, bus.shared_, bus.options_, false,
                                         static_cast<NatsLinkEvents&>(*this))),
        sequencer_(random_publisher(), bus.options_.sequencer),
        sequence_begin_(fmt::format("{}{:x}-", sequence_header, sequencer_.publisher())),
        gaps_(bus.options_.gap_entries_max),
        storing_(std::make_unique<StoreSender>(reactor, bus.to_store_, *bus.streams_,
                                               static_cast<StoreLink&>(*this))) {}

  // The attachment of the home reactor, which ends the Home with the reactor. A doorbell that is on
  // its way may outlive it.
  struct Place final : net::Attachment {
    explicit Place(std::shared_ptr<Home> given) noexcept : home(std::move(given)) {}
    ~Place() override { home->end(); }
    const std::shared_ptr<Home> home;  // never null; a doorbell may share it
  };

  // NatsBus calls this once, on the thread of the home reactor.
  void start() {
    link_->start();
    take_changes();
  }
  // Takes the patterns that gained or lost their subscribers since the last call.
  void take_changes();
  // Called when the reactor ends.
  void end() noexcept {
    if (bus_ != nullptr) {
      const std::lock_guard lock(bus_->mutex_);
      bus_->home_ = nullptr;
      bus_->home_reactor_ = nullptr;
      bus_->is_up_ = false;
      bus_->health_ = {.ready = false,
                       .state = BusState::closed,
                       .since = reactor_.now(),
                       .detail = "the reactor of the connection has ended"};
    }
    leave();
  }
  // Called when the bus ends.
  void leave() noexcept {
    if (bus_ != nullptr) bus_->streams_->note_not_stored(bus_->to_store_.size());
    bus_ = nullptr;
    storing_.reset();
    repeat_timer_.cancel();
    groups_.reset();
    link_.reset();
  }
  // REQUIRES that the lock of the bus is held.
  void ring() noexcept {
    alive_while_rung_ = shared_from_this();
    reactor_.post(doorbell_);
  }
  void send_stores() {
    storing_->send_waiting();
    if (!is_drain_awaited_ && bus_->to_store_.size() != 0) {
      is_drain_awaited_ =
          reactor_.tasks().spawn(until_stored(shared_from_this()), "bus").has_value();
    }
  }
  // Writes the publication at once; REQUIRES that no message waits in front of it. False: it could
  // not be written.
  bool send(const Publication& publication) {
    headers_.clear();
    if (!publication.headers.empty() || !publication.id.empty()) {
      const HeldMessage made = make_message(publication, true);
      headers_ = made.headers();
    }
    return send(publication.subject, publication.reply_to, headers_, publication.payload,
                publication.memory);
  }

 private:
  struct Doorbell : Message {
    explicit Doorbell(Home& owner) noexcept
        : Message(
              [](Message& message) noexcept { static_cast<Doorbell&>(message).home.on_rung(); }),
          home(owner) {}
    Home& home;
  };
  struct RepeatTimer : net::TimerEntry {
    explicit RepeatTimer(Home& owner) noexcept
        : TimerEntry([](TimerEntry& entry) noexcept {
            static_cast<RepeatTimer&>(entry).home.on_repeats();
          }),
          home(owner) {}
    Home& home;
  };
  // The connection of queue groups. It gets the messages that this process publishes, too.
  struct Groups final : NatsLinkEvents {
    Groups(Home& owner)
        : home(owner),
          link(owner.reactor_, owner.bus_->groups_shared_, owner.options_, true, *this) {}
    void on_up(const ServerInfo&) noexcept override {
      home.subscribe_all(link, true);
      home.set_groups_problem({});
      if (std::exchange(is_told_, false)) {
        home.tell_groups({.kind = NoticeKind::connected});
        home.tell_groups({.kind = NoticeKind::may_have_missed, .reason = MissReason::network});
      }
    }
    // The other connection tells all subscribers of a server that is gone.
    void on_down(const Error& why) noexcept override {
      home.set_groups_problem(why.describe());
      if (!home.link_->is_up()) return;
      is_told_ = true;
      home.tell_groups({.kind = NoticeKind::disconnected});
      if (home.options_.observer != nullptr) {
        home.options_.observer->on_disconnected(link.server(), why.within("queue groups"));
      }
    }
    void on_unreachable(const Error& why) noexcept override {
      const std::string problem = why.describe();
      if (!home.set_groups_problem(problem) || home.options_.observer == nullptr) return;
      home.options_.observer->on_unreachable(link.server(), why.within("queue groups"));
    }
    void on_message(const NatsMessage& message) noexcept override { home.on_message(message); }
    void on_too_large(std::uint64_t number, Bytes subject) noexcept override {
      home.on_too_large(number, subject);
    }
    void on_server_error(Bytes text) noexcept override { home.on_server_error(text); }
    void on_link_writable() noexcept override {}
    Home& home;
    NatsLink link;

   private:
    bool is_told_ = false;
  };
  struct Wanted {
    std::shared_ptr<Pattern> pattern;
    std::string group;
    bool has_numbers = false;
  };

  void on_up(const ServerInfo& info) noexcept override;
  void on_down(const Error& why) noexcept override;
  void on_unreachable(const Error& why) noexcept override;
  void on_message(const NatsMessage& message) noexcept override;
  void on_too_large(std::uint64_t subscription, Bytes subject) noexcept override;
  void on_server_error(Bytes text) noexcept override;
  void on_link_writable() noexcept override {
    send_waiting();
    storing_->send_waiting();
  }
  bool is_up() const noexcept override { return link_->is_up(); }
  bool send_stored(const HeldMessage& message, Bytes reply_to) override {
    const std::string headers(message.headers());
    if (send(message.subject(), reply_to, headers, message.payload(), &message.memory())) {
      return true;
    }
    link_->want_writable();
    return false;
  }
  static Task<void> until_stored(std::shared_ptr<Home> self);

  void on_rung() noexcept;
  void subscribe_all(NatsLink& link, bool groups);
  void subscribe(NatsLink& link, std::uint64_t number, const Wanted& place);
  bool send(Bytes subject, Bytes reply_to, Bytes headers, Bytes payload, Batch* memory);
  void send_waiting();
  void on_repeats() noexcept;
  void arm_repeats();
  void on_numbers(const Wanted& place, std::uint64_t number, Bytes subject, Bytes payload);
  void tell(const Wanted& place, Bytes subject, const GapDetector::Verdict& verdict);
  Bytes without_prefix(Bytes subject) const noexcept;
  void set_health(BusState state, std::string detail);
  // True: it is another problem than before.
  bool set_groups_problem(std::string problem);
  void tell_groups(const Notice& notice);

  NatsBus* bus_;  // null: it is gone
  net::Reactor& reactor_;
  const NatsOptions& options_;
  std::unique_ptr<NatsLink> link_;
  std::unique_ptr<Groups> groups_;
  Sequencer sequencer_;
  const std::string sequence_begin_;  // of the header, with the publisher
  GapDetector gaps_;
  std::unordered_map<std::uint64_t, Wanted> places_;  // by number; odd: of their numbers
  std::string headers_;
  std::string all_headers_;
  std::string subject_;
  std::string reply_to_;
  std::string last_problem_;
  Instant down_since_ = never;
  bool was_up_ = false;
  bool is_drain_awaited_ = false;
  std::unique_ptr<StoreSender> storing_;
  std::shared_ptr<Home> alive_while_rung_;
  Doorbell doorbell_{*this};
  RepeatTimer repeat_timer_{*this};
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
