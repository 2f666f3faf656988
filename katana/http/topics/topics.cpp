#include "katana/http/topics/topics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "katana/http/session/topic.hpp"
#include "katana/http/session/websocket_session.hpp"
#include "katana/stores/bus/bus.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana {

namespace {

constexpr Bytes kind_header = "Katana-Kind";

}  // namespace

// A topic that a bus may carry to other processes.
struct Topics::SharedTopic final : session::Topic {
  SharedTopic(std::string given, const TopicsOptions& how)
      : Topic(std::move(given)),
        options(how),
        subject(how.bus != nullptr ? how.subjects + "." + bus::escape_token(name) : std::string()) {
  }
  std::unique_ptr<net::Attachment> hear(session::WebSocketPost& post) override;

  const TopicsOptions& options;  // those of its Topics
  const std::string subject;     // empty: there is no bus
};

namespace {

struct HeardTopic final : net::Attachment {
  explicit HeardTopic(bus::Subscription given) noexcept : subscription(std::move(given)) {}
  bus::Subscription subscription;
};

}  // namespace

// Frames each received message once for the reactor. Null: there is no bus, or it refuses.
std::unique_ptr<net::Attachment> Topics::SharedTopic::hear(session::WebSocketPost& post) {
  if (options.bus == nullptr) return nullptr;
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
        if (!session::is_sendable(message.payload(), kind)) return;
        Batch& batch = session::frame_message(message.payload(), kind);
        post.deliver(*this, batch);
        batch.let_go();
      },
      std::move(how));
  if (!subscribed) return nullptr;
  return std::make_unique<HeardTopic>(*std::move(subscribed));
}

// Ordered, not hashed: clients may choose the names, and could choose names that collide.
struct Topics::Names {
  using Map = std::map<std::string, std::weak_ptr<SharedTopic>, std::less<>>;

  explicit Names(TopicsOptions given) : options(std::move(given)) {}
  std::shared_ptr<SharedTopic> find(Bytes topic) const;
  std::shared_ptr<SharedTopic> find_or_add(Bytes topic);
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

auto Topics::Names::find(Bytes topic) const -> std::shared_ptr<SharedTopic> {
  const std::lock_guard lock(mutex);
  const auto found = topics.find(topic);
  return found != topics.end() ? found->second.lock() : nullptr;
}

auto Topics::Names::find_or_add(Bytes topic) -> std::shared_ptr<SharedTopic> {
  const std::lock_guard lock(mutex);
  if (const auto found = topics.find(topic); found != topics.end()) {
    if (auto there = found->second.lock()) return there;
  }
  forget_some();
  auto added = std::make_shared<SharedTopic>(std::string(topic), options);
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
  auto& session = static_cast<session::WebSocketSession&>(socket);
  session::WebSocketPost& post = *session.share().post();
  const session::Slot slot = session.slot();
  if (post.subscriptions(slot) < session.share().options().subscriptions_max) {
    return post.subscribe(slot, names_->find_or_add(topic)) ? SubscribeOutcome::subscribed
                                                            : SubscribeOutcome::already;
  }
  // Nothing is added for a refused caller.
  const std::shared_ptr<SharedTopic> found = names_->find(topic);
  return found != nullptr && post.is_subscribed(slot, *found) ? SubscribeOutcome::already
                                                              : SubscribeOutcome::full;
}

bool Topics::unsubscribe(WebSocket& socket, Bytes topic) {
  auto& session = static_cast<session::WebSocketSession&>(socket);
  const std::shared_ptr<SharedTopic> found = names_->find(topic);
  return found != nullptr && session.share().post()->unsubscribe(session.slot(), found);
}

TopicPublished Topics::publish(Bytes topic, Bytes payload, MessageKind kind) {
  TopicPublished published;
  if (!session::is_sendable(payload, kind)) {
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
  const std::shared_ptr<SharedTopic> found = names_->find(topic);
  if (found == nullptr) return published;
  Batch& batch = session::frame_message(payload, kind);
  session::WebSocketPost* here = nullptr;
  {
    const std::lock_guard lock(found->mutex);
    for (const session::Topic::Share& each : found->shares) {
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
  const std::shared_ptr<SharedTopic> found = names_->find(topic);
  if (found == nullptr) return 0;
  const std::lock_guard lock(found->mutex);
  std::size_t sum = 0;
  for (const session::Topic::Share& each : found->shares) sum += each.subscribers;
  return sum;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
