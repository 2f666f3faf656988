#include "katana/identity/idempotency/idempotency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "katana/base/values/secrets.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/reply_recorder.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/request_documentation.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/idempotency/key_field.hpp"
#include "katana/identity/idempotency/stored_reply.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::idempotency {
namespace detail {

using katana::detail::Call;
using katana::detail::MiddlewareFunction;
using katana::detail::PreparedReply;
using katana::detail::ReplyRecorder;
using katana::detail::RequestContext;

// The counters in the order of Statistics.
struct Counts {
  std::atomic<std::uint64_t> without_key, missing, malformed, begun, repeated, in_progress,
      mismatched, kept, without_reply, released, lost, store_failures;
};

// A request that waits for the claim of its key.
struct ClaimWait {
  session::Exchange* exchange;  // null: the request has ended
  bool is_deferred = false;     // the request must be resumed
  bool has_outcome = false;
};

struct State : std::enable_shared_from_this<State> {
  State(Options given, std::shared_ptr<Store> of)
      : options(std::move(given)), store(std::move(of)) {}

  MiddlewareFunction::Progress run(const Call& call, RequestContext& context);
  // Turns the outcome of the store into the answer or the recorder of a request.
  void take(RequestContext& context, const Claim& claim, const Result<Claimed>& outcome);
  Reply repeat(const Claimed& claimed) const;
  bool is_released(unsigned status) const noexcept;
  // `mark` is that of the request; see http/session/personal.hpp.
  StoredReply stored(const Reply& reply, bool is_whole, const session::PersonalMark& mark) const;
  Error failed(const Error& error) const;

  const Options options;
  const std::shared_ptr<Store> store;
  mutable Counts counts = {};

 private:
  MiddlewareFunction::Progress refuse(RequestContext& context, Reply reply);
  std::optional<std::string> key_of(const RequestView& request, std::size_t& fields) const;
  MiddlewareFunction::Progress claim(const Call& call, RequestContext& context, Bytes key);
};

namespace {

void count(std::atomic<std::uint64_t>& number) noexcept {
  number.fetch_add(1, std::memory_order_relaxed);
}

std::int64_t random_token() {
  std::int64_t token = 0;
  char octets[sizeof token];
  fill_random(octets);
  std::memcpy(&token, octets, sizeof token);
  return token & INT64_MAX;
}

// Adds a part behind its size. Different lists of parts then always give different bytes.
void add_part(std::string& to, Bytes part) {
  to += std::to_string(part.size());
  to.push_back(':');
  to += part;
}

crypto::Sha256 key_digest(Bytes key, Bytes route, const auth::Principal* who) {
  std::string parts;
  add_part(parts, route);
  add_part(parts, key);
  if (who != nullptr) {
    add_part(parts, who->issuer());
    add_part(parts, who->id());
  }
  return crypto::sha256(parts);
}

crypto::Sha256 fingerprint_of(const RequestView& request) {
  std::string parts;
  add_part(parts, request.method_text());
  add_part(parts, request.path());
  add_part(parts, request.query());
  add_part(parts, request.field("content-type").value_or(Bytes()));
  add_part(parts, crypto::sha256(request.content()).bytes());
  return crypto::sha256(parts);
}

class PendingClaim final : public session::Pending {
 public:
  explicit PendingClaim(std::shared_ptr<ClaimWait> wait) noexcept : wait_(std::move(wait)) {}
  ~PendingClaim() override { wait_->exchange = nullptr; }

