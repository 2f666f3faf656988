// ScriptedBackend: a database that notes its requests, and answers as a test's script says.
//
//   Script script;
//   script.system = "postgresql";
//   script.answer = [](const Script::Call& call) -> Script::Reply { return {.rows_changed = 1}; };
//   Database database(std::make_unique<ScriptedBackend>(script));
//
// It shows which statements a program sends in which order, without a database that runs them.
//
// Owns       nothing.
// Borrows    the script, which outlives it.
// Thread     its callers'; one at a time.
// Allocates  freely.
// Fails      as the script says.
// Invariant  each request is noted before it is answered. None is left waiting, except while
//            Script::holds is true.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "katana/stores/database/backend.hpp"

namespace katana::database {

// The requests that a backend got, and the answers that it gives.
struct Script {
  // A request, with its texts copied.
  struct Call {
    Order order = Order::read;
    std::string text;                 // of the statement; empty: the order has none
    std::vector<std::string> values;  // parameters, as text; "null"
    std::uint64_t transaction = 0;
    std::uint32_t savepoint = 0;
    Duration timeout;
  };
  using Column = std::variant<std::monostate, std::int64_t, std::string>;
  // An answer. Rows have the names of `columns`.
  struct Reply {
    std::int64_t rows_changed = 0;
    std::optional<Error> error = {};
    std::vector<std::string> columns = {};
    std::vector<std::vector<Column>> rows = {};
  };

  std::size_t count_of(Order order) const {
    return static_cast<std::size_t>(std::ranges::count(calls, order, &Call::order));
  }
  // The calls whose text begins so.
  std::vector<Call> begun_with(std::string_view text) const {
    std::vector<Call> found;
    for (const Call& call : calls) {
      if (call.text.starts_with(text)) found.push_back(call);
    }
    return found;
  }

  std::string system = "scripted";
  std::function<Reply(const Call&)> answer = [](const Call&) { return Reply(); };
  bool holds = false;  // calls wait until they are withdrawn
  std::vector<Call> calls;
  std::vector<std::uint64_t> rolled_back;  // by roll_back()
  std::size_t withdrawn = 0;
};

class ScriptedBackend final : public Backend {
 public:
  explicit ScriptedBackend(Script& script) noexcept : script_(script) {}

  Attempt try_here(const Request&, Outcome&) noexcept override { return Attempt::elsewhere; }
  void submit(Work& work) noexcept override {
    const Request& request = work.request;
    Script::Call call{.order = request.order,
                      .text = request.sql != nullptr ? std::string(request.sql->text()) : "",
                      .values = {},
                      .transaction = request.transaction,
                      .savepoint = request.savepoint,
                      .timeout = request.timeout};
    for (const Value& value : request.values) call.values.push_back(text_of(value));
    script_.calls.push_back(call);
    if (script_.holds) return;
    const Script::Reply reply = script_.answer(call);
    if (request.order == Order::begin) work.outcome.transaction = ++transactions_;
    work.outcome.rows_changed = reply.rows_changed;
    work.outcome.error = reply.error;
    for (const auto& row : reply.rows) (void)work.outcome.take(ScriptedRow(reply.columns, row));
    Completions().add(work);
  }
  void withdraw(Work& work) noexcept override {
    ++script_.withdrawn;
    work.unexpect();
    work.destroy(&work);
  }
  void roll_back(std::uint64_t transaction) noexcept override {
    script_.rolled_back.push_back(transaction);
  }
  void close(Cursor&) noexcept override {}
  Bytes system() const noexcept override { return script_.system; }
  katana::Result<void> health() const override { return {}; }
  Statistics statistics() const override { return {}; }
  Duration timeout_default() const noexcept override { return seconds(30); }

 private:
  class ScriptedRow final : public Row {
   public:
    ScriptedRow(const std::vector<std::string>& names, const std::vector<Script::Column>& values)
        : names_(names), values_(values) {}
    std::size_t columns() const noexcept override { return values_.size(); }
    Value value(std::size_t column) const noexcept override {
      const Script::Column& each = values_[column];
      if (const auto* const number = std::get_if<std::int64_t>(&each)) {
        return Value::of_integer(*number);
      }
      if (const auto* const text = std::get_if<std::string>(&each)) return Value::of_text(*text);
      return {};
    }
    Bytes name(std::size_t column) const noexcept override { return names_[column]; }

   private:
    const std::vector<std::string>& names_;
    const std::vector<Script::Column>& values_;
  };

  static std::string text_of(const Value& value) {
    switch (value.type) {
      case Value::Type::integer: return fmt::format("{}", value.integer);
      case Value::Type::real: return fmt::format("{}", value.real);
      case Value::Type::null: return "null";
      default: return std::string(value.octets);
    }
  }

  Script& script_;
  std::uint64_t transactions_ = 0;
};

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
