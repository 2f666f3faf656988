#include "katana/testing/bus/bus_network.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/stores/bus/fan_out.hpp"
#include "katana/stores/bus/memory_streams.hpp"
#include "katana/stores/bus/message_span.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::testing {

using bus::detail::Envelope;

// The messages in transit, and the state of the links.
class BusNetwork::Core {
 public:
  Core(engine::SimNetwork& given, const BusNetworkOptions& how) : network(given), options(how) {}

  Node& node(std::string_view name) const {
    const auto found = nodes.find(name);
    KATANA_REQUIRE(found != nodes.end());
    return *found->second;
  }
  static std::pair<std::string, std::string> link_of(std::string_view a, std::string_view b) {
    return a < b ? std::pair(std::string(a), std::string(b))
                 : std::pair(std::string(b), std::string(a));
  }
  bool is_cut(std::string_view a, std::string_view b) const {
    return links_cut.contains(link_of(a, b));
  }
  // Keeps the order of messages on the same link.
  Instant arrival(const std::string& from, const std::string& to) {
    const auto span = static_cast<std::uint64_t>(options.delay_max.ns - options.delay_min.ns);
    const Duration delay = nanoseconds(options.delay_min.ns +
                                       static_cast<std::int64_t>(network.random().below(span + 1)));
    Instant& last = last_arrival[{from, to}];
    last = std::max(last, network.now() + delay);
    return last;
  }

  engine::SimNetwork& network;
  BusNetworkOptions options;
  std::map<std::string, Node*, std::less<>> nodes;
  std::set<std::pair<std::string, std::string>> links_cut;
  std::map<std::pair<std::string, std::string>, Instant> last_arrival;
  std::map<std::string, std::size_t> group_turns;
  std::shared_ptr<bus::MemoryStreams::State> streams = bus::MemoryStreams::make_state();
  std::uint64_t publishers = 0;
  std::uint64_t lost = 0;
};

// A publication while a node is away.
struct KeptPublication {
  std::string subject;
  std::string payload;
  std::string reply_to;
  std::string id;
  std::vector<std::pair<std::string, std::string>> headers;
};

class BusNetwork::Node final : public bus::Bus, private bus::Interest {
 public:
  Node(std::shared_ptr<Core> core, std::string name)
      : core_(std::move(core)),
        name_(std::move(name)),
        fan_out_(core_->options.bus, this),
        streams_(
            fan_out_,
            [this](const bus::Publication& publication, bus::Stored* stored) -> Result<void> {
              auto published = publish_storing(publication, stored);
              if (!published) return std::unexpected(published.error());
              return {};
            },
            core_->streams),
        numbers_(++core_->publishers, core_->options.numbers),
        gaps_(core_->options.gap_entries_max),
        since_(core_->network.now()) {
    KATANA_REQUIRE(core_->nodes.emplace(name_, this).second);
  }
  ~Node() override {
    core_->nodes.erase(name_);
    core_->network.cancel(repeat_key_);
  }

  using Bus::publish;
  Result<bus::Published> publish(const bus::Publication& publication) override;
  Result<bus::Subscription> subscribe(Bytes pattern, bus::Handler handler,
                                      bus::SubscribeOptions options) override {
    return fan_out_.subscribe(pattern, std::move(handler), std::move(options));
  }
  bus::DeliveryGuarantee delivery_guarantee() const noexcept override {
    return bus::DeliveryGuarantee::at_most_once;
  }
  bus::Health health() const override {
    return {.ready = !is_away_,
            .state = is_away_ ? bus::BusState::reconnecting : bus::BusState::connected,
            .since = since_,
            .detail = "simulated"};
  }
  bus::BusStatistics statistics() const override {
    bus::BusStatistics statistics;
    fan_out_.add_figures(statistics);
    statistics.reconnects = reconnects_;
    statistics.kept = kept_.size();
    statistics.kept_bytes = kept_bytes_;
    statistics.kept_refused = kept_refused_;
    statistics.submitted = streams_.submitted();
    return statistics;
  }
  bus::Streams* streams() noexcept override { return &streams_; }
  bus::FanOut& fan_out() noexcept override { return fan_out_; }

