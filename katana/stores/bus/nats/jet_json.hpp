// The requests and answers of the JetStream API, as JSON.
//
// Owns       its texts.
// Thread     a value.
// Allocates  its texts.
// Fails      read_… with the Error that the server gave, or for JSON of another form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/stores/bus/streams.hpp"

namespace katana::bus::jet {

// The state of a stream, from the answer to STREAM.INFO.
struct Stream {
  std::vector<std::string> subjects;  // patterns with the prefix, in the server's order
  std::uint64_t first_sequence = 0;   // the oldest that is kept
  std::uint64_t last_sequence = 0;    // of the last that was stored, kept or not; 0: none was
  std::string created;                // when, as the servers write it: another one, another time
};
// The state of a consumer, from the answer to CONSUMER.CREATE, CONSUMER.DURABLE.CREATE and
// CONSUMER.INFO.
struct ConsumerState {
  std::string name;                // the server's choice, unless it is durable
  std::uint64_t pending = 0;       // num_pending: messages that it has yet to be given
  std::uint64_t given = 0;         // the stream's sequence behind which it goes on
  std::uint64_t given_count = 0;   // deliveries so far, to all who read it
  std::uint64_t acknowledged = 0;  // all up to this sequence of the stream are
};

// `name` and `subjects` as the server has them.
std::string write_stream(const StreamOptions& options, const std::string& name,
                         const std::vector<std::string>& subjects);
std::string write_consumer(const ConsumeOptions& options, const std::string& stream,
                           const std::string& filter, bool acknowledges);
std::string write_pull(std::size_t count, Duration expires, Duration heartbeat);

// Checks an answer; the Error is the one that the server gave.
Result<void> read_answer(Bytes json);
Result<Stream> read_stream(Bytes json);
Result<ConsumerState> read_consumer(Bytes json);
// The time when the message of an answer to STREAM.MSG.GET was stored.
Result<Timestamp> read_stored_at(Bytes json);
Result<Stored> read_stored(Bytes json);

// The facts in the subject by which a message is acknowledged.
struct Place {
  Bytes consumer = {};           // its name; of the text that was read
  std::uint64_t number = 0;      // among all deliveries of that consumer, from 1
  std::uint64_t sequence = 0;    // in the stream, not of the consumer
  std::uint32_t deliveries = 1;  // with this one
  std::uint64_t waiting = 0;     // as num_pending, when this one was sent
  Timestamp stored_at = {};      // by the server's clock; nanoseconds are cut to microseconds
};
// Reads "$JS.ACK.…" with 9 tokens, or that of newer servers with a domain and an account. Nothing:
// it is no such subject.
std::optional<Place> read_place(Bytes ack_to);

}  // namespace katana::bus::jet

// SPDX-License-Identifier: Apache-2.0
