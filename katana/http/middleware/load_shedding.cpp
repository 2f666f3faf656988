#include "katana/http/middleware/load_shedding.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "katana/base/coroutine/executor.hpp"
#include "katana/base/system/misuse.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana {
namespace detail {

bool SheddingControl::admit(Instant turn_began, Instant now) noexcept {
  if (turn_began > busy_until_) idle_.ns += (turn_began - busy_until_).ns;
  busy_until_ = std::max(busy_until_, now);
  if (now - window_began_ >= window_) end_window(now);
  credit_ += admitted_;
  if (credit_ < 1) return false;
  credit_ -= 1;
  return true;
}

// For a reactor without idle time the demand is unknown: the share falls by a tenth at a time. With
// some idle time the demand is known: the share changes to the one that fits the limit.
void SheddingControl::end_window(Instant now) noexcept {
  const Duration length = now - window_began_;
  const double idle = static_cast<double>(idle_.ns) / static_cast<double>(length.ns);
  const double utilisation = std::clamp(1 - idle, 0.01, 1.0);
  const double saturated = (1 + utilisation_max_) / 2;
  constexpr double fall = 0.9, rise_max = 1.25, least = 0.01;
  const double fits = std::min(utilisation_max_ / utilisation, rise_max);
  admitted_ = std::clamp(admitted_ * (utilisation > saturated ? fall : fits), least, 1.0);
  window_began_ = now;
  idle_ = {};
}

namespace {

// For one reactor; called when its turns end.
class ReactorShedding final : public net::Attachment, private Message {
 public:
  ReactorShedding(net::Reactor& reactor, const LoadSheddingOptions& options)
      : Message(&ReactorShedding::on_turn_end),
        reactor_(reactor),
        control_(options.utilisation_max, options.window, reactor.read_clock()) {}
  ~ReactorShedding() override {
    if (told_) reactor_.forget_at_turn_end(*this);
  }

  static ReactorShedding& of(net::Reactor& reactor, const LoadSheddingOptions& options) {
    net::Attachment* found = reactor.attached(&options);
    if (found == nullptr) {
      auto made = std::make_unique<ReactorShedding>(reactor, options);
      found = made.get();
      reactor.attach(&options, std::move(made));
    }
    return static_cast<ReactorShedding&>(*found);
  }
  bool admit(double utilisation_max) {
    if (!std::exchange(told_, true)) reactor_.at_turn_end(*this);
    control_.set_utilisation_max(utilisation_max);
    return control_.admit(reactor_.now(), reactor_.read_clock());
  }

 private:
  static void on_turn_end(Message& message) noexcept {
    auto& self = static_cast<ReactorShedding&>(message);
    self.told_ = false;
    self.control_.end_turn(self.reactor_.read_clock());
  }

  net::Reactor& reactor_;
  SheddingControl control_;
  bool told_ = false;
};

}  // namespace
}  // namespace detail

struct LoadShedding::Shared {
  explicit Shared(LoadSheddingOptions given)
      : options(std::move(given)), utilisation_max(options.utilisation_max) {}
  const LoadSheddingOptions options;
  std::atomic<double> utilisation_max;  // relaxed: an independent value
};

namespace {

void check_utilisation(double utilisation_max) {
  if (!(utilisation_max > 0 && utilisation_max < 1)) {
    throw_misuse("load_shedding(): utilisation_max is not between 0 and 1",
                 "give the share of a reactor's time that it may be busy, such as 0.95");
  }
}

}  // namespace

LoadShedding::LoadShedding(LoadSheddingOptions options) {
  check_utilisation(options.utilisation_max);
  if (options.window <= Duration{}) {
    throw_misuse("load_shedding(): window is not positive", "give some ten milliseconds");
  }
  shared_ = std::make_shared<Shared>(std::move(options));
}

void LoadShedding::set_utilisation_max(double utilisation_max) {
  check_utilisation(utilisation_max);
  shared_->utilisation_max.store(utilisation_max, std::memory_order_relaxed);
}

Middleware LoadShedding::middleware() const {
  return {.admit = [shared = shared_](const RequestView& request,
                                      session::Exchange& exchange) -> std::optional<Reply> {
            if (shared->options.spares && shared->options.spares(request)) return std::nullopt;
            auto& of_reactor = detail::ReactorShedding::of(exchange.reactor(), shared->options);
            const double most = shared->utilisation_max.load(std::memory_order_relaxed);
            if (of_reactor.admit(most)) return std::nullopt;
            return problem(problem_types::overloaded,
                           "The server has more requests than it can answer in time.")
                .with("Retry-After", "1");
          },
          .phase = Phase::admission};
}

Middleware load_shedding(LoadSheddingOptions options) {
  return LoadShedding(std::move(options)).middleware();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