 private:
  const std::shared_ptr<ClaimWait> wait_;
};

}  // namespace

// Tells whether the handler has kept its reply.
struct HandlerMark {
  std::shared_ptr<session::PersonalMark> personal;  // mark of the request
  std::atomic<bool> has_kept = false;
};

// Claims a key, as a task of the reactor. If the client has left meanwhile, the task releases the
// key.
Task<Result<void>> claim_key(std::shared_ptr<State> state, std::shared_ptr<ClaimWait> wait,
                             Claim claim, Duration lease) {
  const Duration limit = state->options.store_timeout;
  const Result<Claimed> outcome =
      co_await net::with_timeout(state->store->claim(claim, lease), limit);
  const bool is_claimed = outcome && outcome->state == ClaimState::claimed;
  const bool is_wanted = wait->exchange != nullptr;
  if (is_wanted) {
    state->take(RequestContext::of(*wait->exchange), claim, outcome);
    wait->has_outcome = true;
    if (wait->is_deferred) wait->exchange->resume_request();
  }
  // A failed call may or may not have claimed the key.
  if (!outcome || (is_claimed && !is_wanted)) {
    const Result<void> released = co_await net::with_timeout(state->store->release(claim), limit);
    if (released) count(state->counts.released);
  }
  if (!outcome) co_return std::unexpected(state->failed(outcome.error()));
  co_return {};
}

// Releases the key of a request without effect. Another request with the key runs at once.
Task<Result<void>> give_back(std::shared_ptr<State> state, Claim claim) {
  const Duration limit = state->options.store_timeout;
  const Result<void> released = co_await net::with_timeout(state->store->release(claim), limit);
  count(released ? state->counts.released : state->counts.store_failures);
  if (!released) co_return std::unexpected(state->failed(released.error()));
  co_return {};
}

class KeyRecorder final : public ReplyRecorder {
 public:
  KeyRecorder(std::shared_ptr<State> state, const Claim& claim,
              std::shared_ptr<HandlerMark> mark) noexcept
      : state_(std::move(state)), claim_(claim), mark_(std::move(mark)) {}

  void note_begun() noexcept override { has_begun_ = true; }
  // The work of a handler that has begun may still take effect. Its key stays claimed for its
  // lease.
  void give_up(const session::RequestShare& share) noexcept override {
    net::Reactor* const reactor = net::Reactor::current();
    if (has_begun_ || reactor == nullptr) return;
    try {
      const Result<void> spawned =
          reactor->tasks().spawn_keeping(share, give_back(state_, claim_), "give a key back");
      if (spawned) return;
      // A store without immediate answers is not awaited here: the lease must end.
      auto task = state_->store->release(claim_);
      if (task.start() && task.result()) count(state_->counts.released);
    } catch (...) {
      count(state_->counts.store_failures);
    }
  }

  Task<Result<void>> record(const Reply& reply, bool is_whole) override {
    const bool is_released = reply.invalid() || state_->is_released(reply.status());
    const Duration limit = state_->options.store_timeout;
    if (is_released) {
      Result<void> released = co_await give_back(state_, claim_);
      co_return released;
    }
    const StoredReply stored = state_->stored(reply, is_whole, *mark_->personal);
    const Result<bool> kept = co_await net::with_timeout(
        state_->store->keep(claim_, idempotency::encode(stored), state_->options.kept), limit);
    note(kept, stored.is_whole);
    if (!kept) co_return std::unexpected(state_->failed(kept.error()));
    co_return {};
  }

 private:
  void note(const Result<bool>& kept, bool has_reply) noexcept {
    Counts& counts = state_->counts;
    if (!kept) {
      count(counts.store_failures);
    } else if (!*kept && !mark_->has_kept.load(std::memory_order_relaxed)) {
      count(counts.lost);
    } else {
      count(has_reply ? counts.kept : counts.without_reply);
    }
  }

  const std::shared_ptr<State> state_;
  const Claim claim_;
  const std::shared_ptr<HandlerMark> mark_;
  bool has_begun_ = false;  // true: the handler has begun
};

// ---- in front of the handler ----

Error State::failed(const Error& error) const {
  return Error(Code::unavailable, error.describe())
      .within(fmt::format("idempotency: the store ({}) failed", store->words()));
}

MiddlewareFunction::Progress State::refuse(RequestContext& context, Reply reply) {
  context.answer = std::move(reply);
  return MiddlewareFunction::Progress::answered;
}

std::optional<std::string> State::key_of(const RequestView& request, std::size_t& fields) const {
  const http::Head& head = request.head();
  std::optional<std::string> key;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    if (!http::equals_ignoring_case(head.name(index), "idempotency-key")) continue;
    if (fields++ == 0) key = parse_key(head.value(index), options.bare_keys);
  }
  return key;
}

