#include "katana_tool/sql/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "katana_tool/files.hpp"
#include "katana_tool/sql/dialect.hpp"
#include "katana_tool/sql/matching.hpp"

namespace katana::tool::sql {
namespace {

constexpr std::string_view update_remedy = "run katana sql check --update, and commit it";

// One dialect: the statements of a program against what its database, or the lock, says.
class Run {
 public:
  Run(const Target& target, const CheckOptions& options, const Matching& matching,
      std::string dialect, Report& report)
      : target_(target),
        options_(options),
        matching_(matching),
        dialect_(std::move(dialect)),
        report_(report) {}

  Result<void> run(const LockFile* lock) {
    auto migrations = target_.migrations_for(dialect_);
    if (!migrations) return std::unexpected(migrations.error());
    const std::string checksum = checksum_of(*migrations);
    if (lock != nullptr) {
      lock_ = lock;
      const auto known = lock->migrations.find(dialect_);
      if (known == lock->migrations.end() || known->second != checksum) {
        add({.file = target_.lock,
             .line = 1,
             .column = 1,
             .severity = Severity::error,
             .rule = "stale_lock",
             .dialect = {},
             .message = fmt::format("the migrations are not those that it was written for: {}",
                                    update_remedy)});
        return {};
      }
    } else {
      auto opened = dialect_ == "sqlite" ? open_sqlite(*migrations)
                                         : open_postgres(*migrations, options_.database);
      if (!opened) return std::unexpected(opened.error());
      database_ = *std::move(opened);
      report_.lock.migrations[dialect_] = checksum;
    }
    for (const Match& match : matching_.matches) check_statement(match);
    check_shared();
    return {};
  }

 private:
  void add(Finding finding) {
    finding.dialect = dialect_;
    report_.findings.push_back(std::move(finding));
  }
  void add_all(std::vector<Finding> findings) {
    for (Finding& each : findings) add(std::move(each));
  }

  const Description* describe(const Statement& statement) {
    const std::string& text = statement.text();
    if (const auto known = known_.find(text); known != known_.end()) return &known->second;
    if (const auto known = refused_.find(text); known != refused_.end()) {
      add(refused(statement, known->second));
      return nullptr;
    }
    if (lock_ != nullptr) {
      const auto locked = lock_->statements.find({text, dialect_});
      if (locked == lock_->statements.end()) {
        add(statement.at_call(
            Severity::error, "stale_lock",
            fmt::format("this statement is not in '{}': {}", target_.lock, update_remedy)));
        return nullptr;
      }
      used_.insert(text);
      return &(known_[text] = locked->second);
    }
    auto described = database_->describe(text, parameter_count(text));
    if (!described) {
      add(refused(statement, refused_[text] = described.error()));
      return nullptr;
    }
    report_.lock.statements[{text, dialect_}] = *described;
    return &(known_[text] = *std::move(described));
  }

  void check_statement(const Match& match) {
    if (Allowances(match.statement).has("not checked")) return;
    ++report_.statements;
    const Description* const description = describe(match.statement);
    if (description == nullptr) {  // its records are no one else's
      for (const Record* record : match.records) shared_[record] = {true, {}};
      return;
    }
    add_all(judge(match.statement, *description));
    bool has_own = false;
    std::vector<Finding> best;
    for (const Record* record : match.records) {
      std::vector<Finding> found = compare(match.statement, *record, *description);
      if (is_shared(record)) {
        keep_best(shared_[record], found);
        if (best.empty() || error_count(found) < error_count(best)) best = std::move(found);
        fits_ = fits_ || best.empty();
      } else {
        has_own = true;
        add_all(std::move(found));
      }
    }
    const bool fits = std::exchange(fits_, false);
    if (!has_own && !fits) add_all(std::move(best));
  }

  // The best match of a record that fits several literals.
  struct Best {
    bool known = false;
    std::vector<Finding> findings;
  };
  static void keep_best(Best& best, const std::vector<Finding>& found) {  // the first of equals
    if (!best.known || error_count(found) < error_count(best.findings)) best = {true, found};
  }
  bool is_shared(const Record* record) const {
    return std::ranges::count_if(matching_.matches, [&](const Match& each) {
             return std::ranges::find(each.records, record) != each.records.end();
           }) > 1;
  }
  void check_shared() {
    for (auto& [record, best] : shared_) {
      if (error_count(best.findings) > 0) add_all(std::move(best.findings));
    }
    if (lock_ == nullptr) return;
    for (const auto& [key, description] : lock_->statements) {
      if (key.second != dialect_ || used_.contains(key.first)) continue;
      add({.file = target_.lock,
           .line = 1,
           .column = 1,
           .severity = Severity::warning,
           .rule = "stale_lock",
           .dialect = {},
           .message = fmt::format("the program has no statement '{}' any more: {}", key.first,
                                  update_remedy)});
    }
  }

  const Target& target_;
  const CheckOptions& options_;
  const Matching& matching_;
  const std::string dialect_;
  Report& report_;
  const LockFile* lock_ = nullptr;
  std::unique_ptr<Dialect> database_;
  std::map<std::string, Description> known_;
  std::map<std::string, Refusal> refused_;
  std::set<std::string> used_;
  std::map<const Record*, Best> shared_;
  bool fits_ = false;
};

void add_unmatched(const Target& target, const Matching& matching, Report& report) {
  for (const Record* record : matching.unmatched) {
    report.findings.push_back(
        {.file = target.name,
         .line = 0,
         .column = 0,
         .severity = Severity::warning,
         .rule = "not_found",
         .dialect = {},
         .message = fmt::format(
             "the objects have a statement of {} characters with {} parameters for {}{}{}, and the "
             "sources do not: build again, or write it as a literal at its call",
             record->length ? std::to_string(*record->length) : "unknown many",
             record->parameters.size(), record->call, record->row_type.empty() ? "" : " of ",
             record->row_type)});
  }
}

}  // namespace

Result<Report> check(const Target& target, const CheckOptions& options) {
  const auto literals = target.literals();
  if (!literals) return std::unexpected(literals.error());
  const auto records = target.records();
  if (!records) return std::unexpected(records.error());
  const Matching matching = match(*literals, *records);
  Report report;
  add_unmatched(target, matching, report);
  std::optional<LockFile> lock;
  if (!options.update && !target.lock.empty() && std::filesystem::exists(target.lock)) {
    const auto text = read_file(target.lock);
    if (!text) return std::unexpected(text.error());
    auto parsed = LockFile::parse(*text, target.lock);
    if (!parsed) return std::unexpected(parsed.error());
    lock = *std::move(parsed);
  }
  for (const std::string& dialect : target.dialects) {
    Run run(target, options, matching, dialect, report);
    if (auto done = run.run(lock ? &*lock : nullptr); !done) return std::unexpected(done.error());
  }
  std::ranges::sort(report.findings);
  const auto same = std::ranges::unique(report.findings);
  report.findings.erase(same.begin(), same.end());
  return report;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
