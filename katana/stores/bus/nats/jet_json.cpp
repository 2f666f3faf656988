#include "katana/stores/bus/nats/jet_json.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus::jet {
namespace parts {

struct ApiError {
  std::optional<std::int64_t> code;
  std::optional<std::int64_t> err_code;
  std::optional<std::string> description;
};
KATANA_DESCRIBE(ApiError, code, err_code, description)

struct Answer {
  std::optional<ApiError> error;
};
KATANA_DESCRIBE(Answer, error)

struct Config {
  std::optional<std::vector<std::string>> subjects;
};
KATANA_DESCRIBE(Config, subjects)

struct StreamState {
  std::optional<std::uint64_t> first_seq;
  std::optional<std::uint64_t> last_seq;
};
KATANA_DESCRIBE(StreamState, first_seq, last_seq)

struct StreamAnswer {
  std::optional<ApiError> error;
  std::optional<Config> config;
  std::optional<StreamState> state;
  std::optional<std::string> created;
};
KATANA_DESCRIBE(StreamAnswer, error, config, state, created)

struct SequencePair {
  std::optional<std::uint64_t> consumer_seq;
  std::optional<std::uint64_t> stream_seq;
};
KATANA_DESCRIBE(SequencePair, consumer_seq, stream_seq)

struct ConsumerAnswer {
  std::optional<ApiError> error;
  std::optional<std::string> name;
  std::optional<std::uint64_t> num_pending;
  std::optional<SequencePair> delivered;
  std::optional<SequencePair> ack_floor;
};
KATANA_DESCRIBE(ConsumerAnswer, error, name, num_pending, delivered, ack_floor)

struct KeptMessage {
  std::optional<std::string> time;
};
KATANA_DESCRIBE(KeptMessage, time)

struct MessageAnswer {
  std::optional<ApiError> error;
  std::optional<KeptMessage> message;
};
KATANA_DESCRIBE(MessageAnswer, error, message)

struct StoredAnswer {
  std::optional<ApiError> error;
  std::optional<std::uint64_t> seq;
  std::optional<bool> duplicate;
};
KATANA_DESCRIBE(StoredAnswer, error, seq, duplicate)

}  // namespace parts

