// Tests for every store of sessions, with one call after another. They also run two requests of one
// session with their store calls in every order.
//
//   EXPECT_EQ(run(check_store(store, now_s)), "");
//   for (const Deed deed : deeds) EXPECT_EQ(run(check_requests(store, deed)), "");
//
// Thread     the caller's, or that of the loop which runs it.
// Fails      with words that name the situation; "" is right.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/identity/sessions/session_manager.hpp"
#include "katana/identity/sessions/user_session.hpp"

namespace katana::sessions {

// ---- one call after another ----

inline SessionWrite write_of(Bytes name, const std::string& principal, std::int64_t seen_s,
                             std::optional<std::int64_t> read_version = {}) {
  SessionRecord record;
  record.principal = principal;
  record.issuer = principal.empty() ? "" : "test";
  record.seen_s = seen_s;
  record.content = std::string("\0\r\n\xff", 4);
  SessionWrite write;
  write.key = crypto::sha256(name);
  write.read_version = read_version;
  write.record = std::make_shared<const SessionRecord>(std::move(record));
  write.expires_s = seen_s + 100;
  return write;
}

class StoreCheck {
 public:
  StoreCheck(SessionStore& store, std::int64_t now_s) : store_(store), now_s_(now_s) {}

  Task<std::string> run() {
    co_await check_versions();
    co_await check_times();
    co_await check_principals();
    co_return said_;
  }

 private:
  void expect(bool right, const char* what) {
    if (!right) said_ += std::string(what) + "; ";
  }
  Task<bool> write(SessionWrite write) {
    const Result<bool> written = co_await store_.compare_and_set(std::move(write));
    expect(written.has_value(), "the store can be written");
    co_return written.value_or(false);
  }
  Task<std::optional<StoredSession>> load(std::string name, std::int64_t later_s) {
    const SessionKey key = crypto::sha256(name);
    Result<std::optional<StoredSession>> found = co_await store_.load(key, now_s_ + later_s);
    expect(found.has_value(), "the store can be read");
    co_return std::move(found).value_or(std::nullopt);
  }

  Task<void> check_versions() {
    const SessionKey key = crypto::sha256("a");
    SessionWrite first = write_of("a", "ada", now_s_), twice = write_of("a", "bob", now_s_);
    SessionWrite changed = write_of("a", "grace", now_s_, 0);
    SessionWrite late = write_of("a", "late", now_s_, 0);
    SessionWrite unknown = write_of("nobody's", "x", now_s_, 0);
    bool is_written = co_await write(first);
    expect(is_written, "a session begins where there is none");
    is_written = co_await write(twice);
    expect(!is_written, "and not where there is one");
    is_written = co_await write(changed);
    expect(is_written, "what has the version that was read is changed");
    is_written = co_await write(late);
    expect(!is_written, "what has another one is not");
    is_written = co_await write(unknown);
    expect(!is_written, "what was read and is not there does not begin again");
    std::optional<StoredSession> found = co_await load("a", 0);
    expect(found && found->version == 1 && found->record->principal == "grace" &&
               found->record->content == write_of("a", "", 0).record->content,
           "the last one that was written is found, with its version");
    const Result<void> removed = co_await store_.remove(key);
    const Result<void> again = co_await store_.remove(key);
    expect(removed && again, "what is gone counts as removed");
    SessionWrite revived = write_of("a", "grace", now_s_, 1);
    is_written = co_await write(revived);
    expect(!is_written, "what was removed stays so, whatever was read before");
    const Result<void> touched = co_await store_.touch(key, 1, now_s_ + 1, now_s_ + 300);
    found = co_await load("a", 0);
    expect(touched && !found, "also when it is touched");
  }

