#include "katana/stores/bus/nats/jet_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "katana/net/reactor/reactor.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

std::string name_of_consumer(const ConsumeOptions& options) {
  if (options.durable.empty()) return fmt::format("stream '{}'", options.stream);
  return fmt::format("stream '{}', consumer '{}'", options.stream, options.durable);
}

}  // namespace

std::string JetNames::full_subject(Bytes subject) const {
  return prefix.empty() ? std::string(subject) : fmt::format("{}.{}", prefix, subject);
}

std::string JetNames::subject_of(Bytes full) const {
  if (prefix.empty() || !full.starts_with(prefix + ".")) return std::string(full);
  return std::string(full.substr(prefix.size() + 1));
}

// The name of a stream is no subject: it has no dots.
std::string JetNames::full_stream(Bytes name) const {
  if (prefix.empty()) return std::string(name);
  std::string full = prefix;
  std::ranges::replace(full, '.', '-');
  return full + "_" + std::string(name);
}

Task<Result<std::string>> JetStreams::ask(std::string api, std::string json, Duration timeout) {
  Request request{.subject = "$JS.API." + api, .payload = std::move(json), .timeout = timeout};
  auto answer = co_await bus_.request(std::move(request));
  if (!answer) {
    co_return std::unexpected(answer.error().within("JetStream, if the server has it enabled"));
  }
  std::string text(answer->payload());
  if (auto read = jet::read_answer(text); !read) co_return std::unexpected(read.error());
  co_return text;
}

Task<Result<void>> JetStreams::do_ensure(StreamOptions options) {
  const std::string name = names_.full_stream(options.name);
  if (!is_subject(name) || name.find('.') != std::string::npos || options.subjects.empty()) {
    co_return fail(Code::invalid_argument,
                   fmt::format("stream '{}' has a name with more than letters, digits, '-' and "
                               "'_', or no subjects",
                               options.name));
  }
  std::vector<std::string> subjects;
  for (const std::string& each : options.subjects) {
    if (auto checked = check_pattern(each); !checked) co_return checked;
    subjects.push_back(names_.full_subject(each));
  }
  std::string json = jet::write_stream(options, name, subjects);
  auto found = co_await ask("STREAM.INFO." + name, "", api_timeout);
  if (!found && found.error().code() == Code::not_found) {
    auto made = co_await ask("STREAM.CREATE." + name, std::move(json), api_timeout);
    if (!made) co_return std::unexpected(made.error());
    const std::lock_guard lock(mutex_);
    ensured_.insert_or_assign(options.name, options);
    co_return Result<void>();
  }
  if (!found) co_return std::unexpected(found.error());
  auto stream = jet::read_stream(*found);
  if (!stream) co_return std::unexpected(stream.error());
  std::ranges::sort(subjects);
  std::ranges::sort(stream->subjects);
  if (stream->subjects != subjects) {
    co_return fail(Code::already_exists,
                   fmt::format("stream '{}' is there, with other subjects", options.name));
  }
  auto updated = co_await ask("STREAM.UPDATE." + name, std::move(json), api_timeout);
  if (!updated) co_return std::unexpected(updated.error());
  const std::lock_guard lock(mutex_);
  ensured_.insert_or_assign(options.name, options);
  co_return Result<void>();
}

Result<StreamOptions> JetStreams::options_of_gone(const std::string& stream) {
  const Instant now = net::Reactor::current()->now();
  const std::lock_guard lock(mutex_);
  const auto ensured = ensured_.find(stream);
  if (ensured == ensured_.end()) {
    return fail(Code::not_found,
                fmt::format("stream '{}' is gone, and this process did not make it: call "
                            "Streams::ensure() in the process that owns it",
                            stream));
  }
  const auto [since, is_new] = gone_since_.try_emplace(stream, now);
  if (now - since->second < gone_min) {
    return fail(Code::not_found,
                fmt::format("stream '{}' is gone, and is made again when it stays so for {} ms",
                            stream, milliseconds_of(gone_min)));
  }
  return ensured->second;
}

Task<Result<jet::Stream>> JetStreams::look(std::string stream, bool makes, Duration timeout) {
  const std::string api = "STREAM.INFO." + names_.full_stream(stream);
  auto found = co_await ask(api, "", timeout);
  if (!found && found.error().code() == Code::not_found && makes) {
    auto options = options_of_gone(stream);
    if (!options) co_return std::unexpected(options.error());
    auto made = co_await do_ensure(*std::move(options));
    if (!made) co_return std::unexpected(made.error());
    found = co_await ask(api, "", timeout);
  }
  if (!found) co_return std::unexpected(found.error());
  {
    const std::lock_guard lock(mutex_);
    gone_since_.erase(stream);
  }
  co_return jet::read_stream(*found);
}

