// JetStreams: streams that the NATS servers keep (JetStream), by requests to their API.
//
// Names and subjects are those of the bus: with a prefix "shop" the stream "orders" is
// "shop_orders" on the server.
//
// Owns       nothing of the streams.
// Borrows    the bus.
// Thread     a reactor's; a Consumer that of who made it.
// Allocates  as Streams says.
// Fails      as Streams says; what the server refuses is an Error with its words.
// Invariant  a consumer asks for no more than it has places, and asks again when the server is
//            there again, or says that it has given up.
// Source     docs.nats.io/reference/reference-protocols/nats_api_reference (2.9)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "katana/bus/bus.hpp"
#include "katana/bus/streams.hpp"

namespace katana::bus {

// What the API needs to know of its bus.
struct JetNames {
  std::string prefix = {};  // as NatsOptions::prefix, without the dot behind it
  std::string full_subject(Bytes subject) const;  // "orders.new" is "shop.orders.new"
  std::string subject_of(Bytes full) const;       // the way back; others stay as they are
  std::string full_stream(Bytes name) const;      // "shop_orders"; a prefix's dots become '-'
};

class JetStreams final : public Streams {
 public:
  JetStreams(Bus& bus, std::string prefix) : bus_(bus), names_{std::move(prefix)} {}

  Task<Result<std::vector<StoredMessage>>> last(std::string stream, std::string subject,
                                                std::size_t count) override;
  Task<Result<std::vector<StoredMessage>>> after(std::string stream, std::string filter,
                                                 std::uint64_t sequence,
                                                 std::size_t count) override;

 private:
  class Reader;
  Task<Result<void>> do_ensure(StreamOptions options) override;
  Task<Result<Stored>> do_store(std::string subject, std::string payload,
                                StoreOptions options) override;
  Task<Result<std::unique_ptr<Consumer>>> do_consume(ConsumeOptions options) override;
  struct Created {
    std::string name;
    std::uint64_t pending = 0;
  };
  // The text of an answer without an error.
  Task<Result<std::string>> ask(std::string api, std::string json);
  Task<Result<Created>> create(ConsumeOptions options, bool acknowledges);
  Task<Result<std::vector<StoredMessage>>> read(ConsumeOptions options, std::size_t keep);
  Task<Result<std::uint64_t>> first_of_last(ConsumeOptions options, std::size_t count);

  Bus& bus_;
  const JetNames names_;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