  Task<void> check_times() {
    const SessionKey key = crypto::sha256("t");
    SessionWrite first = write_of("t", "ada", now_s_);
    const bool is_first = co_await write(first);
    std::optional<StoredSession> found = co_await load("t", 99);
    expect(is_first && found, "until its end it is found");
    found = co_await load("nothing", 0);
    expect(!found, "nothing is found where nothing is");
    Result<void> touched = co_await store_.touch(key, 0, now_s_ + 10, now_s_ + 300);
    found = co_await load("t", 250);
    expect(touched && found && found->version == 0 && found->record->seen_s == now_s_ + 10,
           "what was seen ends later, and has its version still");
    touched = co_await store_.touch(key, 0, now_s_ + 5, now_s_ + 20);
    found = co_await load("t", 250);
    expect(touched && found, "seen earlier changes nothing");
    SessionWrite late = write_of("t", "ada", now_s_ + 300, 0);
    bool is_written = co_await write(late);
    expect(!is_written, "at its end it is not changed any more");
    touched = co_await store_.touch(key, 0, now_s_ + 300, now_s_ + 900);
    found = co_await load("t", 300);
    expect(touched && !found, "nor touched");
    SessionWrite other = write_of("u", "ada", now_s_);
    (void)co_await write(other);
    const SessionKey other_key = crypto::sha256("u");
    touched = co_await store_.touch(other_key, 7, now_s_ + 20, now_s_ + 900);
    found = co_await load("u", 100);
    expect(touched && !found, "nor by a request that has read another version");
    (void)co_await store_.remove(other_key);
    SessionWrite anew = write_of("t", "bob", now_s_ + 300);
    is_written = co_await write(anew);
    found = co_await load("t", 301);
    expect(is_written && found && found->version == 0 && found->record->principal == "bob",
           "its place is free for another one");
    (void)co_await store_.remove(key);
  }

  Task<std::int64_t> remove_all(std::string principal) {
    const Result<std::int64_t> gone = co_await store_.remove_all("test", std::move(principal));
    expect(gone.has_value(), "sessions can be removed");
    co_return gone.value_or(-1);
  }
  Task<std::int64_t> remove_others(std::string principal, std::string kept, std::int64_t version) {
    const SessionKey key = crypto::sha256(kept);
    const Result<std::optional<std::int64_t>> gone =
        co_await store_.remove_others("test", std::move(principal), key, version);
    expect(gone.has_value(), "other sessions can be removed");
    co_return gone && *gone ? **gone : -1;
  }

  Task<void> check_principals() {
    for (const char* const name : {"a1", "a2", "a3"}) {
      SessionWrite write_ada = write_of(name, "ada", now_s_);
      (void)co_await write(write_ada);
    }
    SessionWrite grace = write_of("g", "grace", now_s_), nobody = write_of("n", "", now_s_);
    (void)co_await write(grace);
    (void)co_await write(nobody);
    std::int64_t gone = co_await remove_others("ada", "a2", 3);
    expect(gone == -1, "a session that another request has changed ends no others");
    gone = co_await remove_others("ada", "never", 0);
    expect(gone == -1, "one that is gone does not, either");
    gone = co_await remove_others("ada", "a2", 0);
    expect(gone == 2, "the others of a user end");
    gone = co_await remove_others("ada", "a2", 0);
    expect(gone == 0, "once");
    gone = co_await remove_all("");
    expect(gone == 0, "visitors are no user");
    std::optional<StoredSession> one = co_await load("a1", 0), kept = co_await load("a2", 0);
    expect(!one && kept, "and this one stays");
    one = co_await load("g", 0);
    kept = co_await load("n", 0);
    expect(one && kept, "with those of other users and of visitors");
    SessionWrite login = write_of("g", "ada", now_s_, 0);
    (void)co_await write(login);
    gone = co_await remove_all("grace");
    expect(gone == 0, "a session that changes its user is not found under the former one");
    gone = co_await remove_all("ada");
    expect(gone == 2, "but under the new one");
    const Result<void> removed = co_await store_.remove(crypto::sha256("n"));
    expect(removed.has_value(), "and all of them can go");
  }

  SessionStore& store_;
  const std::int64_t now_s_;
  std::string said_;
};

// Tests single calls. REQUIRES an empty store that outlives the task; leaves it empty.
inline Task<std::string> check_store(SessionStore& store, std::int64_t now_s) {
  StoreCheck check(store, now_s);
  co_return co_await check.run();
}

// ---- two requests at a time ----

struct Letters {
  std::string text;
};
KATANA_DESCRIBE(Letters, text)

// A point at which a request waits until the schedule resumes it.
class Gate {
 public:
  struct Pass {
    Gate& gate;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> request) const noexcept {
      gate.request_ = request;
      return gate.take_schedule();
    }
    void await_resume() const noexcept {}
  };
  // Awaited by the schedule: the request runs until it waits here again, or has ended.
  struct Step {
    Gate& gate;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> schedule) const noexcept {
      gate.schedule_ = schedule;
      return std::exchange(gate.request_, std::noop_coroutine());
    }
    void await_resume() const noexcept {}
  };
  Pass pass() noexcept { return {*this}; }
  Step step() noexcept { return {*this}; }
  // The awaitable at the end of a request.
  Pass end() noexcept {
    has_ended_ = true;
    return {*this};
  }
  bool has_ended() const noexcept { return has_ended_; }

 private:
  std::coroutine_handle<> take_schedule() noexcept {
    return schedule_ ? std::exchange(schedule_, nullptr) : std::noop_coroutine();
  }
  std::coroutine_handle<> request_;
  std::coroutine_handle<> schedule_;
  bool has_ended_ = false;
};

