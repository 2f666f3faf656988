// LogLayout: log records in the form of OTLP, for export_request().
//
// The fields are those of opentelemetry/proto/logs/v1/logs.proto 1.11, by their numbers. The
// message is the body. Fields are attributes of their own types. `trace_id` and `span_id`, if they
// are 32 and 16 hexadecimal digits, become those of the record. The logger is the attribute
// `logger`, and the thread `thread.id`.
//
// Owns       scratch memory.
// Thread     one at a time.
// Allocates  as its scratch memory grows.
// Fails      never.
// Invariant  each record is one field 2: the output of add() can be cut between records.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "katana/base/text/protobuf.hpp"
#include "katana/observe/log/layout.hpp"

namespace katana::otlp {

// SeverityNumber: TRACE is 1, DEBUG 5, INFO 9, WARN 13, ERROR 17, FATAL 21.
constexpr std::uint32_t severity_number(log::Level level) noexcept {
  return 1 + 4 * static_cast<std::uint32_t>(level);
}

class LogLayout final : public log::Layout {
 public:
  void add(const log::Entry& entry, log::Buffer& out) override;
  Bytes separator(char) const override { return {}; }

 private:
  std::size_t add_field(std::span<const log::Value> values, Bytes name, ProtobufWriter& out);
  std::size_t add_value(std::span<const log::Value> values, ProtobufWriter& out);
  std::size_t add_object(std::span<const log::Value> values, ProtobufWriter& out);
  bool take_id(const log::Value& value, Bytes name, ProtobufWriter& out);

  std::string record_;
  log::Buffer message_;
  log::Buffer scratch_;
};

// Finds the end of the first `count` records in `records`, an output of add(). Returns their size
// in bytes. `count` becomes their actual number.
std::size_t cut_records(Bytes records, std::size_t& count) noexcept;

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
