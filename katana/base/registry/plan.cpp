#include "katana/base/registry/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace katana::registry::detail {
namespace {

// "main.cpp:12"
std::string place_of(const Entry& entry) {
  const std::string_view path = entry.where.file_name();
  return fmt::format("{}:{}", path.substr(path.find_last_of('/') + 1), entry.where.line());
}

class Planner {
 public:
  Planner(std::vector<Entry>& entries, std::span<const AbsentService> absent)
      : entries_(entries),
        absent_(absent),
        marks_(entries.size(), Mark::unseen),
        scoped_need_(entries.size()),
        in_circle_(entries.size()) {}

  Result<std::vector<std::uint32_t>> run() {
    index();
    check_missing();
    for (std::uint32_t each = 0; each < entries_.size(); ++each) visit(each);
    for (const std::uint32_t each : order_) {
      if (!meets_circle(each)) check_lifetimes(each);
    }
    if (!problems_.empty()) return std::unexpected(report());
    return std::move(order_);
  }

 private:
  enum class Mark : std::uint8_t { unseen, open, done };

  const Entry* find(const TypeInfo* type) const {
    const auto at = indices_.find(type);
    return at == indices_.end() ? nullptr : &entries_[at->second];
  }
  std::string named(const Entry& entry) const {
    return fmt::format("'{}' ({})", entry.type->name, place_of(entry));
  }

  void index() {
    for (std::uint32_t each = 0; each < entries_.size(); ++each) {
      const auto [at, added] = indices_.emplace(entries_[each].type, each);
      if (added) continue;
      problems_.push_back(fmt::format(
          "'{}' is registered twice: {} and {}. Remove one, or give it another type",
          entries_[each].type->name, place_of(entries_[at->second]), place_of(entries_[each])));
    }
  }

  void check_missing() {
    for (const Entry& entry : entries_) {
      for (const Need& need : entry.needs) {
        if (need.kind == NeedKind::optional || find(need.type) != nullptr) continue;
        const auto off = std::ranges::find(absent_, need.type, &AbsentService::type);
        if (off != absent_.end()) {
          problems_.push_back(fmt::format("{} needs '{}', which is not registered: {}",
                                          named(entry), need.type->name, off->remedy));
          continue;
        }
        problems_.push_back(
            fmt::format("{0} needs '{1}', which is not registered. Register it{2}", named(entry),
                        need.type->name,
                        need.kind == NeedKind::shared && !entry.alias
                            ? fmt::format(", or take '{}*' if it may be missing", need.type->name)
                            : ""));
      }
    }
  }

  // Depth first, so that `trail_` is how the present service is needed.
  void visit(std::uint32_t at) {
    if (marks_[at] == Mark::done) return;
    trail_.push_back(at);
    if (marks_[at] == Mark::open) {
      report_circle();
    } else {
      marks_[at] = Mark::open;
      for (const Need& need : entries_[at].needs) {
        if (const auto found = indices_.find(need.type); found != indices_.end()) {
          visit(found->second);
        }
      }
      marks_[at] = Mark::done;
      order_.push_back(at);
    }
    trail_.pop_back();
  }

  // In a circle nothing comes first, so that lifetimes there, and of what needs one of it, would be
  // guesses. The others are judged, so that one start tells all mistakes.
  bool meets_circle(std::uint32_t at) {
    for (const Need& need : entries_[at].needs) {
      const auto found = indices_.find(need.type);
      if (found != indices_.end() && in_circle_[found->second]) in_circle_[at] = true;
    }
    return in_circle_[at];
  }

  void report_circle() {
    std::string circle;
    for (auto at = std::ranges::find(trail_, trail_.back()); at != trail_.end(); ++at) {
      if (!circle.empty()) circle += " → ";
      circle += entries_[*at].type->name;
      in_circle_[*at] = true;
    }
    problems_.push_back(fmt::format(
        "services need one another in a circle: {}. Move what both need to a third one", circle));
  }

