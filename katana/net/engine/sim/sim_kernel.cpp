#include "katana/net/engine/sim/sim_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana::engine {
namespace {

// The interval after which a client repeats a handshake that the kernel could not take.
constexpr Duration handshake_retry = seconds(1);
// The time after which a deferred accept delivers a silent client.
constexpr Duration defer_max = seconds(1);
// The time that handshakes under way at close_listeners() have left.
constexpr Duration handshake_grace = milliseconds(100);
constexpr std::uint32_t stop_accepting_chance = 128;
constexpr std::size_t copied_bytes_max = 4096;  // of a send that needs no room

std::size_t total_bytes(std::span<const iovec> parts) {
  std::size_t total = 0;
  for (const iovec& part : parts) total += part.iov_len;
  return total;
}

// Tells a name from a number; anything that looks like an address counts as one.
bool is_numeric(const std::string& address) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const char* const allowed = is_v6 ? "0123456789abcdefABCDEF:." : "0123456789.";
  return !address.empty() && address.find_first_not_of(allowed) == std::string::npos;
}

}  // namespace

SimKernel::SimKernel(const Options& options, SimNetwork& network, SimAddress address)
    : options_(options),
      network_(network),
      address_(address),
      now_(network.now()),
      wall_clock_s_(network.wall_clock_s(address)) {
  KATANA_REQUIRE(options.links_max > 0 && options.receive_bytes_max > 0);
  network_.attach(*this);
}

SimKernel::~SimKernel() {
  network_.detach(*this);
  for (const Slot& slot : slots_) {
    if (slot.connection) slot.connection->reset(slot.side);
  }
  for (const ListenState& listener : listeners_) {
    for (const auto& connection : listener.handshaking) connection->reset(SimSide::server);
    for (const auto& connection : listener.ready) connection->reset(SimSide::server);
  }
}

Result<void> SimKernel::start() {
  KATANA_REQUIRE(!started_);
  started_ = true;
  return {};
}

// ---- links -----------------------------------------------------------------------------------

SimKernel::Slot* SimKernel::find(Link link) {
  if (link.index >= slots_.size()) return nullptr;
  Slot& slot = slots_[link.index];
  return slot.connection && slot.generation == link.generation ? &slot : nullptr;
}

SimKernel::Slot* SimKernel::find_or_count(Link link) {
  Slot* const slot = find(link);
  if (slot == nullptr) ++counters_.stale_calls;
  return slot;
}

Link SimKernel::add_link(const std::shared_ptr<SimConnection>& connection, SimSide side) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  std::swap(free_[network_.random().below(free_.size())], free_.back());
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const Link link{index, slots_[index].generation};
  slots_[index].connection = connection;
  slots_[index].side = side;
  network_.open_descriptor(connection->number(), side == SimSide::server);
  ++links_open_;
  return link;
}

void SimKernel::remove_link(Link link, Slot& slot) {
  if (slot.side == SimSide::server) slot.connection->link_state = SimLink::closed;
  const std::uint32_t generation = link.generation + 1;
  slot = Slot{};
  slot.generation = generation != 0 ? generation : 1;  // 0 is never a link's
  free_.push_back(link.index);
  --links_open_;
}

void SimKernel::touch(Link link) {
  Slot* const slot = find(link);
  if (slot == nullptr || slot->touched) return;
  slot->touched = true;
  touched_.push_back(link);
}

void SimKernel::on_stream(SimConnection& connection) {
  if (connection.link_state == SimLink::open) {
    touch(connection.link);
  } else if (connection.link_state == SimLink::connecting) {
    promote(connection);
  }
}

void SimKernel::pause_receive(Link link) {
  if (Slot* const slot = find_or_count(link)) slot->paused = true;
}

void SimKernel::resume_receive(Link link) {
  Slot* const slot = find_or_count(link);
  if (slot == nullptr) return;
  slot->paused = false;
  touch(link);
}

void SimKernel::limit_receive(Link link, std::size_t bytes) {
  if (Slot* const slot = find_or_count(link)) slot->receive_max = bytes;
}