// The store for one request. Each call waits until the schedule resumes it.
class GatedStore final : public SessionStore {
 public:
  GatedStore(SessionStore& store, Gate& gate) : store_(store), gate_(gate) {}

  Task<Result<std::optional<StoredSession>>> load(SessionKey key, std::int64_t now_s) override {
    co_await gate_.pass();
    co_return co_await store_.load(key, now_s);
  }
  Task<Result<bool>> compare_and_set(SessionWrite write) override {
    co_await gate_.pass();
    co_return co_await store_.compare_and_set(std::move(write));
  }
  Task<Result<void>> touch(SessionKey key, std::int64_t version, std::int64_t seen_s,
                           std::int64_t expires_s) override {
    co_await gate_.pass();
    co_return co_await store_.touch(key, version, seen_s, expires_s);
  }
  Task<Result<void>> remove(SessionKey key) override {
    co_await gate_.pass();
    co_return co_await store_.remove(key);
  }
  Task<Result<std::int64_t>> remove_all(std::string issuer, std::string principal) override {
    co_await gate_.pass();
    co_return co_await store_.remove_all(std::move(issuer), std::move(principal));
  }
  Task<Result<std::optional<std::int64_t>>> remove_others(std::string issuer, std::string principal,
                                                          SessionKey kept,
                                                          std::int64_t version) override {
    co_await gate_.pass();
    co_return co_await store_.remove_others(std::move(issuer), std::move(principal), kept, version);
  }

 private:
  SessionStore& store_;
  Gate& gate_;
};

enum class Deed : std::uint8_t { look, set, renew, log_in, log_out, end_others, end_all, form };
inline constexpr Deed deeds[] = {Deed::look,    Deed::set,        Deed::renew,   Deed::log_in,
                                 Deed::log_out, Deed::end_others, Deed::end_all, Deed::form};
inline constexpr const char* deed_names[] = {"look",    "set",        "renew",   "log_in",
                                             "log_out", "end_others", "end_all", "form"};

// One request with its deed, its cookie and its outcome.
class GatedRequest {
 public:
  GatedRequest(SessionStore& store, Deed deed, std::string cookie, char letter)
      : deed_(deed), cookie_(std::move(cookie)), letter_(letter), gated_(store, gate_) {
    auto manager = std::make_shared<detail::SessionManager>();
    manager->touch_after_s = 1;
    manager->store = std::shared_ptr<SessionStore>(std::shared_ptr<void>(), &gated_);
    session_.emplace(std::move(manager), cookie_);
    task_.emplace(serve());
    (void)task_->start();
  }

  Gate& gate() noexcept { return gate_; }
  Deed deed() const noexcept { return deed_; }
  char letter() const noexcept { return letter_; }
  // The user who was logged in when the request looked.
  const std::string& saw() const noexcept { return saw_; }
  bool succeeded() const noexcept { return succeeded_; }
  // True if the request learned that another one changed the session first.
  bool was_late() const noexcept { return said_.find("meanwhile") != std::string::npos; }
  const std::string& said() const noexcept { return said_; }
  // The cookie of the browser after the reply.
  const std::string& cookie() const noexcept { return cookie_; }

