#include "katana/http/middleware/http_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "katana/base/values/keyed_hash.hpp"
#include "katana/http/handlers/middleware.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/http/middleware/cache_control.hpp"
#include "katana/stores/cache/cache.hpp"
#include "katana/stores/cache/shared_wait.hpp"
#include "katana/wire/http/conditional.hpp"
#include "katana/wire/http/date.hpp"
#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/url.hpp"

namespace katana {
namespace detail {

// A kept reply. With names only, it tells which further fields the key needs.
struct KeptReply {
  unsigned status = 0;
  std::string type;
  std::string fields;               // complete lines
  std::string fields_not_modified;  // those of a 304
  std::string content;
  std::string entity_tag;
  bool has_version = false;  // Reply::set_version() set entity_tag
  std::optional<std::int64_t> modified_s;
  Instant made_at = {};  // computed from its age at the time of storing
  Instant fresh_until = {};
  Instant usable_until = {};      // while a handler makes another one
  Instant fallback_until = {};    // when that handler fails
  std::vector<std::string> vary;  // lower case
};

std::size_t katana_heap_bytes(const KeptReply& reply) {
  return cache::heap_bytes(reply.type) + cache::heap_bytes(reply.fields) +
         cache::heap_bytes(reply.fields_not_modified) + cache::heap_bytes(reply.content) +
         cache::heap_bytes(reply.entity_tag) + cache::heap_bytes(reply.vary);
}

// A running handler for a key, and the requests that wait for its reply. Under the state's lock.
struct PageFlight {
  explicit PageFlight(std::shared_ptr<HttpCacheState> of) noexcept : state(std::move(of)) {}
  const std::shared_ptr<HttpCacheState> state;
  cache::detail::SharedWaiter::List waiters;
  bool has_ended = false;
};

// The state in the cache of a request that went to its handler; stored in the request's context.
struct PageRequest {
  PageRequest() noexcept = default;
  PageRequest(PageRequest&& other) noexcept = default;
  ~PageRequest() { end(); }
  // Waiting requests look into the cache again.
  void end() noexcept;

  Bytes why = "miss";  // the reason for calling the handler, for Cache-Status
  bool may_keep = false;
  std::string key;                     // without the values of Vary
  std::string flight_key;              // with them, as far as they were known
  std::shared_ptr<PageFlight> flight;  // null: no request waits for it
  std::uint64_t mark = 0;
  std::shared_ptr<const KeptReply> stale;
};
// The request has waited once.
struct PageWaited {};

using Pages = cache::Cache<std::string, KeptReply>;

class HttpCacheState : public std::enable_shared_from_this<HttpCacheState> {
 public:
  explicit HttpCacheState(HttpCacheOptions given);

  using Progress = MiddlewareFunction::Progress;
  Progress run(const Call& call, RequestContext& context);
  void amend(const RequestView& request, session::Exchange& exchange, Reply& reply);
  // `tag`: a path, or a path of one origin by key_of().
  std::size_t invalidate(Bytes tag);
  void end(const std::string& key, PageFlight& flight) noexcept;

  const HttpCacheOptions options;
  const Result<Pages> pages;
  cache::detail::Lock lock;  // guards flights and their waiters

  struct Counts {
    std::atomic<std::uint64_t> hits, stale_hits, not_modified, misses, passed_by, kept, not_kept,
        waited, invalidated;
  };
  Counts counts = {};

