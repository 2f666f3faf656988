// The connection of a Listener sends these commands behind its greeting:
//
//   CLIENT TRACKING ON BCAST PREFIX …, SUBSCRIBE …, PING
//
// It hears when the reply to that PING is there: the server has executed the commands by then.
#include "katana/stores/redis/listener.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "katana/base/coroutine/mailbox.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/net/upstream/connection.hpp"
#include "katana/stores/redis/greeting.hpp"
#include "katana/stores/redis/reply_reader.hpp"

namespace katana::redis {
namespace detail {

// A channel, or a prefix of keys, that a Hearer wants to hear.
struct Wish {
  enum class State : std::uint8_t { wanted, asked, heard };
  std::string name;  // of a channel, or the prefix of keys
  bool is_channel = false;
  std::weak_ptr<Hearer> hearer;
  State state = State::wanted;
};

}  // namespace detail

using detail::Wish;

// The state that all reactors of the process share.
class Listener::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(std::shared_ptr<Shared> shared) noexcept : shared_(std::move(shared)) {}

  void add(Wish wish);
  void start(net::Reactor& reactor);
  bool hears() const noexcept { return hears_.load(std::memory_order_acquire); }
  const std::shared_ptr<Shared>& shared() const noexcept { return shared_; }

  // ---- of the connection, on its reactor ----
  std::vector<Wish> take_new();
  // Called when the connection hears all wishes that take_new() gave so far.
  void note_hearing() noexcept;
  void note_away() noexcept { hears_.store(false, std::memory_order_release); }
  // Called when the connection ends with its reactor; it gives its wishes back.
  void note_end(std::vector<Wish> wishes) noexcept;

 private:
  const std::shared_ptr<Shared> shared_;
  // release and acquire: a caller that sees `true` stores no value that an earlier on_missed()
  // would have had to remove.
  std::atomic<bool> hears_ = false;
  // relaxed: a first look, which spares callers that call start() each time the lock.
  std::atomic<bool> is_begun_ = false;
  std::mutex mutex_;              // guards what follows
  net::Reactor* home_ = nullptr;  // null: there is no connection
  std::vector<Wish> new_;         // that the connection does not know of
};

