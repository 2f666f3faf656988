#include "katana/stores/database/postgres/notifications.hpp"

#include <fmt/format.h>

#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/destinations.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/database/postgres/listener_thread.hpp"
#include "katana/stores/database/postgres/notification_hub.hpp"

namespace katana::database::postgres {

namespace {

std::optional<Error> problem_of_channel(std::string_view channel) {
  if (!channel.empty() && channel.size() <= channel_bytes_max &&
      channel.find('\0') == channel.npos) {
    return std::nullopt;
  }
  return Error(Kind::invalid_value,
               fmt::format("a channel's name has 1 to {} bytes and none that is zero; this one has "
                           "{} bytes",
                           channel_bytes_max, channel.size()));
}

// The thread that listens uses the network of the machine. A server of a simulated network is not
// there, and another one of its name must not be reached.
katana::Result<void> check_network(const Options& options) {
  if (options.is_on_reactors_only) {
    return katana::fail(Code::invalid_argument,
                        "database option 'is_on_reactors_only' goes without notifications: LISTEN "
                        "needs a thread");
  }
  const net::Reactor* const reactor = net::Reactor::current();
  const auto* const simulated = reactor != nullptr ? net::Destinations::of(*reactor) : nullptr;
  if (simulated == nullptr) return {};
  for (const Host& host : options.hosts) {
    if (!simulated->find("postgresql", host.name, host.port)) continue;
    return katana::fail(
        Code::invalid_argument,
        fmt::format("{}:{} is a server of the test's simulated network, which has no LISTEN: test "
                    "notifications with testing::TemporaryPostgres",
                    host.name, host.port));
  }
  return {};
}

}  // namespace

bool Subscription::Next::await_ready() {
  here_ = hub_.take(queue_);
  return here_.has_value();
}

bool Subscription::Next::await_suspend(std::coroutine_handle<> waiting) {
  Executor* const executor = Executor::current();
  if (executor == nullptr) [[unlikely]] {
    throw_misuse("a notification was awaited on a thread without a reactor",
                 "await it in a coroutine that a reactor or a thread::Loop runs");
  }
  auto* const work = database::detail::ShapedWork<Arrival>::make(*executor, {});
  work->run_in_turns = true;  // it may never come: it is not awaited at the end
  work->waiting = waiting;
  work->expect();
  work_ = work;
  if (hub_.wait(queue_, *work)) return true;
  work->unexpect();
  work->waiting = {};
  here_ = hub_.take(queue_);
  return false;
}

database::Result<Notification> Subscription::Next::await_resume() {
  if (here_) return *std::move(here_);
  auto& arrival = static_cast<Arrival&>(work_->outcome);
  if (arrival.error) return std::unexpected(*std::move(arrival.error));
  return *std::exchange(arrival.notification, std::nullopt);
}

Subscription::Next::~Next() {
  if (work_ != nullptr) hub_.withdraw(queue_, *work_);
}

Subscription::Subscription(std::shared_ptr<NotificationHub> hub,
                           std::unique_ptr<NotificationQueue> queue) noexcept
    : hub_(std::move(hub)), queue_(std::move(queue)) {}

Subscription::Subscription(Subscription&& other) noexcept = default;

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  leave();
  hub_ = std::move(other.hub_);
  queue_ = std::move(other.queue_);
  return *this;
}

Subscription::~Subscription() { leave(); }

void Subscription::leave() noexcept {
  if (queue_ != nullptr) hub_->leave(*queue_);
}

NotificationHandler::NotificationHandler(std::shared_ptr<NotificationHub> hub,
                                         std::unique_ptr<NotificationQueue> queue) noexcept
    : hub_(std::move(hub)), queue_(std::move(queue)) {}

NotificationHandler::NotificationHandler(NotificationHandler&& other) noexcept = default;

NotificationHandler& NotificationHandler::operator=(NotificationHandler&& other) noexcept {
  if (this == &other) return *this;
  leave();
  hub_ = std::move(other.hub_);
  queue_ = std::move(other.queue_);
  return *this;
}

NotificationHandler::~NotificationHandler() { leave(); }

void NotificationHandler::leave() noexcept {
  if (queue_ != nullptr) hub_->leave(*queue_);
}

// A subscription may outlive this, and wakes only while its hub is open: the thread is there then.
Notifications::Notifications(std::size_t queue_max, std::shared_ptr<ListenerThread> thread)
    : thread_(std::move(thread)),
      hub_(std::make_shared<NotificationHub>(queue_max, [thread = thread_] { thread->wake(); })) {
  thread_->start(*hub_);
}

Notifications::~Notifications() {
  close();
  thread_->join();
}

katana::Result<std::unique_ptr<Notifications>> Notifications::open(Options options,
                                                                   std::size_t queue_max,
                                                                   OutageObserver observer) {
  if (const auto good = check(options); !good) return std::unexpected(good.error());
  if (auto good = check_network(options); !good) return std::unexpected(good.error());
  if (queue_max == 0) {
    return katana::fail(Code::invalid_argument, "queue_max of notifications is at least 1");
  }
  auto thread = ListenerThread::create(std::move(options), std::move(observer));
  if (!thread) return std::unexpected(thread.error());
  std::unique_ptr<Notifications> made(new Notifications(queue_max, *std::move(thread)));
  return made;
}

database::Result<Subscription> Notifications::subscribe(std::string channel) {
  if (auto problem = problem_of_channel(channel)) return std::unexpected(*std::move(problem));
  auto queue = std::make_unique<NotificationQueue>();
  queue->channel = std::move(channel);
  hub_->subscribe(*queue);
  return Subscription(hub_, std::move(queue));
}

database::Result<NotificationHandler> Notifications::handle(std::string channel, OnNotification f) {
  KATANA_REQUIRE(f != nullptr);
  if (auto problem = problem_of_channel(channel)) return std::unexpected(*std::move(problem));
  auto queue = std::make_unique<NotificationQueue>();
  queue->channel = std::move(channel);
  queue->handler = std::move(f);
  hub_->subscribe(*queue);
  return NotificationHandler(hub_, std::move(queue));
}

void Notifications::close() noexcept { hub_->close(); }

katana::Result<void> Notifications::health() const { return hub_->health(); }

NotificationStatistics Notifications::statistics() const { return hub_->statistics(); }

Task<database::Result<void>> notify(Queries queries, std::string channel, std::string payload) {
  if (auto problem = problem_of_channel(channel)) co_return std::unexpected(*std::move(problem));
  if (payload.size() > notification_bytes_max) {
    co_return fail(Kind::invalid_value,
                   fmt::format("a notification's payload has {} bytes at most, this one {}: store "
                               "what is long, and notify its key",
                               notification_bytes_max, payload.size()));
  }
  const auto sent = co_await queries.execute("SELECT pg_notify($1, $2)", channel, payload);
  if (!sent) co_return std::unexpected(sent.error());
  co_return database::Result<void>();
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