  const std::string& name() const noexcept { return name_; }
  void set_away(bool away);

 private:
  void on_wanted(const std::shared_ptr<bus::Pattern>& pattern, Bytes group) noexcept override {
    if (!group.empty()) return;
    pattern->interest = ++last_interest_;
    gaps_.add(pattern->interest, core_->network.now());
  }
  void on_unwanted(const std::shared_ptr<bus::Pattern>& pattern, Bytes group) noexcept override {
    if (group.empty()) gaps_.remove(pattern->interest);
  }

  // True: another node is subscribed.
  bool send(const bus::Publication& publication, bus::Stored* stored = nullptr);
  Result<bus::Published> publish_storing(const bus::Publication& given, bus::Stored* stored);
  Result<bus::Published> publish_now(const bus::Publication& publication, bus::Stored* stored);
  void send_numbers(const bus::Sequencer::Repeat& repeat);
  bool send_to_groups(const bus::Publication& publication);
  bool reaches(const Node& other) const {
    return !is_away_ && !other.is_away_ && !core_->is_cut(name_, other.name_);
  }
  // Calls `arrive(Node&)` at the arrival at the other node, unless the message is lost.
  template <class Arrive>
  void carry(Node& other, Arrive arrive);
  void receive(const bus::Posted& message);
  void receive_numbers(const std::string& subject, bus::Origin origin, Duration age);
  void tell(const std::shared_ptr<bus::Pattern>& pattern, Bytes subject,
            const bus::GapDetector::Verdict& verdict);
  Result<void> keep(const bus::Publication& publication);
  void schedule_repeats();
  void on_repeats();

  const std::shared_ptr<Core> core_;
  const std::string name_;
  bus::FanOut fan_out_;
  bus::MemoryStreams streams_;
  bus::Sequencer numbers_;
  bus::GapDetector gaps_;
  std::uint64_t last_interest_ = 0;
  bool is_away_ = false;
  Instant since_;
  std::uint64_t reconnects_ = 0;
  std::deque<KeptPublication> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t kept_refused_ = 0;
  engine::SimNetwork::EventKey repeat_key_;
  Instant repeat_at_ = never;
};

// ---- publishing --------------------------------------------------------------------------------

Result<bus::Published> BusNetwork::Node::publish(const bus::Publication& publication) {
  return publish_storing(publication, nullptr);
}

Result<bus::Published> BusNetwork::Node::publish_storing(const bus::Publication& given,
                                                         bus::Stored* stored) {
  return bus::publish_within_span(
      fan_out_.system(), given, bus::header_bytes_max,
      [&](const bus::Publication& publication) { return publish_now(publication, stored); });
}

Result<bus::Published> BusNetwork::Node::publish_now(const bus::Publication& publication,
                                                     bus::Stored* stored) {
  if (auto checked = fan_out_.check(publication); !checked) {
    return std::unexpected(checked.error());
  }
  std::optional<bus::HeldMessage> made;
  const bool is_here = fan_out_.deliver(publication, false, made);
  bus::Published published{.nobody = !is_here, .is_here = is_here};
  if (is_away_) {
    published.nobody = false;  // as far as it is known
    if (auto kept = keep(publication); !kept) return std::unexpected(kept.error());
    return published;
  }
  if (send(publication, stored)) published.nobody = false;
  return published;
}

bool BusNetwork::Node::send(const bus::Publication& publication, bus::Stored* stored) {
  if (streams_.is_used()) {
    std::optional<bus::HeldMessage> kept;
    streams_.capture(publication, kept, stored);
  }
  bus::Origin origin;  // an answer has none: its subject is used once
  if (!publication.subject.starts_with(bus::inbox_prefix)) {
    origin = numbers_.next(publication.subject, core_->network.now());
    schedule_repeats();
  }
  bool has_some = send_to_groups(publication);
  std::optional<bus::Posted> message;
  for (const auto& [name, other] : core_->nodes) {
    if (other == this || other->fan_out_.matching(publication.subject).empty()) continue;
    has_some = true;
    if (!message) {
      bus::HeldMessage made = bus::make_message(publication, false, origin);
      message.emplace(made.batch());
    }
    carry(*other, [message = *message](Node& there) { there.receive(message); });
  }
  return has_some;
}