void SimKernel::shutdown_send(Link link) {
  Slot* const slot = find_or_count(link);
  if (slot == nullptr) return;
  network_.require(!slot->send.active, "no shutdown_send() while a send() is pending");
  slot->send_shut = true;
  slot->connection->finish(slot->side);
}

void SimKernel::close(Link link) {
  Slot* const slot = find_or_count(link);
  if (slot == nullptr) return;
  const auto connection = slot->connection;
  const SimSide side = slot->side;
  // The kernel had taken these bytes: they are not unread.
  connection->acknowledge(side, slot->taken_bytes);
  connection->attach(side, nullptr);  // an outgoing end goes with its slot
  remove_link(link, *slot);
  connection->close(side);
}

void SimKernel::reset(Link link) {
  Slot* const slot = find_or_count(link);
  if (slot == nullptr) return;
  const auto connection = slot->connection;
  const SimSide side = slot->side;
  connection->attach(side, nullptr);
  remove_link(link, *slot);
  connection->reset(side);
}

int SimKernel::detach(Link link) {
  Slot* const slot = find(link);
  network_.require(slot != nullptr && slot->touched && !slot->receive_queued && !slot->send.active,
                   "detach() only within on_accepted()");
  const auto connection = slot->connection;
  network_.note("detach", connection->number(), link.index);
  connection->attach(SimSide::server, nullptr);
  remove_link(link, *slot);
  return network_.detach(connection);
}

Result<Link> SimKernel::adopt(int socket) {
  network_.require(has_free_slot(), "adopt() only while a link is free");
  const auto connection = network_.attach(socket);
  const Link link = add_link(connection, SimSide::server);
  connection->attach(SimSide::server, this);
  connection->link_state = SimLink::open;
  connection->link = link;
  network_.note("adopt", connection->number(), link.index);
  touch(link);
  return link;
}

void SimKernel::discard(int socket) {
  const auto connection = network_.attach(socket);
  network_.note("discard", connection->number(), 0);
  connection->reset(SimSide::server);
}

// ---- sending ---------------------------------------------------------------------------------

std::string SimKernel::copy_of(std::span<const iovec> parts, std::size_t skip, std::size_t count) {
  std::string bytes;
  for (const iovec& part : parts) {
    const std::size_t passed = std::min(skip, part.iov_len);
    skip -= passed;
    const std::size_t used = std::min(part.iov_len - passed, count - bytes.size());
    bytes.append(static_cast<const char*>(part.iov_base) + passed, used);
  }
  return bytes;
}

// Checks the reactor against the contract. Null: the link is gone.
SimKernel::Slot* SimKernel::slot_to_send(Link link, std::size_t total) {
  Slot* const slot = find_or_count(link);
  if (slot == nullptr) return nullptr;
  network_.require(!slot->send.active, "no send() while one is pending");
  network_.require(!slot->send_shut, "no send() after shutdown_send()");
  network_.require(total > 0, "no send() of nothing");
  return slot;
}

Sent SimKernel::fail_send(Slot& slot, std::size_t total) {
  slot.gone = true;
  ++counters_.sends_failed;
  network_.note("send fails", slot.connection->number(), total);
  return Sent::failed;
}

// Bytes that arrived before the break come first, unless the reactor knows of the break.
Sent SimKernel::break_off(Link link, Slot& slot, std::size_t total) {
  ++counters_.sends_failed;
  network_.note("send finds a break", slot.connection->number(), total);
  if (slot.gone || slot.break_told) return Sent::failed;
  slot.break_drawn = slot.break_noticed = true;
  slot.send.active = true;  // until the end of the link
  touch(link);
  return Sent::pending;
}