 private:
  struct Found {
    std::shared_ptr<const KeptReply> reply = {};
    std::string key = {};    // with the values of Vary
    bool is_unkept = false;  // a reply of this key was not kept a moment ago
  };
  // Returns nothing if the cache may answer the request, otherwise the reason why not.
  Bytes why_passed_by(const RequestView& request, session::Exchange& exchange) const;
  bool is_personal(const session::RequestState& state) const noexcept;
  Found find(const RequestView& request, std::string key, Instant now) const;
  Progress answer(const RequestView& request, const KeptReply& kept, Instant now, bool is_stale,
                  RequestContext& context);
  Reply make_reply(const RequestView& request, const KeptReply& kept, Instant now, Bytes status);
  // Calls the handler, or waits for the one of another request.
  Progress go_on(const Call& call, RequestContext& context, PageRequest page, bool may_wait);
  bool wait(const Call& call, RequestContext& context, const std::shared_ptr<PageFlight>& flight);
  void take_reply(const RequestView& request, const session::RequestState& state, PageRequest& page,
                  Reply& reply, Instant now);
  bool keep(const RequestView& request, PageRequest& page, Reply& reply, Instant now);
  // Returns false if the fields of the reply forbid to keep it.
  bool read_fields(const RequestView& request, const Reply& reply, KeptReply& kept,
                   Instant now) const;
  bool put(const RequestView& request, const PageRequest& page, std::shared_ptr<KeptReply> kept,
           Instant now);
  void invalidate_by(const RequestView& request, const Reply& reply);
  void add_status(Reply& reply, Bytes words) const;

  const bool cookies_pass_by_;
  std::unordered_map<std::string, std::shared_ptr<PageFlight>> flights_;
  std::size_t waiting_ = 0;  // guarded by the lock
  friend class PageWait;
};

namespace {

void count(std::atomic<std::uint64_t>& number) noexcept {
  number.fetch_add(1, std::memory_order_relaxed);
}

bool is_safe(http::Method method) noexcept {
  return method == http::Method::get || method == http::Method::head ||
         method == http::Method::options || method == http::Method::trace;
}

std::string lower(Bytes text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), http::to_lower);
  return lowered;
}

bool is_one_of(Bytes name, std::initializer_list<Bytes> names) noexcept {
  return std::ranges::any_of(names,
                             [name](Bytes each) { return http::equals_ignoring_case(name, each); });
}

// Fields of this reply only, fields that are written anew, and fields for a proxy (RFC 9111 §3.1).
bool is_left_out(Bytes name) noexcept {
  return is_one_of(name, {"age", "cache-status", "x-request-id", "traceparent", "server-timing",
                          "ratelimit", "ratelimit-policy", "retry-after", "proxy-authenticate",
                          "proxy-authentication-info", "proxy-authorization"});
}
// The tag of a 304 is that of the reply that the client has, which may be a compressed one.
void name_matched(Reply& reply, Bytes matched) {
  if (matched.empty()) return;
  Text fields;
  for_each_line(reply.fields(), [&](Bytes name, Bytes, Bytes line) {
    const bool is_tag = http::equals_ignoring_case(name, "etag");
    fields.append(is_tag ? format_text("ETag: {}\r\n", matched).bytes() : line);
  });
  PreparedReply::fields(reply) = std::move(fields);
}
// RFC 9110 §15.4.5.
bool is_of_not_modified(Bytes name) noexcept {
  return is_one_of(name, {"cache-control", "cdn-cache-control", "content-location", "etag",
                          "expires", "vary", "last-modified"});
}

bool has_status_to_keep(unsigned status) noexcept {
  constexpr std::array statuses = {200u, 203u, 301u, 308u, 404u, 410u};
  return std::ranges::find(statuses, status) != statuses.end();
}

// `what`: a target, or a path.
std::string key_of(const session::Client& client, Bytes what) {
  std::string key(client.is_secure() ? "https://" : "http://");
  key += client.host;
  std::ranges::transform(key, key.begin(), http::to_lower);
  key += ' ';  // no host contains it
  key += what;
  return key;
}

// Returns the normal path of a reference in the reply to a request. Returns nothing if it is the
// request's path, or of another origin, whose replies this one may not remove (RFC 9111 §4.4).
std::optional<std::string> path_at(Bytes place, Bytes requested, const session::Client& client) {
  const Bytes scheme = client.is_secure() ? "https" : "http";
  const std::size_t end = std::min(place.find_first_of(":/?#"), place.size());
  if (end != place.size() && place[end] == ':') {
    if (!http::equals_ignoring_case(place.substr(0, end), scheme)) return std::nullopt;
    place.remove_prefix(end + 1);
  }
  if (place.starts_with("//")) {
    place.remove_prefix(2);
    const Bytes authority = place.substr(0, place.find_first_of("/?#"));
    if (!http::same_authority(authority, client.host, scheme)) return std::nullopt;
    place.remove_prefix(authority.size());
    if (!place.starts_with('/')) place = "/";
  }
  std::string path(place.substr(0, place.find_first_of("?#")));
  if (path.empty()) return std::nullopt;
  if (path.front() != '/') path.insert(0, requested.substr(0, requested.rfind('/') + 1));
  const std::optional<std::size_t> size =
      http::normalize_path(path, std::span(path.data(), path.size()));
  if (!size) return std::nullopt;
  path.resize(*size);
  return path;
}

// Adds each name with the values of all fields of that name. A size precedes each value, because
// values may contain any separator (a tab, say). Two lists of values thus never have the same key.
void add_variant(std::string& key, const RequestView& request,
                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    key += '\n';  // no field contains it
    const http::Head& head = request.head();
    for (std::size_t index = 0; index < head.field_count(); ++index) {
      if (!http::equals_ignoring_case(head.name(index), name)) continue;
      const Bytes value = head.value(index);
      key += std::to_string(value.size());
      key += ':';
      key += value;
    }
  }
}