// Chooses one node of each group, in turn, among the nodes that it reaches.
bool BusNetwork::Node::send_to_groups(const bus::Publication& publication) {
  struct Place {
    Node* node;
    std::shared_ptr<bus::Pattern> pattern;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Place>> groups;
  for (const auto& [name, other] : core_->nodes) {
    if (other != this && !reaches(*other)) continue;
    for (const auto& pattern : other->fan_out_.matching(publication.subject)) {
      for (const auto& [group, members] : pattern->groups) {
        groups[{pattern->text, group}].push_back({other, pattern});
      }
    }
  }
  for (const auto& [key, places] : groups) {
    std::size_t& turn = core_->group_turns[key.first + " " + key.second];
    const Place& place = places[turn++ % places.size()];
    const bus::HeldMessage made = bus::make_message(publication, place.node == this);
    const bus::Posted message(made.batch());
    if (place.node == this) {
      fan_out_.deliver_to(place.pattern, key.second, message);
      continue;
    }
    carry(*place.node, [message, pattern = place.pattern, group = key.second](Node& there) {
      there.fan_out_.count_received(message.envelope().payload_size);
      there.fan_out_.deliver_to(pattern, group, message);
    });
  }
  return !groups.empty();
}

template <class Arrive>
void BusNetwork::Node::carry(Node& other, Arrive arrive) {
  if (!reaches(other) || core_->network.chance(core_->options.loss_per_1024)) {
    ++core_->lost;
    return;
  }
  core_->network.at(core_->arrival(name_, other.name_),
                    [core = std::weak_ptr(core_), to = other.name_, arrive = std::move(arrive)] {
                      const auto alive = core.lock();
                      if (alive == nullptr) return;
                      const auto found = alive->nodes.find(to);
                      if (found == alive->nodes.end() || found->second->is_away_) {
                        ++alive->lost;
                        return;
                      }
                      arrive(*found->second);
                    });
}

// ---- receiving ---------------------------------------------------------------------------------

void BusNetwork::Node::tell(const std::shared_ptr<bus::Pattern>& pattern, Bytes subject,
                            const bus::GapDetector::Verdict& verdict) {
  if (verdict.missed != 0) {
    fan_out_.tell(pattern, {.kind = bus::NoticeKind::missed,
                            .reason = bus::MissReason::network,
                            .count = verdict.missed,
                            .subject = subject});
  }
  if (verdict.may_have_missed) {
    fan_out_.tell(pattern, {.kind = bus::NoticeKind::may_have_missed,
                            .reason = bus::MissReason::network,
                            .subject = subject});
  }
}

void BusNetwork::Node::receive(const bus::Posted& message) {
  const Envelope& envelope = message.envelope();
  fan_out_.count_received(envelope.payload_size);
  for (const auto& pattern : fan_out_.matching(envelope.subject())) {
    if (pattern->shares.empty()) continue;
    const auto verdict = gaps_.on_message(pattern->interest, envelope.subject(), envelope.origin);
    if (verdict.is_duplicate) {
      fan_out_.count_duplicate();
      continue;
    }
    tell(pattern, envelope.subject(), verdict);
    fan_out_.deliver_to(pattern, {}, message);
  }
}

void BusNetwork::Node::receive_numbers(const std::string& subject, bus::Origin origin,
                                       Duration age) {
  for (const auto& pattern : fan_out_.matching(subject)) {
    if (pattern->shares.empty()) continue;
    tell(pattern, subject,
         gaps_.on_repeat(pattern->interest, subject, origin, age, core_->network.now()));
  }
}

// ---- numbers that are repeated -----------------------------------------------------------------

void BusNetwork::Node::schedule_repeats() {
  const Instant due = numbers_.due();
  if (due >= repeat_at_ && repeat_at_ != never) return;
  core_->network.cancel(repeat_key_);
  repeat_at_ = due;
  if (due == never) return;
  repeat_key_ = core_->network.at(due, [this] { on_repeats(); });  // cancelled by the destructor
}

void BusNetwork::Node::on_repeats() {
  repeat_at_ = never;
  numbers_.repeat(core_->network.now(), SIZE_MAX,
                  [this](const bus::Sequencer::Repeat& repeat) { send_numbers(repeat); });
  schedule_repeats();
}

void BusNetwork::Node::send_numbers(const bus::Sequencer::Repeat& repeat) {
  for (const auto& [name, other] : core_->nodes) {
    if (other == this || other->fan_out_.matching(repeat.subject).empty()) continue;
    if (!reaches(*other)) continue;  // a repeated number is no lost message
    carry(*other, [subject = std::string(repeat.subject), origin = repeat.origin,
                   age = repeat.age](Node& there) { there.receive_numbers(subject, origin, age); });
  }
}

// ---- without a server --------------------------------------------------------------------------

Result<void> BusNetwork::Node::keep(const bus::Publication& publication) {
  const bus::AwayOptions& away = core_->options.away;
  if (away.policy == bus::WhenAway::refuse) {
    return fail(Code::unavailable, "the bus has no server at present");
  }
  const std::size_t bytes = publication.subject.size() + publication.payload.size();
  if (kept_.size() >= away.messages_max || kept_bytes_ + bytes > away.bytes_max) {
    ++kept_refused_;
    return fail(Code::resource_exhausted,
                "the bus has no server at present, and keeps as much as it may");
  }
  KeptPublication kept{std::string(publication.subject),
                       std::string(publication.payload),
                       std::string(publication.reply_to),
                       std::string(publication.id),
                       {}};
  for (const bus::Header& each : publication.headers) {
    kept.headers.emplace_back(each.name, each.value);
  }
  kept_bytes_ += bytes;
  kept_.push_back(std::move(kept));
  return {};
}

void BusNetwork::Node::set_away(bool away) {
  if (std::exchange(is_away_, away) == away) return;
  since_ = core_->network.now();
  streams_.set_available(!away);
  if (away) {
    fan_out_.tell(nullptr, {.kind = bus::NoticeKind::disconnected});
    return;
  }
  ++reconnects_;
  fan_out_.tell(nullptr, {.kind = bus::NoticeKind::connected});
  fan_out_.tell(nullptr,
                {.kind = bus::NoticeKind::may_have_missed, .reason = bus::MissReason::network});
  const auto kept = std::exchange(kept_, {});
  kept_bytes_ = 0;
  for (const KeptPublication& each : kept) {
    std::vector<bus::Header> headers;
    for (const auto& [name, value] : each.headers) headers.push_back({name, value});
    send({.subject = each.subject,
          .payload = each.payload,
          .reply_to = each.reply_to,
          .headers = headers,
          .id = each.id});
  }
}

// ---- BusNetwork --------------------------------------------------------------------------------

BusNetwork::BusNetwork(engine::SimNetwork& network, const BusNetworkOptions& options)
    : core_(std::make_shared<Core>(network, options)) {}

BusNetwork::~BusNetwork() = default;

std::unique_ptr<bus::Bus> BusNetwork::make(std::string name) {
  return std::make_unique<Node>(core_, std::move(name));
}

void BusNetwork::cut(std::string_view a, std::string_view b) {
  core_->links_cut.insert(Core::link_of(a, b));
}

void BusNetwork::heal(std::string_view a, std::string_view b) {
  core_->links_cut.erase(Core::link_of(a, b));
}

void BusNetwork::partition(const std::vector<std::string>& one,
                           const std::vector<std::string>& other) {
  for (const std::string& a : one) {
    for (const std::string& b : other) cut(a, b);
  }
}

void BusNetwork::heal_all() { core_->links_cut.clear(); }

void BusNetwork::isolate(std::string_view node) { core_->node(node).set_away(true); }

void BusNetwork::rejoin(std::string_view node) { core_->node(node).set_away(false); }

void BusNetwork::lose_streams() { bus::MemoryStreams::lose(*core_->streams); }

void BusNetwork::set_loss(std::uint32_t per_1024) noexcept {
  core_->options.loss_per_1024 = per_1024;
}

void BusNetwork::set_delay(Duration min, Duration max) noexcept {
  core_->options.delay_min = min;
  core_->options.delay_max = max;
}

std::uint64_t BusNetwork::lost() const noexcept { return core_->lost; }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
