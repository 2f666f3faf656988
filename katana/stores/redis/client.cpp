#include "katana/stores/redis/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "katana/base/system/misuse.hpp"
#include "katana/stores/redis/pipeline.hpp"
#include "katana/stores/redis/refused_commands.hpp"

namespace katana::redis {
namespace {

std::unexpected<Error> mismatch(const Reply& reply) {
  return fail(Kind::mismatch, "Redis answered with another type than the call has", {},
              resp::name_of(reply.type()));
}

Result<Reply> as_reply(Reply&& reply, Bytes) { return std::move(reply); }

Result<std::optional<std::string>> as_text(Reply&& reply, Bytes) {
  if (reply.is_null()) return std::optional<std::string>();
  if (!reply.is_text()) return mismatch(reply);
  return std::optional<std::string>(std::move(reply).text());
}

Result<std::vector<std::optional<std::string>>> as_texts(Reply&& reply, Bytes) {
  if (reply.type() != Reply::Type::array) return mismatch(reply);
  std::vector<std::optional<std::string>> texts;
  texts.reserve(reply.elements().size());
  for (Reply& each : std::move(reply).elements()) {
    auto text = as_text(std::move(each), {});
    if (!text) return std::unexpected(std::move(text).error());
    texts.push_back(*std::move(text));
  }
  return texts;
}

Result<std::int64_t> as_count(Reply&& reply, Bytes) {
  if (const auto count = reply.integer()) return *count;
  return mismatch(reply);
}

Result<bool> as_truth(Reply&& reply, Bytes) {
  if (const auto count = reply.integer()) return *count != 0;
  return mismatch(reply);
}

// SET and PING: a word, or nothing where a condition did not hold.
Result<bool> as_word(Reply&& reply, Bytes) {
  if (reply.is_null()) return false;
  if (!reply.is_text()) return mismatch(reply);
  return true;
}

// PTTL: -2 is no key, -1 no end.
Result<std::optional<Duration>> as_time_to_live(Reply&& reply, Bytes) {
  const auto left_ms = reply.integer();
  if (!left_ms) return mismatch(reply);
  if (*left_ms < 0) return std::optional<Duration>();
  return std::optional(milliseconds(*left_ms));
}

constexpr CallOptions only_reads{.effect = Effect::reads};

std::int64_t whole_ms(Duration duration) noexcept {
  return std::max<std::int64_t>(duration.count_ms(), 1);
}

katana::Result<void> check(const Options& options) {
  const auto wrong = [](const char* option, const char* range) {
    return katana::fail(Code::invalid_argument, fmt::format("Redis: {} must be {}", option, range));
  };
  if (options.timeout <= Duration{}) return wrong("timeout", "above zero");
  if (options.stalled_after <= Duration{}) return wrong("stalled_after", "above zero");
  if (options.wait_while_down < Duration{}) return wrong("wait_while_down", "zero or above");
  if (options.connections_max == 0) return wrong("connections_max", "at least 1");
  if (options.commands_max == 0) return wrong("commands_max", "at least 1");
  if (options.queued_bytes_max < 1024) return wrong("queued_bytes_max", "at least 1 KiB");
  if (options.reply.depth_max < 1 || options.reply.depth_max > resp::depth_limit) {
    return wrong("reply.depth_max", "1 to 32");
  }
  const bool is_word =
      std::ranges::all_of(options.client_name, [](char c) { return c > ' ' && c <= '~'; });
  if (!is_word) return wrong("client_name", "printable, without spaces");
  return {};
}

}  // namespace

namespace detail {

PlainCall::~PlainCall() {
  if (pending_ != nullptr) Pipeline::leave(*pending_);
}

bool PlainCall::begin(std::coroutine_handle<> waiting) {
  net::Reactor* const reactor = net::Reactor::current();
  if (reactor == nullptr) [[unlikely]] {
    throw_misuse("a call of Redis was awaited on a thread without a reactor",
                 "await it in a handler or another coroutine that a reactor runs");
  }
  if (const char* const why = why_refused(command_)) [[unlikely]] {
    refusal_.emplace(Kind::refused, "the command cannot be sent over a shared connection",
                     command_.name(), why);
    return false;
  }
  auto pipeline = Pipeline::of(*reactor, shared_);
  if (!pipeline) {
    refusal_.emplace(std::move(pipeline).error());
    return false;
  }
  began_ = reactor->now();
  const Duration most =
      options_.timeout > Duration{} ? options_.timeout : shared_->options().timeout;
  pending_ = new Pending(std::move(command_), options_.effect);
  pending_->script = script_;
  pending_->waiting = waiting;
  pending_->awaited = true;
  return (*pipeline)->submit(*pending_, began_ + time_left(began_, most));
}

Result<Reply> PlainCall::take() {
  if (refusal_) return std::unexpected(*std::move(refusal_));
  if (pending_->error) return std::unexpected(*std::move(pending_->error));
  return std::move(pending_->reply);
}

}  // namespace detail

katana::Result<Client> Client::make(Options options) {
  if (auto checked = check(options); !checked) return std::unexpected(checked.error());
  options.upstream.kind = "Redis";
  if (options.upstream.servers.empty()) {
    options.upstream.servers = {{.host = "127.0.0.1", .port = default_port}};
  }
  options.upstream.order = upstream::Order::listed;  // one of them is the primary
  options.upstream.outgoing_bytes_max = options.queued_bytes_max;
  if (options.upstream.tls) {
    options.upstream.tls->protocols.clear();
    options.upstream.tls->session_lifetime = {};
  }
  auto servers = upstream::Shared::make(options.upstream);
  if (!servers) return std::unexpected(servers.error());
  return Client(std::make_shared<Shared>(std::move(options), *std::move(servers)));
}

Call<std::optional<std::string>> Client::get(Bytes key) const {
  return {shared_, Command("GET", key), only_reads, &as_text};
}

Call<std::vector<std::optional<std::string>>> Client::get_many(
    std::span<const std::string> keys) const {
  Command command("MGET");
  for (const std::string& key : keys) command.add(Bytes(key));
  return {shared_, std::move(command), only_reads, &as_texts};
}

Call<bool> Client::set(Bytes key, Bytes value, const SetOptions& options) const {
  Command command("SET", key, value);
  if (options.time_to_live > Duration{}) command.add("PX").add(whole_ms(options.time_to_live));
  if (options.condition == SetOptions::If::absent) command.add("NX");
  if (options.condition == SetOptions::If::present) command.add("XX");
  return {shared_, std::move(command), {}, &as_word};
}

Call<std::int64_t> Client::increment(Bytes key, std::int64_t by) const {
  return {shared_, Command("INCRBY", key, by), {}, &as_count};
}

Call<std::int64_t> Client::remove(Bytes key) const {
  return {shared_, Command("DEL", key), {}, &as_count};
}

Call<std::int64_t> Client::remove_many(std::span<const std::string> keys) const {
  Command command("DEL");
  for (const std::string& key : keys) command.add(Bytes(key));
  return {shared_, std::move(command), {}, &as_count};
}

Call<bool> Client::exists(Bytes key) const {
  return {shared_, Command("EXISTS", key), only_reads, &as_truth};
}

Call<bool> Client::expire(Bytes key, Duration after) const {
  return {shared_, Command("PEXPIRE", key, whole_ms(after)), {}, &as_truth};
}

Call<std::optional<Duration>> Client::time_to_live(Bytes key) const {
  return {shared_, Command("PTTL", key), only_reads, &as_time_to_live};
}

Call<Reply> Client::call(Command command, const CallOptions& options) const {
  return {shared_, std::move(command), options, &as_reply};
}

Call<Reply> Client::send_script(const Script& script, Command command,
                                const CallOptions& options) const {
  return {shared_, std::move(command), options, &as_reply, &script.text()};
}

Call<std::int64_t> Client::publish(Bytes channel, Bytes message) const {
  return {shared_, Command("PUBLISH", channel, message), {}, &as_count};
}

Call<bool> Client::ping() const { return {shared_, Command("PING"), only_reads, &as_word}; }

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