// The tag is weak, because it is the same for all content codings. It is no secret, and the same in
// every instance.
std::string make_tag(Bytes content) {
  const KeyedHash first(0x6b61'7461'6e61'2065, 1), second(0x7461'6720'6f66'2061, 2);
  return fmt::format("W/\"{:016x}{:016x}\"", first.of(content), second.of(content));
}

std::optional<Duration> fresh_time(const CacheControl& control, Bytes fields) {
  if (control.s_maxage) return control.s_maxage;
  if (control.max_age) return control.max_age;
  const std::optional<Bytes> expires = find_field(fields, "Expires");
  if (!expires) return std::nullopt;
  const std::optional<std::int64_t> until = http::parse_date(*expires);
  if (!until) return Duration{};
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(current_time().time_since_epoch());
  return seconds(std::clamp<std::int64_t>(*until - now.count(), 0, INT32_MAX));
}

// Returns zero without the field, and nothing if the value is not one whole number. RFC 9111 §5.1
// would ignore such a field. Here the reply counts as stale, because its age is unknown.
std::optional<Duration> age_of(Bytes fields) noexcept {
  constexpr std::int64_t age_max = INT32_MAX;
  std::optional<std::int64_t> age;
  bool is_right = true;
  for_each_line(fields, [&](Bytes name, Bytes value, Bytes) {
    if (!http::equals_ignoring_case(name, "age")) return;
    is_right &= !age && !value.empty();
    age = 0;
    for (const char c : value) {
      const bool is_digit = c >= '0' && c <= '9';
      is_right &= is_digit;
      if (is_digit) age = std::min(*age * 10 + (c - '0'), age_max);
    }
  });
  if (!is_right) return std::nullopt;
  return seconds(age.value_or(0));
}

// Returns whether Vary names each field that the handler took by Header<T>: such a handler makes
// different replies for different values.
bool tells_apart(const session::RequestState& state, const Reply& reply) {
  const auto same = [](char one, char other) {
    return http::to_lower(one) == (other == '_' ? '-' : http::to_lower(other));
  };
  const auto is_named = [&](Bytes read) {
    bool is_in_vary = false;
    for_each_line(reply.fields(), [&](Bytes field, Bytes value, Bytes) {
      if (!http::equals_ignoring_case(field, "vary")) return;
      http::ListReader names(value);
      for (Bytes each; names.next(each);) is_in_vary |= std::ranges::equal(each, read, same);
    });
    return is_in_vary;
  };
  return std::ranges::all_of(
      state.read_fields(), [&](const auto& names) { return std::ranges::all_of(names, is_named); });
}

Instant now_of(session::Exchange& exchange) noexcept { return exchange.reactor().now(); }

}  // namespace