 private:
  // Serves the request. Its start runs until the first call of the store.
  Task<void> serve() {
    const Result<std::optional<auth::Principal>> who = co_await session_->principal();
    if (who && *who) saw_ = (*who)->id();
    Result<void> done;
    if (who) done = co_await act();
    succeeded_ = who && done;
    if (!done) said_ = done.error().describe();
    Reply reply;
    (void)session_->finish(reply);
    const std::string fields(reply.fields());
    const std::size_t from = fields.find("__Host-session=");
    if (from != std::string::npos) {
      cookie_ = fields.substr(from + 15, fields.find(';', from) - from - 15);
    }
    co_await gate_.end();
  }
  Task<Result<void>> act() {
    auth::PrincipalFacts facts;
    facts.id = "ann";
    facts.issuer = "test";
    switch (deed_) {
      case Deed::look: co_return {};
      case Deed::set: co_return co_await add_letter();
      case Deed::renew: co_return co_await session_->renew();
      case Deed::log_in: co_return co_await session_->log_in(facts);
      case Deed::log_out: co_return co_await session_->end();
      case Deed::end_others: {
        const Result<std::int64_t> ended = co_await session_->end_others();
        if (!ended) co_return std::unexpected(ended.error());
        co_return {};
      }
      case Deed::end_all: {
        const Result<std::int64_t> ended = co_await gated_.remove_all("test", "ann");
        if (!ended) co_return std::unexpected(ended.error());
        co_return {};
      }
      case Deed::form: break;
    }
    const Result<std::string> secret = co_await session_->form_secret();
    if (!secret) co_return std::unexpected(secret.error());
    co_return {};
  }
  Task<Result<void>> add_letter() {
    const Result<std::optional<Letters>> before = co_await session_->get<Letters>();
    if (!before) co_return std::unexpected(before.error());
    Letters letters = before->value_or(Letters{});
    letters.text += letter_;
    co_return co_await session_->set(letters);
  }

  const Deed deed_;
  std::string cookie_;
  const char letter_;
  Gate gate_;
  GatedStore gated_;
  std::optional<UserSession> session_;
  std::string saw_;
  std::string said_;
  bool succeeded_ = false;
  std::optional<Task<void>> task_;
};

class RequestsCheck {
 public:
  explicit RequestsCheck(SessionStore& store) : store_(store) {}

  Task<std::string> run(Deed first) {
    for (const char* const user : {"ann", ""}) {
      for (const Deed second : deeds) {
        const bool only_look = first == Deed::look && second == Deed::look;
        if (first <= second && !only_look) co_await check_pair(user, first, second, false);
        const bool ends_others = second == Deed::end_others || second == Deed::end_all;
        if (ends_others) co_await check_pair(user, first, second, true);
        if (!said_.empty()) co_return said_;
      }
    }
    co_return said_;
  }

 private:
  // Runs a pair in every order of their calls. `is_elsewhere`: the second request comes from
  // another session of ann.
  Task<void> check_pair(std::string user, Deed first, Deed second, bool is_elsewhere) {
    std::vector<bool> schedule;
    do {
      co_await check_order(user, first, second, is_elsewhere, schedule);
      // Makes the next schedule, as binary counting does. Later choices are still open.
      while (!schedule.empty() && schedule.back()) schedule.pop_back();
      if (!schedule.empty()) schedule.back() = true;
    } while (said_.empty() && !schedule.empty());
  }

  // Stores a session that was seen a minute ago. A look at it is therefore written.
  Task<std::string> begin(std::string user) {
    SessionId id = SessionId::make_visitor();
    id.begin_session();
    const std::int64_t now_s = detail::SessionManager::now_s();
    SessionWrite write;
    SessionRecord record;
    record.principal = user;
    record.issuer = user.empty() ? "" : "test";
    record.began_s = record.seen_s = now_s - (user.empty() ? 0 : 60);
    record.secret_hash = id.secret_hash();
    record.content = container::to_message_pack(Letters{"0"});
    write.key = id.key();
    write.record = std::make_shared<const SessionRecord>(std::move(record));
    write.expires_s = now_s + 1740;
    const Result<bool> written = co_await store_.compare_and_set(std::move(write));
    if (!written || !*written) said_ += "no session begins; ";
    co_return id.text();
  }

  struct Seen {
    std::string user;
    std::string letters;
  };
  // The state that a browser with this cookie sees.
  Task<Seen> look(std::string cookie) {
    Seen seen;
    const auto id = SessionId::parse(cookie);
    if (!id || !id->has_session()) co_return seen;
    const std::int64_t now_s = detail::SessionManager::now_s();
    const Result<std::optional<StoredSession>> found = co_await store_.load(id->key(), now_s);
    if (!found || !*found || !id->is_secret_of((*found)->record->secret_hash)) co_return seen;
    seen.user = (*found)->record->principal;
    if (seen.user.empty()) seen.user = "visitor";
    const auto letters = container::read_message_pack<Letters>((*found)->record->content);
    if (letters) seen.letters = letters->text;
    co_return seen;
  }