MiddlewareFunction::Progress State::run(const Call& call, RequestContext& context) {
  const bool is_of_methods =
      options.enabled &&
      std::ranges::find(options.methods, call.request.method_text()) != options.methods.end();
  std::size_t fields = 0;
  const std::optional<std::string> key =
      is_of_methods ? key_of(call.request, fields) : std::nullopt;
  if (fields == 0) {
    if (is_of_methods && options.required) {
      count(counts.missing);
      return refuse(context, problem(problem_types::idempotency_key_missing,
                                     "This request wants the field Idempotency-Key, with a string "
                                     "that is new for each request and the same when it is sent "
                                     "again."));
    }
    if (is_of_methods) count(counts.without_key);
    context.provide<IdempotentRequest>(IdempotentRequest());
    return MiddlewareFunction::Progress::goes_on;
  }
  if (fields > 1 || !key) {
    count(counts.malformed);
    return refuse(
        context, problem(problem_types::idempotency_key_malformed,
                         fields > 1 ? Bytes("There is more than one field Idempotency-Key.")
                                    : Bytes("The field Idempotency-Key is no string in quotes of 1 "
                                            "to 255 characters (RFC 9651 §3.3.3).")));
  }
  return claim(call, context, *key);
}

MiddlewareFunction::Progress State::claim(const Call& call, RequestContext& context, Bytes key) {
  session::Exchange& exchange = call.exchange;
  std::shared_ptr<const auth::Principal> who;
  if (options.scope == Scope::principal)
    who = context.find<auth::Principal, const auth::Principal>();
  const Claim claim{key_digest(key, exchange.route()->name, who.get()),
                    fingerprint_of(call.request), random_token()};
  const Instant due = exchange.handler_due();
  const Duration time = due == never ? options.lease_max : due - exchange.reactor().now();
  // The store call at the end takes time as well.
  const Duration lease = time + 2 * options.store_timeout + seconds(1);
  auto wait = std::make_shared<ClaimWait>(&exchange);
  auto pending = std::make_unique<PendingClaim>(wait);
  const Result<void> spawned =
      exchange.spawn(claim_key(shared_from_this(), wait, claim, lease), exchange.route()->name);
  if (!spawned) {
    return refuse(context,
                  problem(Error(Code::unavailable, std::string(spawned.error().message()))));
  }
  if (!wait->has_outcome) {
    wait->is_deferred = true;
    exchange.hold(std::move(pending));
    exchange.defer_request();
    return MiddlewareFunction::Progress::waits;
  }
  return context.answer ? MiddlewareFunction::Progress::answered
                        : MiddlewareFunction::Progress::goes_on;
}

void State::take(RequestContext& context, const Claim& claim, const Result<Claimed>& outcome) {
  if (!outcome) {
    count(counts.store_failures);
    if (options.runs_without_store) {
      context.provide<IdempotentRequest>(IdempotentRequest());
      return;
    }
    context.answer = problem(problem_types::unavailable,
                             "It cannot be found out whether this request was carried out already.")
                         .with("Retry-After", "1");
    return;
  }
  if (outcome->state == ClaimState::claimed) {
    count(counts.begun);
    auto mark = std::make_shared<HandlerMark>();
    mark->personal = context.personal_mark();
    context.provide<IdempotentRequest>(IdempotentRequest(shared_from_this(), claim, mark));
    context.recorder = std::make_unique<KeyRecorder>(shared_from_this(), claim, std::move(mark));
    return;
  }
  if (outcome->fingerprint != claim.fingerprint) {
    count(counts.mismatched);
    context.answer = problem(problem_types::idempotency_key_reused,
                             "The Idempotency-Key is that of another request: one with another "
                             "content, Content-Type or target. Take a new one for this request.");
  } else if (outcome->state == ClaimState::in_progress) {
    count(counts.in_progress);
    context.answer = problem(problem_types::idempotency_key_in_progress,
                             "A request with this Idempotency-Key is being carried out. Send it "
                             "again later to get its reply.")
                         .with("Retry-After", "1");
  } else {
    count(counts.repeated);
    context.answer = repeat(*outcome);
  }
}