// Waits until the handler of another request has answered, or until a timeout.
class FlightWait final : public cache::detail::SharedWait {
 public:
  explicit FlightWait(PageFlight& flight) noexcept : flight_(flight) {}
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiting) {
    const std::scoped_lock lock(flight_.state->lock);
    if (flight_.has_ended) return false;
    begin(waiting, flight_.waiters, flight_.state->lock);
    return true;
  }
  void await_resume() const noexcept {}

 private:
  PageFlight& flight_;
};

Task<void> wait_for_page(std::shared_ptr<PageFlight> flight) { co_await FlightWait(*flight); }

// Makes the middleware look into the cache again when the wait has ended.
class PageWait final : public session::Pending {
 public:
  PageWait(std::shared_ptr<HttpCacheState> state, session::Exchange& exchange, Task<void> task)
      : state_(std::move(state)),
        exchange_(exchange),
        task_(std::move(task)),
        listed_(task_.state(), exchange_.context()) {
    task_.on_done([](void* self) noexcept { static_cast<PageWait*>(self)->finish(); }, this);
  }
  ~PageWait() override {
    const std::scoped_lock lock(state_->lock);
    --state_->waiting_;
  }

 private:
  void finish() noexcept {
    --RequestContext::of(exchange_).next;
    exchange_.resume_request();
  }

  const std::shared_ptr<HttpCacheState> state_;
  session::Exchange& exchange_;
  Task<void> task_;
  StartedTask listed_;
};

void PageRequest::end() noexcept {
  if (flight == nullptr) return;
  const std::shared_ptr<PageFlight> ended = std::exchange(flight, nullptr);
  ended->state->end(flight_key, *ended);
}

HttpCacheState::HttpCacheState(HttpCacheOptions given)
    : options(std::move(given)),
      pages(Pages::make({.name = options.name,
                         .bytes_max = options.bytes_max,
                         .entries_max = options.entries_max,
                         .ttl = options.fresh_max,
                         .ttl_jitter_percent = 0})),
      cookies_pass_by_(std::ranges::any_of(options.private_fields, [](const std::string& each) {
        return http::equals_ignoring_case(each, "cookie");
      })) {}

void HttpCacheState::end(const std::string& key, PageFlight& flight) noexcept {
  cache::detail::SharedWaiter::List woken;
  {
    const std::scoped_lock guard(lock);
    flight.has_ended = true;
    const auto found = flights_.find(key);
    if (found != flights_.end() && found->second.get() == &flight) flights_.erase(found);
    while (!flight.waiters.empty()) woken.push_back(cache::detail::take_first(flight.waiters));
  }
  while (!woken.empty()) cache::detail::wake(woken.pop_front());
}

// ---- before the handler ----

// A reply for clients without cookies may be shared, because requests with cookies bypass the
// cache.
bool HttpCacheState::is_personal(const session::RequestState& state) const noexcept {
  const session::PersonalMark& mark = state.personal();
  return mark.is_set() || (!cookies_pass_by_ && mark.has(session::Personal::no_cookie));
}

Bytes HttpCacheState::why_passed_by(const RequestView& request, session::Exchange& exchange) const {
  if (request.method() != http::Method::get && request.method() != http::Method::head) {
    return "method";
  }
  // Another spelling of the path goes to the handler, which may tell them apart.
  const Bytes target = request.target(), path = request.path();
  const bool is_plain =
      target.starts_with(path) && (target.size() == path.size() || target[path.size()] == '?');
  if (!is_plain || exchange.content_pending() || !request.content().empty() ||
      exchange.peer_certificate() != nullptr) {
    return "bypass";
  }
  if (is_personal(RequestContext::of(exchange))) return "bypass; detail=personal";
  const http::Head& head = request.head();
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    const Bytes name = head.name(index);
    const auto is_named = [name](const std::string& each) {
      return http::equals_ignoring_case(name, each);
    };
    if (is_one_of(name, {"range", "if-range", "if-match", "if-unmodified-since", "upgrade"}) ||
        std::ranges::any_of(options.private_fields, is_named)) {
      return "bypass";
    }
    if (http::equals_ignoring_case(name, "cache-control") &&
        http::list_contains_token(head.value(index), "no-store")) {
      return "request";
    }
  }
  return {};
}

