// Statements: the prepared statements of one connection, by text. The least recently used goes
// first.
//
// Owns       the Prepared.
// Borrows    texts, which are literals of the program.
// Thread     its connection's.
// Allocates  a Prepared for each text.
// Fails      never.
// Invariant  no more than `most` are kept, but for those that are in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "katana/base/memory/linked_list.hpp"
#include "katana/stores/database/postgres/statement_text.hpp"
#include "katana/stores/database/postgres/types.hpp"
#include "katana/stores/database/row.hpp"
#include "katana/stores/database/sql.hpp"

namespace katana::database::postgres {

// One statement of a connection, and the server's description of it.
struct Prepared : ListHook<Prepared> {
  // asked: PREPARE is on its way. ready: it was answered, and the types are known.
  enum class State : std::uint8_t { unknown, asked, ready };

  Bytes text = {};                // as the program wrote it
  std::string name = {};          // at the server
  StatementTraits traits = {};    // by traits_of()
  State state = State::unknown;   // starts as unknown
  unsigned users = 0;             // units on their way
  std::uint32_t rows_before = 0;  // of its last result that had rows
  bool answered = false;          // since it was prepared, and so was right once
  std::uint64_t generation = 0;   // how often it was prepared anew under another name
  std::vector<std::uint32_t> parameter_types = {};  // OIDs, one for each $N
  std::vector<std::uint32_t> column_types = {};     // OIDs, one for each column
  std::vector<Form> forms = {};                     // of the columns
  std::string column_names = {};                    // one after another, each with a zero behind it
  // Columns to members of the struct that was last read; null: none was.
  std::unique_ptr<Mapping> mapping = {};
};

class Statements {
 public:
  // `seed` distinguishes this connection's names from those of others.
  Statements(std::size_t most, std::uint64_t seed)
      : prefix_("k" + std::to_string(static_cast<std::uint32_t>(seed)) + "_"), most_(most) {}
  ~Statements() {
    while (!order_.empty()) order_.pop_front();
  }
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;

  // The statement of the text; a new one is State::unknown.
  Prepared& find(const Sql& sql) {
    std::unique_ptr<Prepared>& kept = prepared_[sql.text()];
    if (kept == nullptr) {
      kept = std::make_unique<Prepared>();
      kept->text = sql.text();
      kept->traits = traits_of(sql.text());
      kept->name = next_name();
    } else {
      order_.remove(*kept);
    }
    order_.push_back(*kept);
    return *kept;
  }
  // A statement that is not in use, while there are more than `most`; null: none.
  Prepared* surplus() noexcept {
    if (prepared_.size() <= most_) return nullptr;
    for (Prepared* each = order_.first(); each != nullptr; each = each->next_in_list()) {
      if (each->users == 0 && each->state == Prepared::State::ready) return each;
    }
    return nullptr;
  }
  // Called when the server's plan does not hold any more: the statement is prepared again, under
  // another name.
  void renew(Prepared& prepared) {
    prepared.name = next_name();
    prepared.state = Prepared::State::unknown;
    prepared.answered = false;
    ++prepared.generation;
  }
  // The same of all. True: there were some at the server.
  bool renew_all() {
    bool any = false;
    for (auto& [text, prepared] : prepared_) {
      if (prepared->state == Prepared::State::unknown) continue;
      any = true;
      renew(*prepared);
    }
    return any;
  }
  void forget(Prepared& prepared) noexcept {
    order_.remove(prepared);
    prepared_.erase(prepared.text);
  }
  std::size_t size() const noexcept { return prepared_.size(); }

 private:
  struct Hash {
    std::size_t operator()(Bytes text) const noexcept { return std::hash<Bytes>()(text); }
  };

  std::string next_name() { return prefix_ + std::to_string(++names_); }

  // No other program has this prefix. A pooler may give a session to another program, which then
  // cannot run this program's statements by mistake.
  const std::string prefix_;

  const std::size_t most_;
  std::uint64_t names_ = 0;
  std::unordered_map<Bytes, std::unique_ptr<Prepared>, Hash> prepared_;
  LinkedList<Prepared> order_;  // the one used longest ago is first
};

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