Reply State::repeat(const Claimed& claimed) const {
  const std::optional<StoredReply> stored = decode(claimed.reply);
  if (!stored || !stored->is_whole) {
    return problem(problem_types::idempotency_reply_lost,
                   "The request with this Idempotency-Key was carried out, and its reply was not "
                   "kept: it was streamed, too large, or made for one client.");
  }
  Reply reply(stored->status);
  if (!stored->type.empty()) reply.set_content_type(stored->type);
  PreparedReply::append_fields(reply, stored->fields);
  if (!stored->content.empty()) PreparedReply::set_content(reply, Text(stored->content));
  if (!options.repeated_field.empty()) reply.add_field(options.repeated_field, "true");
  return reply;
}

// ---- behind it ----

bool State::is_released(unsigned status) const noexcept {
  return status >= 500 ||
         std::ranges::find(options.released_statuses, status) != options.released_statuses.end();
}

// With Scope::everyone, a reply that was made for one client is not repeated to others.
StoredReply State::stored(const Reply& reply, bool is_whole,
                          const session::PersonalMark& mark) const {
  StoredReply stored{.status = reply.status()};
  const bool is_for_another = options.scope == Scope::everyone && mark.is_set_at_all();
  stored.is_whole = is_whole && !is_for_another &&
                    reply.content().size() <= options.reply_bytes_max &&
                    reply.content_type().size() <= UINT16_MAX;
  if (!stored.is_whole) return stored;
  stored.type = std::string(reply.content_type());
  stored.content = std::string(reply.content());
  for (Bytes lines = reply.fields(); !lines.empty();) {
    const std::size_t end = lines.find("\r\n");
    const Bytes line = lines.substr(0, end == Bytes::npos ? lines.size() : end + 2);
    const Bytes name = line.substr(0, line.find(':'));
    const bool is_left_out = std::ranges::any_of(
        options.fields_left_out,
        [name](const std::string& each) { return http::equals_ignoring_case(name, each); });
    if (!is_left_out) stored.fields += line;
    lines.remove_prefix(line.size());
  }
  return stored;
}

namespace {

class KeyFunction final : public MiddlewareFunction {
 public:
  explicit KeyFunction(std::shared_ptr<State> state)
      : MiddlewareFunction(true, registry::type_info_of<IdempotentRequest>(), needs(*state)),
        state_(std::move(state)) {}
  Progress run(const Call& call, RequestContext& context) const override {
    return state_->run(call, context);
  }

 private:
  static std::vector<katana::detail::Need> needs(const State& state) {
    if (!state.options.enabled || state.options.scope == Scope::everyone) return {};
    return katana::detail::needs_of<std::tuple<FromContext<auth::Principal>>>();
  }

  const std::shared_ptr<State> state_;
};

}  // namespace
}  // namespace detail

IdempotentRequest::IdempotentRequest(std::shared_ptr<const detail::State> state, const Claim& claim,
                                     std::shared_ptr<detail::HandlerMark> mark) noexcept
    : state_(std::move(state)), claim_(claim), mark_(std::move(mark)) {}

std::string IdempotentRequest::encode(const Reply& reply) const {
  const bool is_whole = !reply.invalid() && !reply.is_streamed();
  return idempotency::encode(state_->stored(reply, is_whole, *mark_->personal));
}