namespace detail {

class Line final : public net::Attachment, private upstream::Owner, private net::TimerEntry {
 public:
  Line(net::Reactor& reactor, std::shared_ptr<Listener::State> state,
       std::shared_ptr<Counters> counters)
      : TimerEntry([](TimerEntry& entry) noexcept { static_cast<Line&>(entry).look(); }),
        reactor_(reactor),
        state_(std::move(state)),
        counters_(std::move(counters)),
        greeting_(state_->shared()->options()),
        connection_(reactor, state_->shared()->servers(), *this) {
    connection_.start();
  }
  ~Line() override { state_->note_end(std::move(wishes_)); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Something more is wanted.
  void ask_more() noexcept {
    if (is_asking_allowed_) ask();
  }

 private:
  void on_open() noexcept override {
    reader_.begin(state_->shared()->options().reply);
    const SecretText password = state_->shared()->password();
    greeting_.begin(password.reveal(), [this](Bytes wire) { (void)connection_.write(wire); });
  }
  std::size_t on_bytes(Bytes input) noexcept override {
    const std::size_t consumed =
        reader_.read(input, [this](const Reply& reply) { return take(reply); });
    if (auto problem = reader_.problem(connection_.server().text())) {
      counters_->protocol_errors.add();
      connection_.lose(*std::move(problem));
    }
    return consumed;
  }
  void on_closed(const katana::Error&) noexcept override {
    state_->note_away();
    cancel();
    greeting_.end();
    unanswered_ = 0;
    is_asking_allowed_ = false;
    std::erase_if(wishes_, [](const Wish& each) { return each.hearer.expired(); });
    for (Wish& each : wishes_) each.state = Wish::State::wanted;
  }

  bool take(const Reply& reply) {
    if (reply.type() == Reply::Type::push) {
      counters_->pushes.add();
      hear(reply);
      return true;
    }
    if (greeting_.is_going()) return take_greeting(reply);
    if (reply.is_error() || unanswered_ == 0) {
      connection_.lose(katana::Error(
          reply.is_error() ? Code::permission_denied : Code::data_loss,
          reply.is_error() ? fmt::format("Redis at {} does not let this user listen: {}",
                                         connection_.server().text(), reply.text().substr(0, 300))
                           : fmt::format("Redis at {} sent a reply without a request",
                                         connection_.server().text())));
      return false;
    }
    if (--unanswered_ == 0) begin_hearing();
    return true;
  }
  bool take_greeting(const Reply& reply) {
    if (auto taken = greeting_.take(reply); !taken) {
      connection_.lose(taken.error().within("Redis at " + connection_.server().text()));
      return false;
    }
    if (greeting_.is_going()) return true;
    is_asking_allowed_ = true;
    ask();
    return true;
  }

  // Sends the commands for new wishes, and a PING: its reply shows that the server has executed
  // them.
  void ask() {
    for (Wish& each : state_->take_new()) wishes_.push_back(std::move(each));
    Command track("CLIENT", "TRACKING", "ON", "BCAST");
    Command subscribe("SUBSCRIBE");
    bool has_keys = false, has_channels = false;
    for (Wish& each : wishes_) {
      if (each.state != Wish::State::wanted) continue;
      const bool is_new = std::ranges::none_of(wishes_, [&each](const Wish& other) {
        return other.state != Wish::State::wanted && other.is_channel == each.is_channel &&
               other.name == each.name;
      });
      each.state = Wish::State::asked;
      if (!is_new) continue;  // Redis refuses a prefix that it knows
      if (each.is_channel) {
        subscribe.add(Bytes(each.name));
        has_channels = true;
      } else {
        track.add("PREFIX").add(Bytes(each.name));
        has_keys = true;
      }
    }
    if (has_keys) say(track);
    if (has_channels) (void)connection_.write(subscribe.wire());  // pushes are its replies
    say_ping();
  }
  void say(Command& command) {
    counters_->commands.add();
    ++unanswered_;
    if (!connection_.write(command.wire())) {
      connection_.lose(katana::Error(
          Code::resource_exhausted,
          fmt::format("what is to be heard from Redis at {} does not fit into queued_bytes_max",
                      connection_.server().text())));
    }
  }
  void say_ping() {
    Command ping("PING");
    if (unanswered_ == 0) asked_at_ = reactor_.now();
    say(ping);
    if (!armed()) reactor_.timers().arm(*this, reactor_.now() + pause());
  }
  Duration pause() const noexcept { return state_->shared()->options().stalled_after; }
  void look() noexcept {
    if (unanswered_ > 0 && reactor_.now() - asked_at_ >= pause()) {
      connection_.lose(
          katana::Error(Code::deadline_exceeded,
                        fmt::format("Redis at {} has answered nothing for {} ms (stalled_after)",
                                    connection_.server().text(), pause().count_ms())));
      return;
    }
    say_ping();
  }

  void begin_hearing() {
    if (!connection_.is_up()) connection_.established();
    state_->note_hearing();
    for (Wish& each : wishes_) {
      if (each.state != Wish::State::asked) continue;
      each.state = Wish::State::heard;
      if (const auto hearer = each.hearer.lock()) hearer->on_missed();
    }
  }
  void hear(const Reply& push) {
    const auto& said = push.elements();
    if (said.size() == 2 && said[0].text() == "invalidate") return hear_changes(said[1]);
    if (said.size() != 3 || said[0].text() != "message") return;
    for (const Wish& each : wishes_) {
      if (!each.is_channel || each.name != said[1].text()) continue;
      if (const auto hearer = each.hearer.lock()) {
        hearer->on_message(said[1].text(), said[2].text());
      }
    }
  }
  // Null: all keys were removed.
  void hear_changes(const Reply& keys) {
    for (const Wish& each : wishes_) {
      if (each.is_channel) continue;
      const auto hearer = each.hearer.lock();
      if (hearer == nullptr) continue;
      if (keys.is_null()) hearer->on_missed();
      for (const Reply& key : keys.elements()) {
        if (key.text().starts_with(each.name)) hearer->on_changed(key.text());
      }
    }
  }

  net::Reactor& reactor_;
  const std::shared_ptr<Listener::State> state_;
  const std::shared_ptr<Counters> counters_;
  ReplyReader reader_;
  Greeting greeting_;
  std::vector<Wish> wishes_;
  std::size_t unanswered_ = 0;
  Instant asked_at_ = {};  // of the first that is unanswered
  bool is_asking_allowed_ = false;
  upstream::Connection connection_;
};

// A message to the reactor of the connection, which destroys the message.
struct MoreIsWanted final : Message {
  MoreIsWanted(net::Reactor& to, std::shared_ptr<Listener::State> of)
      : Message([](Message& message) noexcept {
          const std::unique_ptr<MoreIsWanted> self(static_cast<MoreIsWanted*>(&message));
          auto* const line = static_cast<Line*>(self->reactor.attached(self->state.get()));
          if (line != nullptr) line->ask_more();
        }),
        reactor(to),
        state(std::move(of)) {}
  net::Reactor& reactor;
  const std::shared_ptr<Listener::State> state;
};

}  // namespace detail

void Listener::State::add(Wish wish) {
  const std::scoped_lock lock(mutex_);
  note_away();  // not all of what is wanted
  new_.push_back(std::move(wish));
  if (home_ == nullptr) return;
  home_->post(*std::make_unique<detail::MoreIsWanted>(*home_, shared_from_this()).release());
}

void Listener::State::start(net::Reactor& reactor) {
  if (is_begun_.load(std::memory_order_relaxed)) return;
  {
    const std::scoped_lock lock(mutex_);
    if (home_ != nullptr) return;
    home_ = &reactor;
    is_begun_.store(true, std::memory_order_relaxed);
  }
  auto counters = shared_->join();
  if (counters == nullptr) {
    const std::scoped_lock lock(mutex_);
    home_ = nullptr;
    is_begun_.store(false, std::memory_order_relaxed);
    return;
  }
  reactor.attach(this,
                 std::make_unique<detail::Line>(reactor, shared_from_this(), std::move(counters)));
}

std::vector<Wish> Listener::State::take_new() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(new_, {});
}

void Listener::State::note_hearing() noexcept {
  const std::scoped_lock lock(mutex_);
  if (new_.empty()) hears_.store(true, std::memory_order_release);
}

void Listener::State::note_end(std::vector<Wish> wishes) noexcept {
  note_away();
  const std::scoped_lock lock(mutex_);
  home_ = nullptr;
  is_begun_.store(false, std::memory_order_relaxed);
  for (Wish& each : wishes) {
    each.state = Wish::State::wanted;
    new_.push_back(std::move(each));
  }
}

Listener::Listener(Client client) : state_(std::make_shared<State>(client.shared())) {}

void Listener::track(std::string prefix, std::weak_ptr<Hearer> hearer) {
  state_->add({.name = std::move(prefix), .hearer = std::move(hearer)});
}

void Listener::subscribe(std::string channel, std::weak_ptr<Hearer> hearer) {
  state_->add({.name = std::move(channel), .is_channel = true, .hearer = std::move(hearer)});
}

void Listener::start() {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor != nullptr) state_->start(*reactor);
}

bool Listener::hears() const noexcept { return state_->hears(); }

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