// Sends at once as much as there is room for, or less. The rest waits for room, or for the
// reactor's next call.
Sent SimKernel::send_file(Link link, std::span<const iovec> before, const FilePart& part,
                          std::size_t& accepted) {
  accepted = 0;
  const std::size_t ahead = total_bytes(before);
  network_.require(part.size > 0, "no send_file() without a file");
  Slot* const slot = slot_to_send(link, ahead + part.size);
  if (slot == nullptr) return Sent::failed;
  SimConnection& connection = *slot->connection;
  if (connection.broken(slot->side)) return break_off(link, *slot, ahead + part.size);
  std::size_t wanted = std::min<std::uint64_t>(room(*slot), ahead + part.size);
  bool is_full = wanted < ahead + part.size;
  if (wanted > 0 && network_.chance(network_.faults().short_send)) {
    wanted = network_.random().below(wanted);
    is_full = wanted < ahead || !network_.chance(network_.faults().completion_send);
  }
  std::string bytes = copy_of(before, 0, std::min(ahead, wanted));
  if (wanted > ahead) {
    bytes.resize(wanted);
    if (!part.read_all({bytes.data() + ahead, wanted - ahead})) {
      return fail_send(*slot, ahead + part.size);
    }
  }
  accepted = wanted;
  connection.write(slot->side, bytes);
  network_.note("send file", connection.number(), accepted);
  ++(accepted == ahead + part.size ? counters_.files_sent : counters_.files_short);
  if (!is_full) return Sent::completed;
  slot->send.active = true;
  ++counters_.sends_blocked;
  touch(link);
  return Sent::pending;
}

Sent SimKernel::send(Link link, std::span<const iovec> gathered, std::size_t& accepted) {
  accepted = 0;
  const std::size_t total = total_bytes(gathered);
  Slot* const slot = slot_to_send(link, total);
  if (slot == nullptr) return Sent::failed;
  SimConnection& connection = *slot->connection;
  if (connection.broken(slot->side)) return break_off(link, *slot, total);
  const std::size_t free_bytes = room(*slot);

  const SimFaults& faults = network_.faults();
  // An engine that copies: the bytes are sent once there is room, even when the link is closed.
  const bool answered = slot->side == SimSide::server || connection.opened();
  const bool copied = answered && total <= copied_bytes_max && total > free_bytes &&
                      connection.waiting(slot->side) == 0 && network_.chance(faults.copied_send);
  const bool lent = !copied && network_.chance(faults.completion_send);
  if (!lent) {
    accepted = copied ? total : std::min(total, free_bytes);
    counters_.sends_copied += copied ? 1 : 0;
    if (!copied && accepted > 0 && network_.chance(faults.short_send)) {
      accepted = network_.random().below(accepted);
    }
    connection.write(slot->side, copy_of(gathered, 0, accepted));
  }
  network_.note("send", connection.number(), accepted);
  if (accepted == total) {
    ++counters_.sends_completed;
    return Sent::completed;
  }
  if (accepted > 0) ++counters_.sends_short;
  slot->send.active = true;
  if (lent || !network_.chance(faults.readiness_send)) {
    lend(*slot, gathered, accepted);
  } else {
    ++counters_.sends_blocked;
  }
  touch(link);
  return Sent::pending;
}

// Keeps the parts of `gathered` beyond `skip`, and a copy of their bytes for the check.
void SimKernel::lend(Slot& slot, std::span<const iovec> gathered, std::size_t skip) {
  slot.send.lent = true;
  slot.send.copy = copy_of(gathered, skip, total_bytes(gathered) - skip);
  for (const iovec& part : gathered) {
    const std::size_t passed = std::min(skip, part.iov_len);
    skip -= passed;
    if (part.iov_len == passed) continue;
    slot.send.parts.push_back({static_cast<char*>(part.iov_base) + passed, part.iov_len - passed});
  }
  ++counters_.sends_lent;
}

// ---- connecting ------------------------------------------------------------------------------