  Task<void> check_order(std::string user, Deed first, Deed second, bool is_elsewhere,
                         std::vector<bool>& schedule) {
    const std::string cookie = co_await begin(user);
    std::string other = cookie;
    if (is_elsewhere) other = co_await begin("ann");
    GatedRequest one(store_, first, cookie, '1'), two(store_, second, other, '2');
    for (std::size_t at = 0; !one.gate().has_ended() || !two.gate().has_ended();) {
      const bool both = !one.gate().has_ended() && !two.gate().has_ended();
      if (both && at == schedule.size()) schedule.push_back(false);
      const bool second_goes = both ? schedule[at++] : one.gate().has_ended();
      co_await (second_goes ? two : one).gate().step();
    }
    const Seen before = co_await look(cookie);
    const Seen of_one = co_await look(one.cookie()), of_two = co_await look(two.cookie());
    const std::size_t known = said_.size();
    judge(one, two, is_elsewhere, {before, of_one, of_two});
    if (said_.size() != known) {
      said_ += user + ": " + deed_names[static_cast<int>(first)] + " and " +
               deed_names[static_cast<int>(second)] + (is_elsewhere ? " elsewhere" : "") + ", as ";
      for (const bool second_goes : schedule) said_ += second_goes ? '2' : '1';
      said_ += "; " + one.said() + "; " + two.said();
    }
    (void)co_await store_.remove_all("test", "ann");
    for (const std::string& each : {cookie, other, one.cookie(), two.cookie()}) {
      const auto id = SessionId::parse(each);
      if (id && id->has_session()) (void)co_await store_.remove(id->key());
    }
  }

  struct Outcome {
    Seen before;  // state for the first cookie of request one
    Seen of_one;
    Seen of_two;
  };
  void judge(const GatedRequest& one, const GatedRequest& two, bool is_elsewhere,
             const Outcome& outcome) {
    judge_end(one, two, is_elsewhere, outcome);
    if (!is_elsewhere) judge_end(two, one, false, {outcome.before, outcome.of_two, outcome.of_one});
    judge_letters(one, two, is_elsewhere, outcome);
    if (one.was_late() && two.was_late()) said_ += "both were told to repeat: ";
    for (const GatedRequest* each : {&one, &two}) {
      const bool is_visitors_login = each->deed() == Deed::log_in && each->saw().empty();
      const bool never_conflicts = each->deed() == Deed::look || each->deed() == Deed::form ||
                                   each->deed() == Deed::log_out || is_visitors_login;
      if (each->was_late() && never_conflicts) said_ += "what never conflicts was refused: ";
      if (!each->succeeded() && !each->was_late() && each->deed() != Deed::end_others) {
        said_ += "it failed: ";
      }
    }
    const bool both_end = one.deed() == Deed::end_others && two.deed() == Deed::end_others;
    if (is_elsewhere && both_end && one.saw() == "ann" && one.succeeded() && two.succeeded()) {
      said_ += "each ended the other: ";
    }
  }
  // A request that began earlier must not revive a session that `end` ended. A logout ends it also
  // where the request has just given it another id.
  void judge_end(const GatedRequest& request, const GatedRequest& end, bool is_elsewhere,
                 const Outcome& outcome) {
    const bool logs_out = end.deed() == Deed::log_out && !is_elsewhere;
    const bool ends_others = end.deed() == Deed::end_others && is_elsewhere;
    const bool ends = logs_out || ends_others || end.deed() == Deed::end_all;
    if (!ends || !end.succeeded() || request.saw() != "ann") return;
    if (outcome.before.user == "ann") said_ += "the cookie of before is good: ";
    if (outcome.of_one.user == "ann") said_ += "it was revived: ";
  }
  // Stored letters must not be lost, unless their session was ended.
  void judge_letters(const GatedRequest& one, const GatedRequest& two, bool is_elsewhere,
                     const Outcome& outcome) {
    if (is_elsewhere) return;
    for (const GatedRequest* each : {&one, &two}) {
      if (each->deed() != Deed::set || !each->succeeded()) continue;
      const Deed beside = each == &one ? two.deed() : one.deed();
      if (beside == Deed::log_out || beside == Deed::end_all) continue;
      const bool is_kept = outcome.of_one.letters.find(each->letter()) != std::string::npos ||
                           outcome.of_two.letters.find(each->letter()) != std::string::npos;
      if (!is_kept) said_ += "what was kept is lost: ";
    }
  }

  SessionStore& store_;
  std::string said_;
};

// Tests a request with the deed `first` with each deed of another one. REQUIRES an empty store.
inline Task<std::string> check_requests(SessionStore& store, Deed first) {
  RequestsCheck check(store);
  co_return co_await check.run(first);
}

}  // namespace katana::sessions

// SPDX-License-Identifier: Apache-2.0
