#include "katana/observe/profile/flame_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <string_view>
#include <vector>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/observe/profile/call_tree.hpp"
#include "katana/observe/profile/flame_graph_files.hpp"

namespace katana::profile {
namespace {

constexpr std::size_t row_height = 18;  // in pixels
constexpr std::size_t colours = 6;      // classes c0 to c5
constexpr std::size_t functions_told = 30;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char each : text) {
    const auto code = static_cast<unsigned char>(each);
    switch (each) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += code < 0x20 || code == 0x7f ? '?' : each;
    }
  }
  return result;
}

std::string hash_of(std::string_view content) {
  return "'sha256-" + encode_base64(crypto::sha256(content).bytes()) + "'";
}

// The same function has the same colour in each profile.
std::size_t colour_of(const std::string& name) {
  std::uint32_t hash = 2166136261u;
  for (const char each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619u;
  return (hash >> 8) % colours;
}

class ChartWriter {
 public:
  ChartWriter(const CallTree& tree, Kind kind)
      : tree_(tree), kind_(kind), total_(std::max<std::int64_t>(tree.nodes().front().ns, 1)) {}

  std::string write() {
    write_box(0, 0, 0);
    return fmt::format(
        "<svg id=\"chart\" height=\"{}\" role=\"group\" aria-label=\"Flame graph: "
        "each row has the calls of the row above\">\n{}</svg>\n",
        (deepest_ + 1) * row_height, text_);
  }
  std::size_t left_out() const noexcept { return left_out_; }

 private:
  double part_of(std::int64_t ns) const {
    return static_cast<double>(ns) / static_cast<double>(total_);
  }
  void write_box(std::size_t index, std::int64_t begin, std::size_t depth) {
    const CallTree::Node& node = tree_.nodes()[index];
    const double part = part_of(node.ns);
    if (depth > 0 && part < box_part_min) {
      ++left_out_;
      return;
    }
    deepest_ = std::max(deepest_, depth);
    const std::string name = escaped(node.name);
    const std::string colour = depth < 2 ? "r" : fmt::format("c{}", colour_of(node.name));
    text_ += fmt::format(
        "<svg class=\"f {}\" role=\"button\" tabindex=\"{}\" data-x=\"{:.7f}\" data-w=\"{:.7f}\" "
        "data-d=\"{}\" x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\" "
        "aria-label=\"{}, {:.2f} %, {}\"><rect width=\"100%\" height=\"100%\"/>",
        colour, depth == 0 ? 0 : -1, part_of(begin), part, depth, 100 * part_of(begin),
        depth * row_height, 100 * part, row_height, name, 100 * part, amount_text(kind_, node.ns));
    text_ += fmt::format("<text x=\"3\" y=\"13\" aria-hidden=\"true\">{}</text></svg>\n", name);
    // The calls that take longest come first.
    std::vector<std::size_t> children = node.children;
    std::ranges::sort(children, [&](std::size_t a, std::size_t b) {
      const std::int64_t of_a = tree_.nodes()[a].ns, of_b = tree_.nodes()[b].ns;
      return of_a != of_b ? of_a > of_b : a < b;
    });
    for (const std::size_t child : children) {
      write_box(child, begin, depth + 1);
      begin += tree_.nodes()[child].ns;
    }
  }

  const CallTree& tree_;
  const Kind kind_;
  const std::int64_t total_;
  std::string text_;
  std::size_t deepest_ = 0;
  std::size_t left_out_ = 0;
};

// The functions that use most time themselves, without their calls.
std::string function_table(const CallTree& tree, Kind kind) {
  std::map<std::string, std::int64_t> own;
  for (const CallTree::Node& node : tree.nodes()) own[node.name] += node.own_ns;
  std::vector<std::pair<std::int64_t, std::string>> rows;
  for (const auto& [name, ns] : own) {
    if (ns > 0) rows.emplace_back(ns, name);
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  rows.resize(std::min(rows.size(), functions_told));
  const double total = static_cast<double>(std::max<std::int64_t>(tree.nodes().front().ns, 1));
  std::string text = fmt::format(
      "<div class=\"table\"><table>\n<tr><th scope=\"col\">{}</th><th scope=\"col\">%</th>"
      "<th scope=\"col\">function</th></tr>\n",
      is_memory(kind) ? "memory" : "time");
  for (const auto& [ns, name] : rows) {
    text += fmt::format("<tr><td>{}</td><td>{:.2f}</td><td>{}</td></tr>\n", amount_text(kind, ns),
                        100 * static_cast<double>(ns) / total, escaped(name));
  }
  return text + "</table></div>\n";
}

std::string utc_text(std::int64_t ns) {
  const std::time_t at = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&at, &parts) == nullptr) return "?";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string title_of(const Profile& profile) {
  constexpr std::array<const char*, 4> titles = {"CPU profile", "Waiting", "Allocations",
                                                 "Memory that grew"};
  const std::string what = titles[static_cast<std::size_t>(profile.kind)];
  return profile.program.empty() ? what : what + " of " + profile.program;
}

std::string facts_of(const Profile& profile, std::size_t left_out) {
  std::string text = fmt::format("{}, {} long: {} in {} {}", utc_text(profile.began_ns),
                                 amount_text(Kind::cpu, profile.took_ns),
                                 amount_text(profile.kind, profile.total_ns()), profile.samples(),
                                 is_memory(profile.kind) ? "allocations" : "samples");
  if (profile.lost != 0) text += fmt::format(", {} samples lost", profile.lost);
  if (profile.threads_left_out != 0) {
    text += fmt::format(", {} threads left out", profile.threads_left_out);
  }
  if (left_out != 0) text += fmt::format(", {} small boxes left out", left_out);
  return text;
}

}  // namespace

const std::string& flame_graph_policy() {
  static const std::string policy = fmt::format(
      "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; "
      "form-action 'none'",
      hash_of(flame_graph_style), hash_of(flame_graph_script));
  return policy;
}

std::string flame_graph_page(const Profile& profile) {
  const CallTree tree(profile);
  ChartWriter chart(tree, profile.kind);
  const std::string boxes = chart.write();
  const std::string title = escaped(title_of(profile));
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n<p class=\"facts\">{}</p>\n",
      flame_graph_policy(), title, flame_graph_style, title, facts_of(profile, chart.left_out()));
  page +=
      "<p class=\"scripted\" hidden><label for=\"search\">Find a function</label>"
      "<input id=\"search\" type=\"search\"> <button id=\"all\" type=\"button\">Show all</button>"
      "</p>\n";
  page +=
      "<p class=\"help scripted\" hidden>Arrows move. Enter or a click shows a function and its "
      "calls. Escape shows all.</p>\n<p id=\"status\" role=\"status\"></p>\n";
  page += boxes;
  page += "<h2>Functions by their own " + std::string(is_memory(profile.kind) ? "memory" : "time") +
          "</h2>\n" + function_table(tree, profile.kind);
  page += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", flame_graph_script);
  return page;
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