Result<Link> SimKernel::connect(const ConnectOptions& options) {
  KATANA_REQUIRE(started_);
  if (!is_numeric(options.address)) {
    return fail(Code::invalid_argument,
                fmt::format("connect to {}:{}: not a numeric address; use one as in 127.0.0.1",
                            options.address, options.port));
  }
  if (!has_free_slot()) {
    return fail(Code::resource_exhausted, "connect: every link of this reactor is in use");
  }
  const SimFaults& faults = network_.faults();
  const std::size_t to_us = network_.draw(faults.peer_window_bytes);
  const auto connection =
      std::make_shared<SimConnection>(network_, to_us, network_.draw(faults.server_window_bytes));
  const Link link = add_link(connection, SimSide::peer);
  Slot& slot = slots_[link.index];
  slot.outgoing = std::make_unique<Outgoing>(*this, link);
  connection->attach(SimSide::peer, slot.outgoing.get());
  network_.note("connect", connection->number(), options.port);
  connection->request(address_, host_of(options.address), options.port);
  return link;
}

int SimKernel::failure(Link link) {
  const Slot* const slot = find(link);
  if (slot == nullptr || !slot->connection->broken(slot->side)) return 0;
  const bool refused = slot->side == SimSide::peer && !slot->connection->opened();
  return refused ? ECONNREFUSED : ECONNRESET;
}

// The number of bytes that the kernel takes at once; none before the other side has answered.
std::size_t SimKernel::room(const Slot& slot) {
  const bool answered = slot.side == SimSide::server || slot.connection->opened();
  return answered ? slot.connection->room(slot.side) : 0;
}

// ---- accepting -------------------------------------------------------------------------------

Result<Listener> SimKernel::listen(const ListenOptions& options) {
  KATANA_REQUIRE(started_);
  if (!is_numeric(options.address)) {
    return fail(
        Code::invalid_argument,
        fmt::format("listen on {}:{}: not a numeric address; use one as in 127.0.0.1 or ::1",
                    options.address, options.port));
  }
  const bool must_be_free = options.must_be_free && !network_.topology().shares_ports(address_);
  if (must_be_free && options.port != 0 && network_.listens_on(options.port, address_)) {
    return fail(Code::already_exists,
                fmt::format("listen on {}:{}: Address already in use; choose another port",
                            options.address, options.port));
  }
  const std::uint16_t port = options.port != 0 ? options.port : network_.free_port();
  listeners_.push_back({options, port, {}, {}, false});
  return static_cast<Listener>(listeners_.size() - 1);
}

bool SimKernel::listens_on(std::uint16_t port) const {
  return std::ranges::any_of(
      listeners_, [port](const auto& each) { return each.port == port && !each.closed; });
}

bool SimKernel::accepting() const {
  return std::ranges::any_of(listeners_, [](const auto& each) { return !each.closed; });
}

void SimKernel::on_handshake(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) {
  const auto place = std::ranges::find_if(
      listeners_, [port](const auto& each) { return each.port == port && !each.closed; });
  ListenState& listener = *place;
  const auto waiting = listener.handshaking.size() + listener.ready.size();
  const auto backlog = static_cast<std::size_t>(std::max(listener.options.backlog, 1));
  if (closing_at_ != never || waiting >= backlog) {
    ++counters_.handshakes_dropped;
    network_.after(handshake_retry, [&network = network_, connection, port] {
      network.handshake(connection, port);
    });
    return;
  }
  enqueue(connection, port);
  connection->establish();
}

void SimKernel::enqueue(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) {
  const auto place = std::ranges::find_if(
      listeners_, [port](const auto& each) { return each.port == port && !each.closed; });
  connection->listener = static_cast<Listener>(place - listeners_.begin());
  connection->attach(SimSide::server, this);
  place->handshaking.push_back(connection);
  if (place->options.peer_speaks_first) connection->defer(defer_max);
}

// Another process has the socket, and with it the queue.
void SimKernel::leave(ListenState& listener) {
  listener.closed = true;
  std::deque<std::shared_ptr<SimConnection>> queue = std::exchange(listener.handshaking, {});
  for (const auto& each : std::exchange(listener.ready, {})) queue.push_back(each);
  for (const auto& each : queue) {
    each->stop_deferring();
    each->link_state = SimLink::connecting;
    network_.hand_over(each, listener.port);
  }
}

