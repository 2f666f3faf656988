#include "katana/http/session/websocket_post.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/text/utf8.hpp"
#include "katana/http/session/topic.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/wire/ws/frame.hpp"

namespace katana::session {
namespace {

std::size_t bytes_of(const PostedJob& job) noexcept {
  return sizeof(PostedJob) + (job.block != nullptr ? job.block->allocated_bytes() : 0);
}

}  // namespace

bool is_sendable(Bytes payload, MessageKind kind) noexcept {
  return kind != MessageKind::text || is_utf8(payload);
}

Batch& frame_message(Bytes payload, MessageKind kind) {
  const auto opcode = kind == MessageKind::text ? ws::Opcode::text : ws::Opcode::binary;
  const std::size_t head = ws::header_bytes(payload.size(), false);
  Batch& batch = Block::make(head + payload.size(), 1);
  char* const to =
      ws::write_header(batch.block().data(), opcode, true, false, payload.size(), false, 0);
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
  return batch;
}

WebSocketPost::Doorbell::Doorbell(WebSocketPost& owner) noexcept
    : Message([](Message& message) noexcept { static_cast<Doorbell&>(message).post.take_jobs(); }),
      post(owner) {}

WebSocketPost::~WebSocketPost() {
  for (const PostedJob& job : jobs_) {
    if (job.block != nullptr) job.block->drop();
  }
}

// ---- from any thread ---------------------------------------------------------------------------

SendOutcome WebSocketPost::post(PostedJob&& job) {
  const std::size_t bytes = bytes_of(job);
  SendOutcome outcome = SendOutcome::sent;
  {
    const std::lock_guard lock(mutex_);
    if (open_ == 0) {
      outcome = SendOutcome::closed;
    } else if (bytes_ != 0 && (bytes_ > bytes_max_ || bytes > bytes_max_ - bytes_)) {
      outcome = SendOutcome::full;
    } else {
      bytes_ += bytes;
      jobs_.push_back(std::move(job));
      // Under the lock: the reactor exists while a slot is open.
      if (!std::exchange(rung_, true)) reactor_.load(std::memory_order_relaxed)->post(doorbell_);
      return outcome;
    }
  }
  if (job.block != nullptr) job.block->drop();
  return outcome;
}

// ---- on the reactor's thread -------------------------------------------------------------------

void WebSocketPost::take_jobs() noexcept {
  std::vector<PostedJob> jobs;
  {
    const std::lock_guard lock(mutex_);
    jobs.swap(jobs_);
    bytes_ = 0;
    rung_ = false;
  }
  for (const PostedJob& job : jobs) run(job);
}

void WebSocketPost::run(const PostedJob& job) noexcept {
  WebSocketSession* const session = find(job.slot);
  if (job.block == nullptr) {
    if (session != nullptr) session->close(job.code, job.reason);
    return;
  }
  if (session == nullptr && job.topic == nullptr) {
    job.block->drop();
    return;
  }
  Batch& batch = job.block->adopt();
  charge(batch);
  if (session != nullptr) session->deliver(batch);
  if (job.topic != nullptr) deliver(*job.topic, batch);
  batch.let_go();
}

Slot WebSocketPost::open(net::Reactor& reactor, WebSocketSession& session) {
  if (free_.empty()) {
    free_.reserve(entries_.size() + 1);  // close() then needs no allocation
    entries_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(entries_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  entries_[index].session = &session;
  const std::lock_guard lock(mutex_);
  KATANA_CHECK(reactor_ == nullptr || reactor_ == &reactor);
  reactor_ = &reactor;
  ++open_;
  return {index, entries_[index].generation};
}

void WebSocketPost::close(Slot slot) noexcept {
  if (find(slot) == nullptr) return;
  Entry& entry = entries_[slot.index];
  while (!entry.subscriptions.empty()) {
    const std::shared_ptr<Topic> topic = entry.subscriptions.back().topic;
    (void)unsubscribe(slot, topic);
  }
  entry.subscriptions.shrink_to_fit();
  entry.session = nullptr;
  if (++entry.generation == 0) entry.generation = 1;
  free_.push_back(slot.index);
  const std::lock_guard lock(mutex_);
  --open_;
}

WebSocketSession* WebSocketPost::find(Slot slot) noexcept {
  if (slot.generation == 0 || slot.index >= entries_.size()) return nullptr;
  const Entry& entry = entries_[slot.index];
  return entry.generation == slot.generation ? entry.session : nullptr;
}

// ---- topics ------------------------------------------------------------------------------------

bool WebSocketPost::is_subscribed(Slot slot, const Topic& topic) const noexcept {
  for (const Subscription& each : entries_[slot.index].subscriptions) {
    if (each.topic.get() == &topic) return true;
  }
  return false;
}

bool WebSocketPost::subscribe(Slot slot, const std::shared_ptr<Topic>& topic) {
  if (is_subscribed(slot, *topic)) return false;
  Entry& entry = entries_[slot.index];
  Subscribers& all = subscribers_[topic.get()];
  std::vector<std::uint32_t>& list = all.entries;
  if (list.empty()) all.elsewhere = topic->hear(*this);
  entry.subscriptions.push_back({topic, static_cast<std::uint32_t>(list.size())});
  list.push_back(slot.index);
  topic->add(shared_from_this());
  return true;
}

bool WebSocketPost::unsubscribe(Slot slot, const std::shared_ptr<Topic>& topic) noexcept {
  std::vector<Subscription>& all = entries_[slot.index].subscriptions;
  for (Subscription& each : all) {
    if (each.topic != topic) continue;
    leave_list(*topic, each.place);
    each = std::move(all.back());
    all.pop_back();
    topic->remove(*this);
    return true;
  }
  return false;
}

// Moves the last entry of the list to the freed place.
void WebSocketPost::leave_list(const Topic& topic, std::uint32_t place) noexcept {
  const auto found = subscribers_.find(&topic);
  std::vector<std::uint32_t>& list = found->second.entries;
  const std::uint32_t moved = list.back();
  list[place] = moved;
  list.pop_back();
  if (list.empty()) {
    subscribers_.erase(found);
    return;
  }
  if (place == list.size()) return;
  for (Subscription& each : entries_[moved].subscriptions) {
    if (each.topic.get() == &topic) each.place = place;
  }
}

// Delivering neither ends a session nor changes a list: the effects of a full queue come later.
void WebSocketPost::deliver(const Topic& topic, Batch& batch) noexcept {
  const auto found = subscribers_.find(&topic);
  if (found == subscribers_.end()) return;
  charge(batch);
  for (const std::uint32_t index : found->second.entries) entries_[index].session->deliver(batch);
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
