#include "katana/app/live_actions.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "katana/base/values/duration_text.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/middleware/csrf.hpp"

namespace katana::app {

// Bounds of what is changed for a time.
constexpr std::chrono::milliseconds time_min{1'000};
constexpr std::chrono::milliseconds time_max{24 * 3600 * 1'000};

struct LevelChange {
  std::string levels;
  std::chrono::milliseconds time{10 * 60 * 1'000};
};
KATANA_DESCRIBE_STRICT(LevelChange, (levels, length(1, 512)),
                       (time, named("for"), range(time_min, time_max), defaulted))

struct ShedChange {
  double utilisation_max = 0;
  std::chrono::milliseconds time{5 * 60 * 1'000};
};
KATANA_DESCRIBE_STRICT(ShedChange, (utilisation_max, range(0.01, 0.999)),
                       (time, named("for"), range(time_min, time_max), defaulted))

struct ClientToClose {
  server::ClientAddress client;
};
KATANA_DESCRIBE_STRICT(ClientToClose, client)

struct ClosedConnections {
  std::int64_t closed = 0;                        // at present
  std::vector<std::size_t> silent_reactors = {};  // those that close theirs later
};
KATANA_DESCRIBE(ClosedConnections, closed, silent_reactors)

namespace {

std::string client_of(const Request& request) {
  return std::string(request.client().text().bytes());
}

std::string text_of(std::chrono::milliseconds time) {
  return std::string(Bytes(TextForm<std::chrono::milliseconds>::write(time)));
}

}  // namespace

// Nothing happens without its record.
Task<Result<void>> LiveActions::record(std::string action, std::string object,
                                       std::string client) const {
  if (hooks_.audit != nullptr) {
    audit::AuditEvent event{.action = "operations." + action, .actor = "operator"};
    event.object = object;
    event.address = client;
    if (auto kept = co_await hooks_.audit->record(event); !kept) co_return kept;
  }
  hooks_.logger.warn("action: {} {}", action, object, log::field("client", client));
  co_return Result<void>();
}

TimedChange::Later LiveActions::later() const {
  return [this](Duration time, std::function<void()> turn) {
    return hooks_.pool->after(time, std::move(turn));
  };
}

Task<Result<Reply>> LiveActions::change_levels(LevelChange change, std::string client) {
  const std::string object = fmt::format("'{}' for {}", change.levels, text_of(change.time));
  if (auto kept = co_await record("log-level", object, std::move(client)); !kept) {
    co_return std::unexpected(kept.error());
  }
  const auto apply = [&]() -> Result<void> {
    if (auto set = hooks_.set_levels(change.levels); !set) {
      return std::unexpected(set.error().within("levels"));
    }
    return {};
  };
  auto changed = levels_.begin(later(), duration_of(change.time), apply, [this] {
    hooks_.reset_levels();
    hooks_.logger.info("log levels are the configured ones again");
  });
  if (!changed) co_return std::unexpected(changed.error());
  co_return Reply(204);
}

Task<Result<Reply>> LiveActions::shed(ShedChange change, std::string client) {
  if (!hooks_.set_utilisation_max) {
    co_return fail(Code::already_exists,
                   "http.load_shedding.enabled is false: a running program cannot begin to shed");
  }
  const std::string object =
      fmt::format("beyond {} for {}", change.utilisation_max, text_of(change.time));
  if (auto kept = co_await record("shed", object, std::move(client)); !kept) {
    co_return std::unexpected(kept.error());
  }
  const auto apply = [&]() -> Result<void> {
    hooks_.set_utilisation_max(change.utilisation_max);
    return {};
  };
  auto changed = shed_.begin(later(), duration_of(change.time), apply, [this] {
    hooks_.set_utilisation_max(hooks_.utilisation_max());
    hooks_.logger.info("load shedding is the configured one again");
  });
  if (!changed) co_return std::unexpected(changed.error());
  co_return Reply(204);
}

Task<Result<Reply>> LiveActions::reload(std::string client) const {
  if (auto kept = co_await record("reload", "configuration", std::move(client)); !kept) {
    co_return std::unexpected(kept.error());
  }
  // It reads files, which a reactor must not wait for.
  const Result<void> reloaded = co_await hooks_.pool->run([this] { return hooks_.reload(); });
  // The mistakes are for the operator, who sees the configuration, too.
  if (!reloaded) co_return fail(reloaded.error().code(), reloaded.error().describe());
  co_return Reply(204);
}

Task<Result<Reply>> LiveActions::drain(std::string client) const {
  if (auto kept = co_await record("drain", "program", std::move(client)); !kept) {
    co_return std::unexpected(kept.error());
  }
  hooks_.drain();
  co_return Reply(202);
}

Task<Result<Reply>> LiveActions::close_client(const LiveState& state, ClientToClose which,
                                              std::string client) const {
  std::string object(Bytes(which.client.to_text()));
  if (auto kept = co_await record("close-client", std::move(object), std::move(client)); !kept) {
    co_return std::unexpected(kept.error());
  }
  LiveState::Closed closed = co_await state.close_client(which.client);
  const ClosedConnections reply{static_cast<std::int64_t>(closed.count), std::move(closed.silent)};
  co_return json_reply(reply);
}

Result<void> LiveActions::add_to(Group& group, const LiveState& state) {
  auto own = csrf();
  if (!own) return std::unexpected(own.error());
  Group actions = group.group("/operations/actions");
  actions.use(*std::move(own));
  actions.post("/log-level", [this](Request request, Json<LevelChange> change) {
    return change_levels(std::move(change.value), client_of(request));
  });
  actions.post("/shed", [this](Request request, Json<ShedChange> change) {
    return shed(change.value, client_of(request));
  });
  actions.post("/reload", [this](Request request) { return reload(client_of(request)); });
  actions.post("/drain", [this](Request request) { return drain(client_of(request)); });
  actions.post("/close-client", [this, &state](Request request, Json<ClientToClose> which) {
    return close_client(state, which.value, client_of(request));
  });
  return {};
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