HttpCacheState::Found HttpCacheState::find(const RequestView& request, std::string key,
                                           Instant now) const {
  Found found{.key = std::move(key)};
  cache::Cached<KeptReply> kept = pages->get(found.key, now);
  if (kept && !kept->vary.empty()) {
    add_variant(found.key, request, kept->vary);
    kept = pages->get(found.key, now);
  }
  found.is_unkept = kept.is_absent();
  found.reply = std::move(kept).share();
  return found;
}

Reply HttpCacheState::make_reply(const RequestView& request, const KeptReply& kept, Instant now,
                                 Bytes status) {
  const Duration age = now - kept.made_at;
  const http::Validators validators{
      .entity_tag = kept.entity_tag, .modified_s = kept.modified_s, .is_version = kept.has_version};
  Bytes matched;
  const bool is_not_modified =
      kept.status == 200 && http::evaluate_conditions(request.head(), validators, &matched) ==
                                http::Condition::not_modified;
  Reply reply(is_not_modified ? 304 : kept.status);
  if (is_not_modified) {
    count(counts.not_modified);
    PreparedReply::append_fields(reply, kept.fields_not_modified);
    if (kept.has_version) name_matched(reply, matched);
  } else {
    PreparedReply::set_has_version(reply, kept.has_version);
    if (!kept.type.empty()) reply.set_content_type(kept.type);
    PreparedReply::append_fields(reply, kept.fields);
    PreparedReply::set_content(reply, Text(kept.content));
  }
  const fmt::format_int number(std::max<std::int64_t>(age.ns / 1'000'000'000, 0));
  PreparedReply::append_fields(reply, "Age: ");
  PreparedReply::append_fields(reply, {number.data(), number.size()});
  PreparedReply::append_fields(reply, "\r\n");
  add_status(reply, status);
  return reply;
}

HttpCacheState::Progress HttpCacheState::answer(const RequestView& request, const KeptReply& kept,
                                                Instant now, bool is_stale,
                                                RequestContext& context) {
  count(counts.hits);
  if (is_stale) count(counts.stale_hits);
  context.answer = make_reply(request, kept, now, is_stale ? "hit; detail=stale" : "hit");
  return Progress::answered;
}

HttpCacheState::Progress HttpCacheState::run(const Call& call, RequestContext& context) {
  const RequestView& request = call.request;
  PageRequest page;
  page.why = why_passed_by(request, call.exchange);
  if (!page.why.empty()) {
    count(counts.passed_by);
    context.provide<PageRequest>(std::move(page));
    return Progress::goes_on;
  }
  const Instant now = now_of(call.exchange);
  page.key = key_of(request.client(), request.target());
  Found found = find(request, page.key, now);
  page.why = "uri-miss";
  if (found.reply != nullptr) {
    if (now < found.reply->fresh_until) {
      return answer(request, *found.reply, now, false, context);
    }
    page.why = "stale";
    page.stale = found.reply;
  }
  page.flight_key = std::move(found.key);
  // Other replies to a HEAD may have no body.
  page.may_keep = request.method() == http::Method::get;
  return go_on(call, context, std::move(page), page.may_keep && !found.is_unkept);
}

HttpCacheState::Progress HttpCacheState::go_on(const Call& call, RequestContext& context,
                                               PageRequest page, bool may_wait) {
  const Instant now = now_of(call.exchange);
  page.mark = pages->mark();
  std::shared_ptr<PageFlight> other;
  if (may_wait) {
    const std::scoped_lock guard(lock);
    std::shared_ptr<PageFlight>& place = flights_[page.flight_key];
    if (place == nullptr) {
      place = page.flight = std::make_shared<PageFlight>(shared_from_this());
    } else {
      other = place;
    }
  }
  if (other != nullptr) {
    if (page.stale != nullptr && now < page.stale->usable_until) {
      return answer(call.request, *page.stale, now, true, context);
    }
    const bool has_waited = context.find<PageWaited, PageWaited>() != nullptr;
    if (!has_waited && wait(call, context, other)) return Progress::waits;
  }
  count(counts.misses);
  context.provide<PageRequest>(std::move(page));
  return Progress::goes_on;
}

bool HttpCacheState::wait(const Call& call, RequestContext& context,
                          const std::shared_ptr<PageFlight>& flight) {
  {
    const std::scoped_lock guard(lock);
    if (waiting_ >= options.waiting_max) return false;
    ++waiting_;
  }
  count(counts.waited);
  context.provide<PageWaited>(PageWaited{});
  const DeadlineScope time(
      std::min(call.exchange.handler_due(), now_of(call.exchange) + options.wait_max));
  Task<void> task = wait_for_page(flight);
  const bool is_over = task.start();
  // Counts the waiting request until it is destroyed.
  auto pending = std::make_unique<PageWait>(shared_from_this(), call.exchange, std::move(task));
  if (is_over) return false;
  call.exchange.hold(std::move(pending));
  call.exchange.defer_request();
  return true;
}

// ---- behind it ----

void HttpCacheState::add_status(Reply& reply, Bytes words) const {
  if (options.status_name.empty()) return;
  PreparedReply::append_fields(reply, "Cache-Status: ");
  PreparedReply::append_fields(reply, options.status_name);
  PreparedReply::append_fields(reply, "; ");
  PreparedReply::append_fields(reply, words);
  PreparedReply::append_fields(reply, "\r\n");
}

void HttpCacheState::amend(const RequestView& request, session::Exchange& exchange, Reply& reply) {
  if (exchange.kept() == nullptr) return;  // the path has no route
  const auto page = RequestContext::of(exchange).find<PageRequest, PageRequest>();
  if (page == nullptr) return;  // answered here, or in front
  if (!is_safe(request.method())) invalidate_by(request, reply);
  if (page->key.empty()) {
    if (!reply.invalid()) add_status(reply, fmt::format("fwd={}", page->why));
    return;
  }
  take_reply(request, RequestContext::of(exchange), *page, reply, now_of(exchange));
}

void HttpCacheState::take_reply(const RequestView& request, const session::RequestState& state,
                                PageRequest& page, Reply& reply, Instant now) {
  const bool is_for_one = is_personal(state);
  if (!is_for_one && reply.status() >= 500 && page.stale != nullptr &&
      now < page.stale->fallback_until) {
    const std::string status = fmt::format("hit; fwd-status={}; detail=stale", reply.status());
    count(counts.stale_hits);
    reply = make_reply(request, *page.stale, now, status);
    page.end();
    return;
  }
  // Tells caches on the way the same as this cache knows from the marks.
  if (!reply.invalid() && state.personal().has(session::Personal::no_cookie)) {
    add_vary(reply, "Cookie");
  }
  const bool is_kept =
      !is_for_one && page.may_keep && tells_apart(state, reply) && keep(request, page, reply, now);
  count(is_kept ? counts.kept : counts.not_kept);
  if (!is_kept && page.flight != nullptr && page.stale == nullptr) {
    // For a while requests do not wait for a reply that was not kept.
    pages->put_absent(page.flight_key, seconds(10));
  }
  page.end();
  if (reply.invalid()) return;
  if (is_kept && reply.status() == 200) {
    http::Validators validators{.entity_tag = find_field(reply.fields(), "ETag").value_or(Bytes()),
                                .is_version = PreparedReply::has_version(reply)};
    if (const auto modified = find_field(reply.fields(), "Last-Modified")) {
      validators.modified_s = http::parse_date(*modified);
    }
    Bytes matched;
    if (http::evaluate_conditions(request.head(), validators, &matched) ==
        http::Condition::not_modified) {
      Reply shorter(304);
      for_each_line(reply.fields(), [&](Bytes name, Bytes, Bytes line) {
        if (is_of_not_modified(name)) PreparedReply::append_fields(shorter, line);
      });
      if (validators.is_version) name_matched(shorter, matched);
      reply = std::move(shorter);
    }
  }
  add_status(reply, fmt::format("fwd={}{}", page.why,
                                is_kept      ? "; stored"
                                : is_for_one ? "; detail=personal"
                                             : ""));
}

bool HttpCacheState::read_fields(const RequestView& request, const Reply& reply, KeptReply& kept,
                                 Instant now) const {
  const std::optional<CacheControl> targeted = CacheControl::of_targeted_fields(reply.fields());
  const CacheControl control = targeted ? *targeted : CacheControl::of_fields(reply.fields());
  const bool forbids_keeping = control.no_store && !control.must_understand;
  if (forbids_keeping || control.no_cache || control.is_private) return false;
  // RFC 9111 §3.5, if `private_fields` does not contain it.
  const bool is_for_all = control.is_public || control.s_maxage || control.must_revalidate;
  if (!is_for_all && request.field("authorization")) return false;
  const std::optional<Duration> age = age_of(reply.fields());
  bool may_keep = age.has_value();
  for_each_line(reply.fields(), [&](Bytes name, Bytes value, Bytes line) {
    const bool is_cookie = http::equals_ignoring_case(name, "set-cookie");
    if (is_cookie && !options.keep_set_cookie) may_keep = false;
    if (is_one_of(name, {"content-range", "www-authenticate"})) may_keep = false;
    if (http::equals_ignoring_case(name, "vary")) {
      http::ListReader names(value);
      for (Bytes each; names.next(each);) kept.vary.push_back(lower(each));
    }
    if (!is_left_out(name)) kept.fields += line;
  });
  const std::optional<Duration> fresh = fresh_time(control, targeted ? Bytes() : reply.fields());
  if (!may_keep || !fresh || std::ranges::find(kept.vary, "*") != kept.vary.end()) return false;
  const Duration fresh_for = std::min(*fresh, options.fresh_max);
  if (*age >= fresh_for) return false;
  kept.made_at = Instant{now.ns - age->ns};
  kept.fresh_until = kept.made_at + fresh_for;
  const bool may_be_stale =
      !control.must_revalidate && !control.proxy_revalidate && !control.s_maxage;
  const auto until = [&](const std::optional<Duration>& longer) {
    return kept.fresh_until + (may_be_stale && longer ? *longer : Duration{});
  };
  kept.usable_until = until(control.stale_while_revalidate);
  kept.fallback_until = until(control.stale_if_error);
  return true;
}

bool HttpCacheState::keep(const RequestView& request, PageRequest& page, Reply& reply,
                          Instant now) {
  if (reply.invalid() || reply.closes() || reply.source() != nullptr ||
      PreparedReply::is_head(reply) || !has_status_to_keep(reply.status()) ||
      reply.content().size() > options.reply_bytes_max) {
    return false;
  }
  auto kept = std::make_shared<KeptReply>();
  if (!read_fields(request, reply, *kept, now)) return false;
  if (reply.status() == 200 && !find_field(kept->fields, "ETag")) {
    const std::string line = "ETag: " + make_tag(reply.content()) + "\r\n";
    kept->fields += line;
    PreparedReply::append_fields(reply, line);
  }
  kept->has_version = PreparedReply::has_version(reply);
  kept->entity_tag = std::string(find_field(kept->fields, "ETag").value_or(Bytes()));
  if (const auto modified = find_field(kept->fields, "Last-Modified")) {
    kept->modified_s = http::parse_date(*modified);
  }
  for_each_line(kept->fields, [&](Bytes name, Bytes, Bytes line) {
    if (is_of_not_modified(name)) kept->fields_not_modified += line;
  });
  kept->status = reply.status();
  kept->type = std::string(reply.content_type());
  kept->content = std::string(reply.content());
  return put(request, page, std::move(kept), now);
}

bool HttpCacheState::put(const RequestView& request, const PageRequest& page,
                         std::shared_ptr<KeptReply> kept, Instant now) {
  const Instant end = std::max(kept->usable_until, kept->fallback_until);
  cache::PutOptions put;
  put.ttl = std::min(end - now, options.fresh_max);
  put.mark = page.mark;
  put.tags.emplace_back(request.path());  // for invalidate()
  put.tags.push_back(key_of(request.client(), request.path()));
  // Names of a key are never dropped: a reply that is kept under fewer names could be for others.
  const cache::Cached<KeptReply> known = pages->get(page.key, now);
  std::vector<std::string> names = std::exchange(kept->vary, {});
  if (known) names.insert(names.end(), known->vary.begin(), known->vary.end());
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  std::string key = page.key;
  if (!names.empty()) {
    add_variant(key, request, names);
    KeptReply marker;
    marker.vary = std::move(names);
    cache::PutOptions of_marker = put;
    of_marker.ttl = options.fresh_max;
    if (!pages->put(page.key, std::move(marker), of_marker)) return false;
  }
  return pages->put(key, std::move(kept), put);
}

std::size_t HttpCacheState::invalidate(Bytes tag) {
  const std::size_t removed = pages->remove_tag(tag);
  counts.invalidated.fetch_add(removed, std::memory_order_relaxed);
  return removed;
}

// RFC 9111 §4.4.
void HttpCacheState::invalidate_by(const RequestView& request, const Reply& reply) {
  if (reply.status() >= 400) return;
  const session::Client client = request.client();
  invalidate(key_of(client, request.path()));
  for (const Bytes name : {Bytes("Location"), Bytes("Content-Location")}) {
    const std::optional<Bytes> place = find_field(reply.fields(), name);
    if (!place) continue;
    const std::optional<std::string> path = path_at(*place, request.path(), client);
    if (path) invalidate(key_of(client, *path));
  }
}

namespace {

class HttpCacheFunction final : public MiddlewareFunction {
 public:
  explicit HttpCacheFunction(std::shared_ptr<HttpCacheState> state)
      : MiddlewareFunction(false, nullptr, {}), state_(std::move(state)) {}
  Progress run(const Call& call, RequestContext& context) const override {
    return state_->run(call, context);
  }

 private:
  const std::shared_ptr<HttpCacheState> state_;
};

}  // namespace
}  // namespace detail

HttpCache::HttpCache(HttpCacheOptions options)
    : state_(std::make_shared<detail::HttpCacheState>(std::move(options))) {}

Middleware HttpCache::middleware() const {
  Middleware middleware;
  if (!state_->options.enabled) return middleware;
  if (!state_->pages) {
    middleware.mistake = state_->pages.error().within("http_cache()").describe();
    return middleware;
  }
  middleware.function = std::make_shared<const detail::HttpCacheFunction>(state_);
  middleware.phase = Phase::shared;
  middleware.amend = [state = state_](const RequestView& request, session::Exchange& exchange,
                                      Reply& reply) { state->amend(request, exchange, reply); };
  return middleware;
}

std::size_t HttpCache::invalidate(Bytes path) const {
  return state_->pages ? state_->invalidate(path) : 0;
}

void HttpCache::clear() const {
  if (state_->pages) state_->pages->clear();
}

cache::Statistics HttpCache::memory() const { return state_->pages->statistics(); }

HttpCacheStatistics HttpCache::statistics() const {
  const auto& counts = state_->counts;
  const auto of = [](const std::atomic<std::uint64_t>& number) {
    return number.load(std::memory_order_relaxed);
  };
  return {.hits = of(counts.hits),
          .stale_hits = of(counts.stale_hits),
          .not_modified = of(counts.not_modified),
          .misses = of(counts.misses),
          .passed_by = of(counts.passed_by),
          .kept = of(counts.kept),
          .not_kept = of(counts.not_kept),
          .waited = of(counts.waited),
          .invalidated = of(counts.invalidated)};
}

Middleware http_cache(HttpCacheOptions options) {
  return HttpCache(std::move(options)).middleware();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