Duration IdempotentRequest::kept() const noexcept { return state_->options.kept; }

void IdempotentRequest::note_kept() const noexcept {
  mark_->has_kept.store(true, std::memory_order_relaxed);
}

namespace {

std::shared_ptr<const RequestDocumentation> words_of(const Options& options) {
  RequestDocumentation words;
  for (const std::string& each : options.methods) words.methods.push_back(http::method_from(each));
  // An empty list would mean every method. The extension method stands for none.
  if (words.methods.empty()) words.methods.push_back(http::Method::extension);
  // A string (RFC 9651 §3.3.3) with parameters. A bare key has no white space and no delimiters.
  const std::string quoted = R"re("(?:[ !#-\[\]-~]|\\["\\])+"(?:;.*)?)re";
  const std::string bare = R"([!#-+\--:<-\[\]-~]+)";
  words.fields.push_back(
      {.name = "Idempotency-Key",
       .description = fmt::format(
           "Names the request, as a UUID does. For {} s another request with the same key is not "
           "carried out, and has the same reply. At most {} bytes.",
           options.kept.ns / 1'000'000'000, key_bytes_max),
       .pattern = options.bare_keys ? fmt::format("^(?:{}|{})$", quoted, bare)
                                    : fmt::format("^{}$", quoted),
       .required = options.required});
  words.problems = {400, 409, 422};
  if (!options.runs_without_store) words.problems.push_back(503);
  if (!options.repeated_field.empty()) {
    words.reply_fields.push_back(
        {.name = options.repeated_field,
         .description = "`true`: the request was carried out before, and this is its reply."});
  }
  return std::make_shared<const RequestDocumentation>(std::move(words));
}

}  // namespace

Result<Idempotency> Idempotency::make(Options options, std::shared_ptr<Store> store) {
  if (store == nullptr) {
    return fail(Code::invalid_argument, "idempotency: it wants a store, and got none");
  }
  if (options.kept < seconds(1) || options.lease_max < seconds(1) ||
      options.store_timeout <= Duration{}) {
    return fail(Code::invalid_argument,
                "idempotency: kept and lease_max are one second at least, and store_timeout is "
                "above zero");
  }
  for (const std::string& method : options.methods) {
    if (method.empty() || std::ranges::any_of(method, [](char c) { return c < 'A' || c > 'Z'; })) {
      return fail(Code::invalid_argument,
                  fmt::format("idempotency: methods has '{}', which is no method in capitals, such "
                              "as POST",
                              method));
    }
  }
  Reply trial;
  if (!options.repeated_field.empty() &&
      trial.add_field(options.repeated_field, "true").invalid()) {
    return fail(Code::invalid_argument, "idempotency: repeated_field: " + trial.mistake());
  }
  return Idempotency(std::make_shared<detail::State>(std::move(options), std::move(store)));
}

Middleware Idempotency::middleware() const {
  Middleware middleware;
  if (state_->options.enabled) middleware.words = words_of(state_->options);
  middleware.function = std::make_shared<const detail::KeyFunction>(state_);
  middleware.phase = Phase::shared;
  return middleware;
}

const Options& Idempotency::options() const noexcept { return state_->options; }

Statistics Idempotency::statistics() const noexcept {
  const detail::Counts& counts = state_->counts;
  const auto of = [](const std::atomic<std::uint64_t>& number) {
    return number.load(std::memory_order_relaxed);
  };
  return {.without_key = of(counts.without_key),
          .missing = of(counts.missing),
          .malformed = of(counts.malformed),
          .begun = of(counts.begun),
          .repeated = of(counts.repeated),
          .in_progress = of(counts.in_progress),
          .mismatched = of(counts.mismatched),
          .kept = of(counts.kept),
          .without_reply = of(counts.without_reply),
          .released = of(counts.released),
          .lost = of(counts.lost),
          .store_failures = of(counts.store_failures)};
}

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