Task<Result<Stored>> JetStreams::do_store(std::string subject, std::string payload,
                                          StoreOptions options) {
  Request request{.subject = std::move(subject),
                  .payload = std::move(payload),
                  .timeout = options.timeout,
                  .id = std::move(options.id)};
  const std::string name = request.subject;
  auto answer = co_await bus_.request(std::move(request));
  if (!answer) {
    const bool is_connected = bus_.health().state == BusState::connected;
    if (answer.error().code() == Code::unavailable && is_connected) {
      co_return fail(Code::not_found, fmt::format("no stream has subject '{}'", name));
    }
    co_return std::unexpected(answer.error());
  }
  co_return jet::read_stored(answer->payload());
}

Task<Result<jet::ConsumerState>> JetStreams::create(ConsumeOptions options, bool acknowledges,
                                                    Duration timeout) {
  const std::string stream = names_.full_stream(options.stream);
  std::string filter;
  if (!options.filter.empty()) filter = names_.full_subject(options.filter);
  std::string api = options.durable.empty()
                        ? "CONSUMER.CREATE." + stream
                        : fmt::format("CONSUMER.DURABLE.CREATE.{}.{}", stream, options.durable);
  std::string json = jet::write_consumer(options, stream, filter, acknowledges);
  auto answer = co_await ask(std::move(api), std::move(json), timeout);
  if (!answer) co_return std::unexpected(answer.error());
  co_return jet::read_consumer(*answer);
}

Result<void> JetStreams::submit(const Publication& publication) {
  if (submit_) return submit_(publication);
  return fail(Code::unsupported, "this bus keeps nothing for its streams");
}

// ---- how streams stand -------------------------------------------------------------------------

void JetStreams::note_stalled(const void* of, const ConsumeOptions& options, const Error& why) {
  note_stalled(of, name_of_consumer(options), why);
}

void JetStreams::note_stalled(const void* of, const std::string& what, const Error& why) {
  const std::string text = why.describe();
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    std::string& place = stalled_[of];
    std::string now = fmt::format("{} cannot go on: {}", what, text);
    is_new = place != now;
    place = std::move(now);
  }
  if (is_new && observer_ != nullptr) observer_->on_stream_stalled(what, why);
}

void JetStreams::note_going(const void* of, const ConsumeOptions& options, Duration away) {
  note_going(of, name_of_consumer(options), away);
}

void JetStreams::note_going(const void* of, const std::string& what, Duration away) {
  recoveries_.fetch_add(1, std::memory_order_relaxed);
  forget(of);
  if (observer_ != nullptr) observer_->on_stream_going(what, away);
}

void JetStreams::note_gap(const ConsumeOptions& options, const Error& what) {
  gaps_.fetch_add(1, std::memory_order_relaxed);
  if (observer_ != nullptr) observer_->on_stream_gap(name_of_consumer(options), what);
}

void JetStreams::note_not_stored(const std::string& subject, const Error& why) {
  not_stored_.fetch_add(1, std::memory_order_relaxed);
  if (observer_ != nullptr) {
    observer_->on_stream_gap(fmt::format("what is stored to '{}'", subject), why);
  }
}

void JetStreams::note_not_stored(std::uint64_t count) {
  if (count == 0) return;
  not_stored_.fetch_add(count, std::memory_order_relaxed);
  if (observer_ != nullptr) observer_->on_not_stored(count);
}

void JetStreams::forget(const void* of) noexcept {
  const std::lock_guard lock(mutex_);
  stalled_.erase(of);
}

std::string JetStreams::stalled() const {
  const std::lock_guard lock(mutex_);
  if (stalled_.empty()) return {};
  if (stalled_.size() == 1) return stalled_.begin()->second;
  return fmt::format("{} (and {} more)", stalled_.begin()->second, stalled_.size() - 1);
}

void JetStreams::add_figures(BusStatistics& statistics) const {
  statistics.stream_recoveries += recoveries_.load(std::memory_order_relaxed);
  statistics.stream_gaps += gaps_.load(std::memory_order_relaxed);
  statistics.stream_missed += missed_.load(std::memory_order_relaxed);
  statistics.not_stored += not_stored_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  statistics.streams_stalled += stalled_.size();
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
