// ReceivedRow: one row of a result, in the receive buffer. Its columns are decoded from there when
// they are asked for.
//
// Owns       nothing.
// Borrows    the message, the prepared statement, types and the memory of the thread, while it
//            lives.
// Thread     one.
// Allocates  as decode() does.
// Fails      never.
// Invariant  a column that the description did not have is null.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "katana/stores/database/postgres/link_memory.hpp"
#include "katana/stores/database/postgres/statements.hpp"
#include "katana/stores/database/postgres/type_table.hpp"

namespace katana::database::postgres {

class ReceivedRow final : public Row {
 public:
  // `body`: a DataRow that was checked.
  ReceivedRow(Bytes body, Prepared& prepared, const TypeTable& types, LinkMemory& memory)
      : prepared_(prepared), types_(types), values_(memory.values), texts_(memory.texts) {
    count_ = protocol::Row(body).count();
    if (values_.size() < count_) values_.resize(count_);
    if (texts_.size() < count_) texts_.resize(count_);
    protocol::read_row(body, values_);
    // A row with other columns than the description is read by value(), which knows of both.
    if (count_ == prepared.forms.size()) bytes_ = values_.data();
  }

  // Where a further row of the same result puts its values.
  std::span<Bytes> values() noexcept { return {values_.data(), count_}; }

  Mapping* mapping() const noexcept override {
    if (prepared_.mapping == nullptr) prepared_.mapping = std::make_unique<Mapping>();
    return prepared_.mapping.get();
  }
  std::size_t columns() const noexcept override { return count_; }
  Value value(std::size_t column) const noexcept override {
    if (column >= count_ || column >= prepared_.forms.size()) return {};
    if (values_[column].data() == nullptr) return {};
    return decode(types_, prepared_.column_types[column], prepared_.forms[column], values_[column],
                  texts_[column]);
  }
  Plain form(std::size_t column) const noexcept override {
    switch (prepared_.forms[column]) {
      case Form::int2: return Plain::int16;
      case Form::int4: return Plain::int32;
      case Form::int8: return Plain::int64;
      case Form::float8: return Plain::float64;
      case Form::text: return Plain::text;
      default: return Plain::none;
    }
  }
  Bytes name(std::size_t column) const noexcept override {
    Bytes names = prepared_.column_names;
    for (; column > 0 && !names.empty(); --column) names.remove_prefix(names.find('\0') + 1);
    return names.substr(0, names.find('\0'));
  }

 private:
  Prepared& prepared_;
  const TypeTable& types_;
  std::vector<Bytes>& values_;
  std::vector<std::string>& texts_;
  std::size_t count_ = 0;
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
