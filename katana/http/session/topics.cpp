#include "katana/http/session/topics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "katana/http/session/topic.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::session {

namespace {

constexpr Bytes kind_header = "Katana-Kind";

}  // namespace

Topic::Topic(std::string given, const TopicsOptions& how)
    : name(std::move(given)),
      options(how),
      subject(how.bus != nullptr ? how.subjects + "." + bus::escape_token(name) : std::string()) {}

// Frames each received message once for the reactor.
std::optional<bus::Subscription> Topic::hear(WebSocketPost& post) {
  if (options.bus == nullptr) return std::nullopt;
  bus::SubscribeOptions how;
  how.own = false;  // publish() has delivered its messages already
  how.on_notice = [this](const bus::Notice& notice) {
    if (options.on_notice) options.on_notice(name, notice);
  };
  auto subscribed = options.bus->subscribe(
      subject,
      [this, &post](const bus::Delivery& message) {
        const bool is_binary = message.header(kind_header).value_or("") == "binary";
        const MessageKind kind = is_binary ? MessageKind::binary : MessageKind::text;
        // Another program may publish to the subject: every subscriber would end its connection.
        if (!is_sendable(message.payload(), kind)) return;
        Batch& batch = frame_message(message.payload(), kind);
        post.deliver(*this, batch);
        batch.let_go();
      },
      std::move(how));
  if (!subscribed) return std::nullopt;
  return *std::move(subscribed);
}

void Topic::add(const std::shared_ptr<WebSocketPost>& post) {
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(shares, post, &Share::post);
  if (found != shares.end()) {
    ++found->subscribers;
  } else {
    shares.push_back({post, 1});
  }
}

void Topic::remove(const WebSocketPost& post) noexcept {
  const std::lock_guard lock(mutex);
  const auto found =
      std::ranges::find_if(shares, [&](const Share& each) { return each.post.get() == &post; });
  if (found != shares.end() && --found->subscribers == 0) shares.erase(found);
}

// Ordered, not hashed: clients may choose the names, and could choose names that collide.
struct Topics::Names {
  using Map = std::map<std::string, std::weak_ptr<Topic>, std::less<>>;

  explicit Names(TopicsOptions given) : options(std::move(given)) {}
  std::shared_ptr<Topic> find(Bytes topic) const;
  std::shared_ptr<Topic> find_or_add(Bytes topic);
  // REQUIRES that the mutex is held.
  void forget_some();

  const TopicsOptions options;
  mutable std::mutex mutex;  // guards the members below
  Map topics;
  Map::iterator sweep = topics.end();  // the next name to examine
  std::uint64_t examined = 0;
};

Topics::Topics(TopicsOptions options) : names_(std::make_unique<Names>(std::move(options))) {}
Topics::~Topics() = default;

std::shared_ptr<Topic> Topics::Names::find(Bytes topic) const {
  const std::lock_guard lock(mutex);
  const auto found = topics.find(topic);
  return found != topics.end() ? found->second.lock() : nullptr;
}

std::shared_ptr<Topic> Topics::Names::find_or_add(Bytes topic) {
  const std::lock_guard lock(mutex);
  if (const auto found = topics.find(topic); found != topics.end()) {
    if (auto there = found->second.lock()) return there;
  }
  forget_some();
  auto added = std::make_shared<Topic>(std::string(topic), options);
  topics.insert_or_assign(std::string(topic), added);
  return added;
}

// Drops names without subscribers. It examines three for each name that is added, in turn. A round
// ends before half as many new names have come as there were. The rest is thus bounded, and no
// caller waits for a sweep over all.
void Topics::Names::forget_some() {
  for (int count = 0; count < 3; ++count) {
    if (sweep == topics.end()) sweep = topics.begin();
    if (sweep == topics.end()) return;
    ++examined;
    sweep = sweep->second.expired() ? topics.erase(sweep) : std::next(sweep);
  }
}

SubscribeOutcome Topics::subscribe(WebSocket& socket, Bytes topic) {
  auto& session = static_cast<WebSocketSession&>(socket);
  WebSocketPost& post = *session.share().post();
  const Slot slot = session.slot();
  if (post.subscriptions(slot) < session.share().options().subscriptions_max) {
    return post.subscribe(slot, names_->find_or_add(topic)) ? SubscribeOutcome::subscribed
                                                            : SubscribeOutcome::already;
  }
  // Nothing is added for a refused caller.
  const std::shared_ptr<Topic> found = names_->find(topic);
  return found != nullptr && post.is_subscribed(slot, *found) ? SubscribeOutcome::already
                                                              : SubscribeOutcome::full;
}

bool Topics::unsubscribe(WebSocket& socket, Bytes topic) {
  auto& session = static_cast<WebSocketSession&>(socket);
  const std::shared_ptr<Topic> found = names_->find(topic);
  return found != nullptr && session.share().post()->unsubscribe(session.slot(), found);
}

Published Topics::publish(Bytes topic, Bytes payload, MessageKind kind) {
  Published published;
  if (!is_sendable(payload, kind)) {
    published.not_utf8 = true;
    return published;
  }
  if (names_->options.bus != nullptr) {
    const std::string subject = names_->options.subjects + "." + bus::escape_token(topic);
    const bus::Header binary[] = {{kind_header, "binary"}};
    bus::Publication publication{.subject = subject, .payload = payload};
    if (kind == MessageKind::binary) publication.headers = binary;
    auto sent = names_->options.bus->publish(publication);
    if (!sent) published.bus_problem = sent.error();
  }
  const std::shared_ptr<Topic> found = names_->find(topic);
  if (found == nullptr) return published;
  Batch& batch = frame_message(payload, kind);
  WebSocketPost* here = nullptr;
  {
    const std::lock_guard lock(found->mutex);
    for (const Topic::Share& each : found->shares) {
      if (each.post->is_here()) {
        here = each.post.get();
        published.subscribers += each.subscribers;
        continue;
      }
      batch.block().share();
      const SendOutcome outcome = each.post->post({.topic = found, .block = &batch.block()});
      (outcome == SendOutcome::sent ? published.subscribers : published.missed) += each.subscribers;
    }
  }
  // Without the lock: a slow subscriber may be closed.
  if (here != nullptr) here->deliver(*found, batch);
  batch.let_go();
  return published;
}

Topics::Statistics Topics::statistics() const {
  const std::lock_guard lock(names_->mutex);
  return {.names = names_->topics.size(), .examined = names_->examined};
}

std::size_t Topics::subscribers(Bytes topic) const {
  const std::shared_ptr<Topic> found = names_->find(topic);
  if (found == nullptr) return 0;
  const std::lock_guard lock(found->mutex);
  std::size_t sum = 0;
  for (const Topic::Share& each : found->shares) sum += each.subscribers;
  return sum;
}

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
