// What the API of JetStream asks and answers, as JSON.
//
// Owns       its texts.
// Thread     a value.
// Allocates  its texts.
// Fails      read_… with the Error that the server gave, or when it is no such JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "katana/base/result.hpp"
#include "katana/bus/streams.hpp"

namespace katana::bus::jet {

struct Stream {
  std::vector<std::string> subjects;
  std::uint64_t first_sequence = 0;
  std::uint64_t last_sequence = 0;
};
struct NewConsumer {
  std::string name;
  std::uint64_t pending = 0;
};

// `name` and `subjects` as the server has them.
std::string write_stream(const StreamOptions& options, const std::string& name,
                         const std::vector<std::string>& subjects);
std::string write_consumer(const ConsumeOptions& options, const std::string& stream,
                           const std::string& filter, bool acknowledges);
std::string write_pull(std::size_t count, Duration expires, Duration heartbeat);

// Nothing wrong is an Error without a value: the answer is one.
Result<void> read_answer(Bytes json);
Result<Stream> read_stream(Bytes json);
Result<NewConsumer> read_consumer(Bytes json);
Result<Stored> read_stored(Bytes json);

// Of the subject by which a message is acknowledged; nothing: it is none.
struct Place {
  std::uint64_t sequence = 0;
  std::uint32_t deliveries = 1;
  std::uint64_t waiting = 0;
  Timestamp stored_at = {};
};
std::optional<Place> read_place(Bytes ack_to);

}  // namespace katana::bus::jet

// SPDX-License-Identifier: Apache-2.0
