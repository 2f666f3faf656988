// Bank: accounts and transfers by several writers at once, on a disk that crashes. It notes which
// transfers were acknowledged and refused, and compares them with the file after each crash.
//
// Owns       its scene.
// Thread     one.
// Fails      compare() returns the rules that are broken; "" is right.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "katana/stores/database/migrations.hpp"
#include "katana/testing/disk/disk_scene_test.hpp"

namespace katana::testing {

struct BankOptions {
  DiskOptions disk = {};
  database::Durability durability = database::Durability::full;
  // A planted bug: a transfer counts as acknowledged when its transaction is about to commit.
  bool acknowledges_early = false;
  // Only the writer's connection is open, so that its close ends the index of the log.
  bool writes_only = false;
};

class Bank {
 public:
  static constexpr int accounts = 8;
  static constexpr int balance = 100;

  explicit Bank(std::uint64_t seed, BankOptions options = {})
      : scene(seed, std::move(options.disk), database_options(options.durability)),
        is_full_(options.durability == database::Durability::full),
        acknowledges_early_(options.acknowledges_early),
        writes_only_(options.writes_only) {}

  bool open() { return scene.open(); }
  // `callers` at once make `rounds` transfers each.
  void transfer(int callers, int rounds) {
    DiskScene::Tasks tasks;
    for (int caller = 0; caller < callers; ++caller) {
      tasks.push_back(std::make_unique<Task<void>>(call(rounds)));
    }
    scene.run(tasks);
  }

  // Compares the file with the acknowledgements. A transfer that is lost, and may be, is forgotten.
  // `settles`: no connection has the file open. Its transfers are then synced, and not lost later.
  std::string compare(bool settles = true) {
    SqliteHandle file(DiskScene::path, scene.disk.vfs());
    const std::string whole = file.ask("PRAGMA integrity_check");
    if (whole != "ok") return "integrity_check: " + whole;
    if (file.ask("SELECT count(*) FROM sqlite_schema WHERE name = 'transfers'") == "0") {
      const bool is_broken = std::ranges::any_of(fates_, [this](const auto& each) {
        return each.second.is_settled || (is_full_ && each.second.fate == Fate::acknowledged);
      });
      fates_.clear();
      return is_broken ? "the tables are gone" : "";
    }
    std::string broken;
    const auto expect = [&](const std::string& question, const std::string& answer) {
      const std::string found = file.ask(question);
      if (found != answer) broken += fmt::format("{}: {}; ", question, found);
    };
    expect("SELECT sum(balance) FROM accounts", std::to_string(accounts * balance));
    expect("SELECT count(*) FROM transfers WHERE is_long AND key NOT IN receipts", "0");
    expect("SELECT count(*) FROM receipts WHERE key NOT IN (SELECT key FROM transfers)", "0");
    expect("SELECT count(*) - coalesce(max(seq), 0) FROM transfers", "0");  // no hole
    expect(
        "SELECT count(*) FROM accounts a WHERE balance <> 100 "
        "- coalesce((SELECT sum(amount) FROM transfers WHERE source = a.id), 0) "
        "+ coalesce((SELECT sum(amount) FROM transfers WHERE target = a.id), 0)",
        "0");
    compare_fates(file, broken, settles);
    return broken;
  }

  int acknowledged = 0;
  int refused = 0;
  int lost = 0;  // acknowledged transfers that a crash undid

  DiskScene scene;

 private:
  enum class Fate : std::uint8_t { unknown, acknowledged, refused };
  struct Transfer {
    Fate fate = Fate::unknown;
    std::int64_t seq = 0;     // its place among the commits; 0: not told
    bool is_settled = false;  // it was there after a crash
  };

  static database::sqlite::Options database_options(database::Durability durability) {
    database::sqlite::Options options;
    options.durability = durability;
    options.checkpoint_pages = 20;
    options.cache_kib = 64;
    options.bundled = *database::bundled_migrations(std::vector<database::MigrationFile>{
        {"0001_accounts.sql",
         "CREATE TABLE accounts (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance "
         ">= 0)) STRICT; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
         "8) INSERT INTO accounts SELECT i, 100 FROM n"},
        {"0002_transfers.sql",
         "CREATE TABLE transfers (seq INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, source "
         "INTEGER NOT NULL, target INTEGER NOT NULL, amount INTEGER NOT NULL, is_long INTEGER NOT "
         "NULL, note TEXT NOT NULL) STRICT; CREATE TABLE receipts (key INTEGER PRIMARY KEY); "
         "CREATE TRIGGER moves AFTER INSERT ON transfers BEGIN UPDATE accounts SET balance = "
         "balance - NEW.amount WHERE id = NEW.source; UPDATE accounts SET balance = balance + "
         "NEW.amount WHERE id = NEW.target; END"}});
    return options;
  }

