// The functions of a session that execute statements: built-in ones, and those of the script.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <utility>

#include "katana/testing/postgres/fake/fake_session.hpp"

namespace katana::testing {
namespace {

std::string first_word(const std::string& text) {
  std::string word = text.substr(0, text.find_first_of(" (;"));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
  return word;
}

std::string last_word(const std::string& text) { return text.substr(text.rfind(' ') + 1); }

// The statement gives rows of data, and changes none.
bool reads(const std::string& text) {
  const std::string word = first_word(text);
  return word == "SELECT" || word == "SHOW" || word == "VALUES" || word == "TABLE";
}

}  // namespace

void FakeSession::execute(const Portal& portal) {
  const std::string& text = portal.statement.text;
  const bool ends = text.starts_with("ROLLBACK") || text.starts_with("COMMIT");
  if (status_ == 'E' && !ends) {
    return fail("25P02",
                "current transaction is aborted, commands ignored until end of "
                "transaction block");
  }
  if (portal.statement.answer != nullptr) return execute_scripted(portal);
  if (execute_built_in(text)) return;
  fail("42601", "FakePostgres has no answer for this statement: give it one by answer(): " + text);
}

// False: it is none of them.
bool FakeSession::execute_built_in(const std::string& text) {
  const std::string word = first_word(text);
  if (word == "BEGIN" || word == "START") {
    status_ = 'T';
    complete("BEGIN");
  } else if (word == "COMMIT") {
    commit();
  } else if (word == "ROLLBACK" && text.find(" TO ") != std::string::npos) {
    roll_back_to(last_word(text));
  } else if (word == "ROLLBACK") {
    roll_back();
  } else if (word == "SAVEPOINT") {
    savepoints_.emplace_back(last_word(text), effects_.size());
    complete("SAVEPOINT");
  } else if (word == "RELEASE") {
    const auto found = std::ranges::find(savepoints_, last_word(text),
                                         [](const auto& each) { return each.first; });
    if (found == savepoints_.end()) {
      fail("3B001", "the savepoint does not exist");
      return true;
    }
    savepoints_.erase(found, savepoints_.end());
    complete("RELEASE");
  } else if (word == "SET" || word == "DEALLOCATE" || word == "DISCARD" || word == "RESET") {
    if (text == "DEALLOCATE ALL") statements_.clear();
    if (word == "DEALLOCATE") statements_.erase(last_word(text));
    complete(word);
  } else if (text == "SELECT 1") {
    write_one("1");
  } else if (text == "SHOW transaction_read_only") {
    write_one(server_.is_primary ? "off" : "on");
  } else if (text == "SELECT pg_catalog.pg_is_in_recovery()") {
    write_one(server_.is_primary ? "f" : "t");
  } else {
    return false;
  }
  return true;
}

void FakeSession::write_one(const std::string& value) {
  write('D', in_network_order(1, 2) +
                 in_network_order(static_cast<std::uint32_t>(value.size()), 4) + value);
  complete("SELECT 1");
}

void FakeSession::commit() {
  const bool has_failed = std::exchange(status_, 'I') == 'E';
  if (has_failed) {
    effects_.clear();
    savepoints_.clear();
    return complete("ROLLBACK");
  }
  if (script_.conflicts_left > 0) {
    --script_.conflicts_left;
    savepoints_.clear();
    return fail("40001",
                "could not serialize access due to read/write dependencies among transactions");
  }
  ++script_.commits;
  apply_effects();
  complete("COMMIT");
}

void FakeSession::roll_back() {
  status_ = 'I';
  effects_.clear();
  savepoints_.clear();
  complete("ROLLBACK");
}

void FakeSession::roll_back_to(const std::string& name) {
  const auto found =
      std::ranges::find(savepoints_, name, [](const auto& each) { return each.first; });
  if (found == savepoints_.end()) return fail("3B001", "the savepoint does not exist");
  effects_.resize(found->second);
  savepoints_.erase(std::next(found), savepoints_.end());
  status_ = 'T';
  complete("ROLLBACK");
}

void FakeSession::execute_scripted(const Portal& portal) {
  const std::string& text = portal.statement.text;
  script_.statements.push_back({.text = text,
                                .values = portal.values,
                                .server = server_.name,
                                .in_transaction = status_ == 'T'});
  if (script_.failures_left > 0) {
    --script_.failures_left;
    return fail(script_.failure_state, script_.failure_message);
  }
  if (!server_.is_primary && !reads(text)) {
    return fail("25006", "cannot execute " + first_word(text) + " in a read-only transaction");
  }
  FakeReply reply;
  // The reply may call members of FakePostgres, which may move the list.
  const FakeStatement statement = script_.statements.back();
  const std::shared_ptr<const FakeAnswer> answer = portal.statement.answer;
  if (answer->reply) reply = answer->reply(statement);
  give(portal, std::move(reply));
}

void FakeSession::give(const Portal& portal, FakeReply reply) {
  if (!reply.sqlstate.empty()) return fail(reply.sqlstate, reply.message);
  if (!write_rows(portal, reply.rows)) {
    return fail("42804", "a row of the answer does not fit its columns: " + portal.statement.text);
  }
  if (reply.on_commit) effects_.push_back(std::move(reply.on_commit));
  const bool has_columns = !portal.statement.answer->columns.empty();
  const auto count = static_cast<std::int64_t>(reply.rows.size());
  const std::int64_t changed = reply.changed >= 0 ? reply.changed : has_columns ? count : 1;
  const std::string word = first_word(portal.statement.text);
  if (reads(portal.statement.text) || word == "WITH") {
    complete("SELECT " + std::to_string(count));
  } else if (word == "INSERT") {
    complete("INSERT 0 " + std::to_string(changed));
  } else {
    complete(word + " " + std::to_string(changed));
  }
}

// False: a row does not fit. No row is written then.
bool FakeSession::write_rows(const Portal& portal, const std::vector<FakeRow>& rows) {
  const std::vector<FakeColumn>& columns = portal.statement.answer->columns;
  const std::size_t before = output_.size();
  for (const FakeRow& row : rows) {
    std::string body = in_network_order(static_cast<std::uint32_t>(columns.size()), 2);
    bool fits = row.size() == columns.size();
    for (std::size_t index = 0; fits && index < row.size(); ++index) {
      if (!row[index]) {
        body += in_network_order(UINT32_MAX, 4);
        continue;
      }
      const auto bytes = portal.is_binary ? encode_binary(columns[index].type, *row[index])
                                          : std::optional(*row[index]);
      fits = bytes.has_value();
      if (fits) body += in_network_order(static_cast<std::uint32_t>(bytes->size()), 4) + *bytes;
    }
    if (!fits) {
      output_.resize(before);
      return false;
    }
    write('D', body);
  }
  return true;
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
