// Bytes of a session: what is received, sent and kept. link_start.cpp has the start.
#include "katana/stores/database/postgres/link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <system_error>
#include <utility>

#include "katana/stores/database/postgres/link_tls.hpp"
#include "katana/stores/database/postgres/opening_link.hpp"
#include "katana/stores/database/postgres/socket_address.hpp"

namespace katana::database::postgres {
namespace {

// More encrypted bytes do not wait for the socket: they would be of no use, and take memory.
constexpr std::size_t sealed_bytes_max = 64 * 1024;

// The sealed bytes of a link fit into its share of blocks. The first of these may be sent in part,
// and the last one be begun. A link therefore never waits for the blocks of another one.
static_assert(sealed_bytes_max + tls::record_bytes_max + 2 * tls::record_overhead_max +
                  2 * LinkMemory::block_bytes <=
              LinkMemory::link_blocks * LinkMemory::block_bytes);

bool is_within(Bytes part, const std::string& whole) noexcept {
  return std::less_equal<>()(whole.data(), part.data()) &&
         std::less_equal<>()(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

Link::Link(LinkMemory& memory, LinkOptions options, const net::Destinations* destinations)
    : memory_(memory),
      sockets_(destinations != nullptr ? destinations->sockets() : engine::kernel_sockets()),
      start_(std::make_unique<OpeningLink>(std::move(options), destinations)) {}

Link::~Link() {
  if (is_open() && !send_failed_ && !full_ && socket_ >= 0) {
    (void)machine_->terminate(*this);
    if (tls_ != nullptr) {
      seal();
      tls_->end();
    }
    flush();
  }
  close();
}

void Link::reserve(std::size_t requests) {
  const std::size_t wanted = machine_->pending() + requests;
  const std::size_t present = machine_->capacity();
  if (wanted <= present) return;
  std::vector<protocol::Machine::Pending> larger = std::exchange(memory_.pending, {});
  if (larger.size() < wanted) larger.resize(std::max(wanted, 2 * present));
  machine_->move_to(larger);
  pending_.swap(larger);
}

// All requests are answered: the next link of the thread that needs much room has it.
void Link::give_back_requests() noexcept {
  machine_->move_to(first_pending_);
  const bool is_spare =
      pending_.size() > memory_.pending.size() && pending_.size() <= LinkMemory::spare_requests_max;
  if (is_spare) pending_.swap(memory_.pending);
  pending_ = {};
}

// ---- output

void Link::write(Bytes bytes) {
  if (send_failed_) return;
  if (output_.empty() && output_.capacity() < memory_.output.capacity()) {
    output_.swap(memory_.output);
  }
  output_.append(bytes);
}

bool Link::has_output() const noexcept {
  return sent_ < output_.size() || (tls_ != nullptr && !tls_->output().empty());
}

void Link::seal() noexcept {
  while (tls_->is_open() && sent_ < output_.size() && tls_->output().pending() < sealed_bytes_max) {
    const std::size_t taken = tls_->seal(Bytes(output_).substr(sent_));
    if (taken == 0) return;
    sent_ += taken;
  }
}

// False: the socket is full, or broken.
bool Link::send_once() noexcept {
  std::array<iovec, 16> parts;
  std::size_t count = 1;
  if (tls_ != nullptr) {
    seal();
    if (tls_->output().empty()) {
      send_failed_ = tls_->has_failed();  // else the handshake goes on: a block is always free
      return false;
    }
    count = tls_->output().gather(parts);
  } else {
    parts[0] = {output_.data() + sent_, output_.size() - sent_};
  }
  const auto [taken, error] = sockets_.send(socket_, {parts.data(), count});
  if (error != 0) {
    full_ = error == EAGAIN;
    // The last words of the server may still be there to be received.
    send_failed_ = !full_;
    return false;
  }
  if (tls_ != nullptr) {
    tls_->output().advance(taken);
  } else {
    sent_ += taken;
  }
  return true;
}

void Link::flush() noexcept {
  full_ = false;
  while (!send_failed_ && has_output() && send_once()) {
  }
  if (has_output() && !send_failed_) return;
  sent_ = 0;
  if (start_ != nullptr) erase_secret(output_);  // it may have a password
  output_.clear();
  const bool is_spare = output_.capacity() > memory_.output.capacity() &&
                        output_.capacity() <= LinkMemory::spare_bytes_max;
  if (is_spare) output_.swap(memory_.output);
  output_ = std::string();
}

// ---- input

bool Link::read_socket(char* to, std::size_t room, std::size_t& count) noexcept {
  const auto [taken, error] = sockets_.receive(socket_, to, room);
  count = taken;
  may_have_more_ = taken == room;
  if (taken > 0 || error == EAGAIN) return true;
  problem_ = {.text = error == 0
                          ? std::string("the server closed the connection")
                          : "the connection broke: " + std::generic_category().message(error)};
  return false;
}

bool Link::receive() noexcept {
  if (tls_ != nullptr) return receive_sealed();
  std::size_t count = 0;
  if (input_.empty()) {
    char* const room = memory_.input_room();
    const bool goes_on = read_socket(room, LinkMemory::input_bytes, count);
    input_ = {room, count};
    return goes_on;
  }
  keep_unread();
  // Doubles at most: a length that lies allocates no more than what really comes.
  const std::size_t before = kept_.size();
  const std::size_t missing = size_ > before ? size_ - before : 0;
  const std::size_t room =
      std::clamp(missing, LinkMemory::input_bytes, std::max(before, LinkMemory::input_bytes));
  bool goes_on = true;
  kept_.resize_and_overwrite(before + room, [&](char* bytes, std::size_t) {
    goes_on = read_socket(bytes + before, room, count);
    return before + count;
  });
  input_ = kept_;
  return goes_on;
}

bool Link::receive_sealed() noexcept {
  char* const room = memory_.input_room();
  std::size_t count = 0;
  bool goes_on = read_socket(room, LinkMemory::input_bytes, count);
  char* const plain = memory_.plain_room();
  const std::size_t written = tls_->receive({room, count}, {plain, LinkMemory::plain_bytes});
  if (input_.empty()) {
    input_ = {plain, written};
  } else {
    keep_unread();
    kept_.append(plain, written);
    input_ = kept_;
  }
  if (tls_->has_failed()) {
    problem_ = {.text = tls_->problem()};
    goes_on = false;
  }
  return goes_on;
}

void Link::keep_unread() {
  if (!pending_.empty() && machine_ && machine_->pending() == 0) give_back_requests();
  if (input_.empty()) {
    input_ = {};
    if (kept_.capacity() > std::string().capacity()) kept_ = std::string();
    return;
  }
  if (is_within(input_, kept_)) {
    kept_.erase(0, kept_.size() - input_.size());
  } else {
    kept_.assign(input_);
  }
  input_ = kept_;
}

void Link::take_asides() noexcept {
  while (!input_.empty() && Bytes("NAS").contains(input_.front())) {
    const protocol::Step step = machine_->next(input_);
    if (step.event == protocol::Event::need_bytes) size_ = step.size;
    if (step.consumed == 0) return;
    input_.remove_prefix(step.consumed);
    if (step.event == protocol::Event::setting) note_setting(step.body);
  }
}

protocol::Step Link::next() noexcept {
  for (;;) {
    const protocol::Step step = machine_->next(input_);
    input_.remove_prefix(step.consumed);
    switch (step.event) {
      case protocol::Event::setting: note_setting(step.body); break;
      case protocol::Event::notice: break;
      case protocol::Event::need_bytes: size_ = step.size; return step;
      default: return step;
    }
  }
}

// The server reports these two whenever they change.
void Link::note_setting(Bytes body) noexcept {
  const protocol::Setting setting = protocol::setting_of(body);
  facts_.note(setting.name, setting.value);
}

std::unique_ptr<CancelKey> Link::cancel_key() const {
  auto made = std::make_unique<CancelKey>();
  if (key_.empty()) return nullptr;
  if (!socket_path_.empty()) {
    // The server may call the socket by another path, which this process may not have.
    const auto address = unix_address(socket_path_);
    if (!address) return nullptr;
    made->address = address->storage;
    made->address_bytes = address->size;
  } else {
    made->address_bytes = sizeof made->address;
    auto* const address = reinterpret_cast<sockaddr*>(&made->address);
    if (getpeername(socket_, address, &made->address_bytes) != 0) return nullptr;
  }
  made->process = process_;
  made->key = key_;
  return made;
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