  Task<void> call(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t key = ++last_key_;
      const std::int64_t source = 1 + static_cast<std::int64_t>(scene.below(accounts));
      const std::int64_t target = 1 + static_cast<std::int64_t>(scene.below(accounts));
      const std::int64_t amount = 1 + static_cast<std::int64_t>(scene.below(70));
      fates_[key] = {};
      if (writes_only_) {
        co_await move_unseen(key, source, target, amount);
      } else if (scene.below(4) == 0) {
        co_await move_long(key, source, target, amount);
      } else {
        co_await move(key, source, target, amount);
      }
      if (scene.disk.is_down()) co_return;
    }
  }

  Task<void> move(std::int64_t key, std::int64_t source, std::int64_t target, std::int64_t amount) {
    const std::string text(100 + scene.below(2000), 'x');
    const auto seq = co_await scene.db().query_one<std::int64_t>(
        "INSERT INTO transfers (key, source, target, amount, is_long, note) "
        "VALUES ($1, $2, $3, $4, 0, $5) RETURNING seq",
        key, source, target, amount, text);
    if (seq) {
      acknowledge(key, **seq);
    } else {
      refuse(key, seq.error());
    }
  }

  Task<void> move_unseen(std::int64_t key, std::int64_t source, std::int64_t target,
                         std::int64_t amount) {
    const auto moved = co_await scene.db().execute(
        "INSERT INTO transfers (key, source, target, amount, is_long, note) "
        "VALUES ($1, $2, $3, $4, 0, 'unseen')",
        key, source, target, amount);
    if (moved) {
      acknowledge(key, 0);
    } else {
      refuse(key, moved.error());
    }
  }

  Task<void> move_long(std::int64_t key, std::int64_t source, std::int64_t target,
                       std::int64_t amount) {
    auto transaction = co_await scene.db().begin();
    if (!transaction) {
      refuse(key, transaction.error());
      co_return;
    }
    const auto receipt = co_await transaction->execute("INSERT INTO receipts VALUES ($1)", key);
    const auto seq = co_await transaction->query_one<std::int64_t>(
        "INSERT INTO transfers (key, source, target, amount, is_long, note) "
        "VALUES ($1, $2, $3, $4, 1, 'long') RETURNING seq",
        key, source, target, amount);
    if (!receipt || !seq) {
      refuse(key, seq ? receipt.error() : seq.error());
      co_return;
    }
    if (acknowledges_early_) acknowledge(key, **seq);
    const auto committed = co_await transaction->commit();
    if (committed && !acknowledges_early_) acknowledge(key, **seq);
    if (!committed) refuse(key, committed.error());
  }

  void acknowledge(std::int64_t key, std::int64_t seq) {
    fates_[key] = {.fate = Fate::acknowledged, .seq = seq};
    ++acknowledged;
  }
  // A disk that fails within a commit leaves it open whether the transfer is there.
  void refuse(std::int64_t key, const database::Error& error) {
    ++refused;
    const bool is_open = error.kind() == database::Kind::unavailable;
    if (fates_[key].fate != Fate::acknowledged) {
      fates_[key].fate = is_open ? Fate::unknown : Fate::refused;
    }
  }

  void compare_fates(SqliteHandle& file, std::string& broken, bool settles) {
    std::vector<std::string> rows;
    (void)file.run("SELECT key, seq FROM transfers", &rows);
    std::map<std::int64_t, std::int64_t> there;
    std::int64_t last = 0;
    for (std::size_t at = 0; at + 1 < rows.size(); at += 2) {
      there[std::stoll(rows[at])] = std::stoll(rows[at + 1]);
      last = std::max<std::int64_t>(last, std::stoll(rows[at + 1]));
    }
    for (auto transfer = fates_.begin(); transfer != fates_.end();) {
      const auto& [key, known] = *transfer;
      const auto found = there.find(key);
      const bool is_there = found != there.end();
      if (known.fate == Fate::refused && is_there) {
        broken += fmt::format("transfer {} was refused, and is there; ", key);
      }
      if (known.fate == Fate::acknowledged && is_there && known.seq != 0 &&
          found->second != known.seq) {
        broken += fmt::format("transfer {} has another place; ", key);
      }
      if (known.fate == Fate::acknowledged && !is_there) {
        ++lost;
        if (is_full_ || known.is_settled)
          broken += fmt::format("transfer {} was acknowledged, and is lost; ", key);
        if (known.seq != 0 && known.seq <= last)
          broken += fmt::format("transfer {} is a hole; ", key);
      }
      transfer = is_there ? std::next(transfer) : fates_.erase(transfer);
    }
    for (auto& [key, known] : fates_) {
      known = {Fate::acknowledged, there[key], known.is_settled || settles};
    }
  }

  const bool is_full_;
  const bool acknowledges_early_;
  const bool writes_only_;
  std::int64_t last_key_ = 0;
  std::map<std::int64_t, Transfer> fates_;
};

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