  // After those of everything that it needs.
  void check_lifetimes(std::uint32_t at) {
    Entry& entry = entries_[at];
    if (entry.alias) resolve_alias(entry);
    for (const Need& need : entry.needs) {
      const auto found = indices_.find(need.type);
      if (found == indices_.end()) continue;
      check_kind(entry, need, entries_[found->second]);
      if (!scoped_need_[at]) scoped_need_[at] = scoped_need_[found->second];
    }
    if (entry.lifetime == Lifetime::scoped) scoped_need_[at] = at;
    if (entry.lifetime == Lifetime::singleton && scoped_need_[at]) report_captive(entry, at);
  }

  void resolve_alias(Entry& entry) {
    const Entry* const of = find(entry.needs.front().type);
    if (of == nullptr) return;
    entry.lifetime = of->lifetime;
    if (of->lifetime == Lifetime::transient) entry.needs.front().kind = NeedKind::owned;
  }

  void check_kind(const Entry& entry, const Need& need, const Entry& needed) {
    const bool transient = needed.lifetime == Lifetime::transient;
    if (transient == (need.kind == NeedKind::owned)) return;
    const std::string_view name = needed.type->name;
    if (transient) {
      problems_.push_back(fmt::format(
          "{} takes a reference to '{}', which is transient, so it would have no owner. "
          "Take 'Owned<{}>'",
          named(entry), name, name));
    } else {
      problems_.push_back(
          fmt::format("{} takes 'Owned<{}>', but '{}' is {}, which others share. Take '{}&'",
                      named(entry), name, name, lifetime_name(needed.lifetime), name));
    }
  }

  void report_captive(const Entry& entry, std::uint32_t at) {
    // Down to the scoped service: each step to the first need that leads there.
    std::string way;
    const std::uint32_t end = *scoped_need_[at];
    for (std::uint32_t step = at; step != end;) {
      for (const Need& need : entries_[step].needs) {
        const auto found = indices_.find(need.type);
        if (found == indices_.end() || scoped_need_[found->second] != end) continue;
        step = found->second;
        break;
      }
      way += fmt::format(" → '{}'", entries_[step].type->name);
    }
    const std::string_view name = entry.type->name;
    problems_.push_back(
        fmt::format("{} is a singleton and would keep a scoped service beyond its scope: '{}'{}. "
                    "Make '{}' scoped, or '{}' a singleton",
                    named(entry), name, way, name, entries_[end].type->name));
    scoped_need_[at].reset();  // the service that needs this one is not at fault
  }

  Error report() const {
    if (problems_.size() == 1) return Error(Code::invalid_argument, problems_.front());
    std::string text = fmt::format("{} problems with the services:", problems_.size());
    for (std::size_t each = 0; each < std::min(problems_.size(), problems_max); ++each) {
      text += "\n  " + problems_[each];
    }
    if (problems_.size() > problems_max) {
      text += fmt::format("\n  and {} more", problems_.size() - problems_max);
    }
    return Error(Code::invalid_argument, std::move(text));
  }

  std::vector<Entry>& entries_;
  std::span<const AbsentService> absent_;
  std::vector<Mark> marks_;
  std::unordered_map<const TypeInfo*, std::uint32_t> indices_;
  std::vector<std::uint32_t> trail_;
  std::vector<std::uint32_t> order_;
  std::vector<std::optional<std::uint32_t>> scoped_need_;  // the scoped service that it leads to
  std::vector<std::string> problems_;
  std::vector<bool> in_circle_;  // or led to one
};

}  // namespace

Result<std::vector<std::uint32_t>> plan(std::vector<Entry>& entries,
                                        std::span<const AbsentService> absent) {
  return Planner(entries, absent).run();
}

std::string needs_text(const Entry& entry) {
  if (entry.needs.empty()) return "";
  std::string text = " (needs ";
  for (std::size_t each = 0; each < entry.needs.size(); ++each) {
    if (each != 0) text += each + 1 == entry.needs.size() ? " and " : ", ";
    text += fmt::format("'{}'", entry.needs[each].type->name);
  }
  return text + ")";
}

}  // namespace katana::registry::detail

// SPDX-License-Identifier: Apache-2.0