namespace {

Error error_of(const parts::ApiError& error) {
  const std::int64_t code = error.code.value_or(500);
  const std::int64_t detail = error.err_code.value_or(0);
  Code meaning = Code::internal;
  if (code == 404) meaning = Code::not_found;
  if (code == 400) meaning = Code::invalid_argument;
  if (code == 503) meaning = Code::unavailable;
  if (code == 403) meaning = Code::permission_denied;
  return Error(meaning,
               fmt::format("JetStream says: {} ({}, {})",
                           error.description.value_or("no reason").substr(0, 200), code, detail));
}

template <class T>
Result<T> read_as(Bytes json) {
  auto read = container::read_json<T>(json);
  if (!read) return std::unexpected(read.error().within("an answer of JetStream"));
  if (read->error) return std::unexpected(error_of(*read->error));
  return *std::move(read);
}

template <class T>
void add(std::string& json, Bytes name, const T& value) {
  json += fmt::format("{}\"{}\":", json.ends_with('{') ? "" : ",", name);
  json += container::to_json(value);
}

void add_bound(std::string& json, Bytes name, std::uint64_t bound) {
  add(json, name, bound == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(bound));
}

std::string policy_of(StartAt start) {
  switch (start) {
    case StartAt::first: return "all";
    case StartAt::next: return "new";
    case StartAt::last: return "last";
    case StartAt::last_per_subject: return "last_per_subject";
    case StartAt::sequence: return "by_start_sequence";
    case StartAt::time: return "by_start_time";
  }
  return "all";
}

// RFC 3339 with microseconds.
std::string time_text(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

bool read_number(Bytes text, std::uint64_t& number) noexcept {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string write_stream(const StreamOptions& options, const std::string& name,
                         const std::vector<std::string>& subjects) {
  std::string json = "{";
  add(json, "name", name);
  add(json, "subjects", subjects);
  add(json, "retention", std::string("limits"));
  add(json, "discard", std::string("old"));
  add(json, "storage", std::string(options.in_memory ? "memory" : "file"));
  add(json, "num_replicas", std::int64_t{options.replicas});
  add_bound(json, "max_msgs", options.messages_max);
  add_bound(json, "max_msgs_per_subject", options.messages_per_subject_max);
  add_bound(json, "max_bytes", options.bytes_max);
  add(json, "max_age", options.age_max.ns);
  Duration window = options.duplicate_window;
  if (options.age_max > Duration{} && window > options.age_max) window = options.age_max;
  add(json, "duplicate_window", window.ns);
  return json + "}";
}

std::string write_consumer(const ConsumeOptions& options, const std::string& stream,
                           const std::string& filter, bool acknowledges) {
  std::string config = "{";
  if (!options.durable.empty()) add(config, "durable_name", options.durable);
  add(config, "deliver_policy", policy_of(options.start));
  if (options.start == StartAt::sequence) add(config, "opt_start_seq", options.start_sequence);
  if (options.start == StartAt::time) {
    add(config, "opt_start_time", time_text(options.start_time));
  }
  if (!filter.empty()) add(config, "filter_subject", filter);
  add(config, "replay_policy", std::string("instant"));
  add(config, "ack_policy", std::string(acknowledges ? "explicit" : "none"));
  if (acknowledges) {
    add(config, "ack_wait", options.ack_wait.ns);
    add(config, "max_ack_pending", static_cast<std::int64_t>(options.unacknowledged_max));
    add_bound(config, "max_deliver", options.deliveries_max);
  }
  if (options.durable.empty()) {
    add(config, "inactive_threshold", seconds(30).ns);
    add(config, "mem_storage", true);
  }
  std::string json = "{";
  add(json, "stream_name", stream);
  return json + ",\"config\":" + config + "}}";
}

std::string write_pull(std::size_t count, Duration expires, Duration heartbeat) {
  return fmt::format("{{\"batch\":{},\"expires\":{},\"idle_heartbeat\":{}}}", count, expires.ns,
                     heartbeat.ns);
}

Result<void> read_answer(Bytes json) {
  auto read = read_as<parts::Answer>(json);
  if (!read) return std::unexpected(read.error());
  return {};
}

Result<Stream> read_stream(Bytes json) {
  auto read = read_as<parts::StreamAnswer>(json);
  if (!read) return std::unexpected(read.error());
  Stream stream;
  if (read->config) stream.subjects = read->config->subjects.value_or(std::vector<std::string>());
  if (read->state) {
    stream.first_sequence = read->state->first_seq.value_or(0);
    stream.last_sequence = read->state->last_seq.value_or(0);
  }
  stream.created = read->created.value_or("");
  return stream;
}

Result<ConsumerState> read_consumer(Bytes json) {
  auto read = read_as<parts::ConsumerAnswer>(json);
  if (!read) return std::unexpected(read.error());
  if (!read->name) return fail(Code::data_loss, "JetStream's answer names no consumer");
  ConsumerState consumer{.name = *read->name, .pending = read->num_pending.value_or(0)};
  if (read->delivered) {
    consumer.given = read->delivered->stream_seq.value_or(0);
    consumer.given_count = read->delivered->consumer_seq.value_or(0);
  }
  if (read->ack_floor) consumer.acknowledged = read->ack_floor->stream_seq.value_or(0);
  return consumer;
}

Result<Timestamp> read_stored_at(Bytes json) {
  auto read = read_as<parts::MessageAnswer>(json);
  if (!read) return std::unexpected(read.error());
  std::optional<Timestamp> time;
  if (read->message && read->message->time) time = TextForm<Timestamp>::parse(*read->message->time);
  if (!time) return fail(Code::data_loss, "JetStream's answer has no time of the message");
  return *time;
}

Result<Stored> read_stored(Bytes json) {
  auto read = read_as<parts::StoredAnswer>(json);
  if (!read) return std::unexpected(read.error());
  if (!read->seq) return fail(Code::data_loss, "JetStream's answer has no sequence");
  return Stored{.sequence = *read->seq, .is_duplicate = read->duplicate.value_or(false)};
}

// "$JS.ACK.[domain.account.]stream.consumer.deliveries.sequence.consumer-sequence.time.pending[.…]"
std::optional<Place> read_place(Bytes ack_to) {
  if (!ack_to.starts_with("$JS.ACK.")) return std::nullopt;
  std::array<Bytes, 12> tokens;
  std::size_t count = 0;
  for (Bytes rest = ack_to; !rest.empty() && count < tokens.size();) {
    tokens[count++] = next_token(rest);
  }
  const std::size_t from = count >= 11 ? 6 : 4;
  if (count < from + 5) return std::nullopt;
  std::uint64_t deliveries = 0, time_ns = 0;
  Place place{.consumer = tokens[from - 1]};
  if (!read_number(tokens[from], deliveries) || !read_number(tokens[from + 1], place.sequence) ||
      !read_number(tokens[from + 2], place.number) || !read_number(tokens[from + 3], time_ns) ||
      !read_number(tokens[from + 4], place.waiting)) {
    return std::nullopt;
  }
  place.deliveries = static_cast<std::uint32_t>(deliveries);
  place.stored_at = Timestamp(std::chrono::microseconds(time_ns / 1000));
  return place;
}

}  // namespace katana::bus::jet

// SPDX-License-Identifier: Apache-2.0