void SimKernel::take_over(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) {
  enqueue(connection, port);
  promote(*connection);
}

// Moves a connection whose handshake is over to the queue of its listener.
void SimKernel::promote(SimConnection& connection) {
  const auto self = connection.shared_from_this();
  ListenState& listener = listeners_[connection.listener];
  const bool broken = connection.broken(SimSide::server);
  const bool speaks = !listener.options.peer_speaks_first || connection.defer_over() ||
                      connection.arrived(SimSide::server) > 0 || connection.ended(SimSide::server);
  if (!broken && !(connection.established() && speaks)) return;
  connection.stop_deferring();
  std::erase(listener.handshaking, self);
  connection.link_state = broken ? SimLink::closed : SimLink::queued;
  if (!broken) listener.ready.push_back(self);
}

bool SimKernel::can_accept(const ListenState& listener) const {
  return !accept_paused_ && !listener.ready.empty() && has_free_slot();
}

void SimKernel::accept_from(Listener listener) {
  while (can_accept(listeners_[listener]) && accept_one(listener)) {
    if (network_.chance(stop_accepting_chance)) return;
  }
}

bool SimKernel::accept_one(Listener listener) {
  const SimFaults& faults = network_.faults();
  if (accept_failures_left_ == 0 && network_.chance(faults.accept_failure)) {
    accept_failures_left_ = network_.draw(faults.accept_failures);
  }
  if (accept_failures_left_ > 0) {
    --accept_failures_left_;
    ++counters_.accept_failures;
    accept_paused_ = true;
    network_.note("on_accept_failed", 0, accept_failures_left_);
    sink_accept_failed(network_.chance(512) ? AcceptFailure::descriptors : AcceptFailure::memory);
    return false;
  }
  auto& ready = listeners_[listener].ready;
  const Link link = add_link(ready.front(), SimSide::server);
  ready.front()->link_state = SimLink::open;
  ready.front()->link = link;
  network_.note("on_accepted", ready.front()->number(), link.index);
  const bool is_v6 = listeners_[listener].options.address.find(':') != std::string::npos;
  const PeerEndpoint peer = ready.front()->peer(is_v6);
  ready.pop_front();
  touch(link);
  if (!sink_accepted(link, listener, peer) && find(link) != nullptr) close(link);
  return true;
}

void SimKernel::close_listeners() {
  if (closing_at_ != never) return;
  network_.note("close_listeners", 0, 0);
  for (ListenState& each : listeners_) {
    if (each.handed_over) leave(each);
  }
  closing_at_ = network_.now() + handshake_grace;
  network_.at(closing_at_, [] {});  // an event: time stops there
  accept_paused_ = false;
}

bool SimKernel::can_finish_listeners() const {
  return closing_at_ <= network_.now() && std::ranges::any_of(listeners_, [](const auto& each) {
           return !each.closed && (each.ready.empty() || !each.handshaking.empty());
         });
}

// Handshakes that took too long are refused. Connections in the queue are accepted first, however
// long that takes.
void SimKernel::finish_listeners() {
  for (ListenState& each : listeners_) {
    for (const auto& connection : std::exchange(each.handshaking, {})) {
      connection->stop_deferring();
      connection->link_state = SimLink::closed;
      connection->reset(SimSide::server);
    }
    if (each.ready.empty()) each.closed = true;
  }
}

// ---- descriptors -----------------------------------------------------------------------------

Result<void> SimKernel::watch(int fd, Readiness wanted, Watcher& watcher) {
  KATANA_REQUIRE(wanted != Readiness{});
  if (fd < 0)
    return fail(Code::invalid_argument, fmt::format("watch descriptor {}: it is none", fd));
  const Watched watched = {fd, wanted, &watcher, ++watch_number_};
  const auto place = std::ranges::find(watched_, fd, &Watched::fd);
  place == watched_.end() ? watched_.push_back(watched) : void(*place = watched);
  return {};
}

void SimKernel::unwatch(int fd) {
  std::erase_if(watched_, [fd](auto& each) { return each.fd == fd; });
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
