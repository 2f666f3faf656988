// ExpositionReader: a strict reader of both formats, for tests. Everything that a scraper may
// refuse is an error here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "katana/observe/metrics/exposition.hpp"
#include "katana/observe/metrics/text_format.hpp"

namespace katana::metrics {

struct ReadExemplar {
  std::map<std::string, std::string> labels;  // empty: there is none
  double value = 0;
  double at_s = 0;
};

struct ReadSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
  ReadExemplar exemplar = {};
};

struct ReadFamily {
  std::string type, help, unit;
  std::vector<ReadSample> samples;
};

class ExpositionReader {
 public:
  ExpositionReader(std::string_view text, Format format)
      : open_metrics_(format == Format::open_metrics) {
    read(text);
  }

  // The mistakes, one line each; empty when there are none.
  std::string errors;
  std::map<std::string, ReadFamily> families;

  // The value of a sample by name and labels as they are written: `a_total{b="c"}`.
  std::optional<double> value(const std::string& series) const {
    const auto found = values_.find(series);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t sample_count() const { return values_.size(); }

 private:
  void wrong(std::string_view what, std::string_view line) {
    errors += std::string(what) + ": " + std::string(line) + "\n";
  }

  void read(std::string_view text) {
    if (!text.empty() && text.back() != '\n') wrong("the last line has no end", text);
    bool ended = false;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end, text.size() - 1) + 1);
      if (ended) wrong("a line after # EOF", line);
      if (open_metrics_ && line == "# EOF") {
        ended = true;
      } else if (line.starts_with("#")) {
        read_comment(line);
      } else {
        read_sample(line);
      }
    }
    if (open_metrics_ && !ended) wrong("no # EOF", "");
    for (const auto& [name, family] : families) check_family(name, family);
  }

  void read_comment(std::string_view line) {
    std::string_view rest = line;
    if (!rest.starts_with("# ")) return wrong("malformed comment", line);
    rest.remove_prefix(2);
    const std::string keyword(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(keyword.size() + 1, rest.size()));
    const std::string name(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (!is_metric_name(name)) return wrong("malformed name", line);
    if (name != current_) {
      if (families.contains(name)) wrong("the family is interrupted or there twice", line);
      current_ = name;
    }
    ReadFamily& family = families[name];
    if (!family.samples.empty()) wrong("metadata after samples", line);
    std::string& member = keyword == "HELP"   ? family.help
                          : keyword == "TYPE" ? family.type
                                              : family.unit;
    if (keyword != "HELP" && keyword != "TYPE" && !(keyword == "UNIT" && open_metrics_)) {
      wrong("unknown keyword", line);
    }
    if (!member.empty()) wrong("metadata twice", line);
    member = keyword == "HELP" ? unescaped(rest, open_metrics_, line) : std::string(rest);
    if (keyword == "UNIT" && !name.ends_with("_" + member)) wrong("unit is not in name", line);
  }

  std::string unescaped(std::string_view text, bool quotes, std::string_view line) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (quotes && text[at] == '"') wrong("a bare quote", line);
      if (text[at] != '\\') {
        out += text[at];
        continue;
      }
      if (++at == text.size()) {
        wrong("an escape of nothing", line);
        break;
      }
      if (text[at] == 'n') {
        out += '\n';
      } else if (text[at] == '\\' || (quotes && text[at] == '"')) {
        out += text[at];
      } else {
        wrong("unknown escape", line);
      }
    }
    return out;
  }

  void read_sample(std::string_view line) {
    const std::size_t name_end = line.find_first_of("{ ");
    if (name_end == std::string_view::npos) return wrong("no value", line);
    ReadSample sample;
    sample.name = line.substr(0, name_end);
    if (!is_metric_name(sample.name)) wrong("malformed name", line);
    std::size_t at = name_end;
    if (line[at] == '{' && !read_labels(line, at, sample)) return;
    if (at >= line.size() || line[at] != ' ') return wrong("no space before the value", line);
    std::string text(line.substr(at + 1));
    if (const std::size_t mark = text.find(" # "); mark != std::string::npos) {
      read_exemplar(sample, text.substr(mark + 3), line);
      text.resize(mark);
    }
    const std::optional<double> value = number(text);
    if (!value) return wrong("malformed value", line);
    sample.value = *value;
    if (!values_.emplace(std::string(line.substr(0, at)), *value).second) {
      wrong("the series is there twice", line);
    }
    if (current_.empty() || !belongs(sample.name)) return wrong("sample outside its family", line);
    families[current_].samples.push_back(std::move(sample));
  }

  // `{label="value",…} value seconds`, of a bucket of OpenMetrics alone.
  void read_exemplar(ReadSample& sample, const std::string& text, std::string_view line) {
    if (!open_metrics_) wrong("an exemplar in a format that has none", line);
    if (!sample.name.ends_with("_bucket")) wrong("an exemplar of no bucket", line);
    std::size_t at = 0;
    ReadSample read;
    if (!text.starts_with('{') || !read_labels(text, at, read)) return wrong("exemplar", line);
    std::size_t characters = 0;
    for (const auto& [name, value] : read.labels) characters += name.size() + value.size();
    if (characters > 128) wrong("the labels of an exemplar are too long", line);
    const std::string rest = text.substr(std::min(at + 1, text.size()));
    const std::size_t space = rest.find(' ');
    const auto value = number(rest.substr(0, space));
    const auto when = number(space == std::string::npos ? "" : rest.substr(space + 1));
    if (!value || !when) return wrong("value or time of an exemplar", line);
    sample.exemplar = {.labels = read.labels, .value = *value, .at_s = *when};
  }

  bool read_labels(std::string_view line, std::size_t& at, ReadSample& sample) {
    do {
      ++at;
      const std::size_t equals = line.find('=', at);
      if (equals == std::string_view::npos || line.substr(equals, 2) != "=\"") {
        wrong("malformed label", line);
        return false;
      }
      const std::string name(line.substr(at, equals - at));
      if (!is_label_name(name)) wrong("malformed label name", line);
      std::size_t end = equals + 2;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      if (end >= line.size()) {
        wrong("unterminated label value", line);
        return false;
      }
      const std::string_view raw = line.substr(equals + 2, end - equals - 2);
      if (!sample.labels.emplace(name, unescaped(raw, true, line)).second) {
        wrong("label twice", line);
      }
      at = end + 1;
    } while (at < line.size() && line[at] == ',');
    if (at >= line.size() || line[at] != '}') {
      wrong("labels do not end", line);
      return false;
    }
    ++at;
    return true;
  }

  static std::optional<double> number(const std::string& text) {
    if (text == "NaN") return std::nan("");
    if (text == "+Inf") return INFINITY;
    if (text == "-Inf") return -INFINITY;
    if (text.empty() || text.find_first_not_of("0123456789+-.e") != std::string::npos) return {};
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return *end == '\0' ? std::optional(value) : std::nullopt;
  }

  bool belongs(std::string_view sample) const {
    const std::string& type = families.at(current_).type;
    if (type == "counter") return sample == current_ + (open_metrics_ ? "_total" : "");
    if (type == "gauge") return sample == current_;
    return type == "histogram" && (sample == current_ + "_bucket" || sample == current_ + "_sum" ||
                                   sample == current_ + "_count");
  }

  void check_family(const std::string& name, const ReadFamily& family) {
    if (family.type.empty() || family.help.empty()) wrong("TYPE or HELP is missing", name);
    if (family.samples.empty()) wrong("no samples", name);
    if (family.type == "counter") {
      if (!open_metrics_ && !name.ends_with("_total")) wrong("counter without _total", name);
      if (open_metrics_ && name.ends_with("_total")) wrong("_total in a family's name", name);
      for (const ReadSample& sample : family.samples) {
        if (!(sample.value >= 0)) wrong("a counter is negative or NaN", name);
      }
    }
    if (family.type == "histogram") check_histogram(name, family);
  }

  // Buckets of a series are adjacent, rise in bound and count, and end with +Inf: _count.
  void check_histogram(const std::string& name, const ReadFamily& family) {
    double bound = -INFINITY, count = 0;
    bool ended = false;
    std::map<std::string, std::string> current;
    for (const ReadSample& sample : family.samples) {
      if (sample.name.ends_with("_bucket")) {
        std::map<std::string, std::string> labels = sample.labels;
        const auto le = labels.extract("le");
        if (le.empty()) return wrong("bucket without le", name);
        if (bound == -INFINITY) current = labels;
        if (labels != current) wrong("buckets of two series are mixed", name);
        const double next = number(le.mapped()).value_or(NAN);
        if (open_metrics_ && le.mapped() != canonical_number(next)) wrong("le", le.mapped());
        if (!(next > bound)) wrong("le does not rise", name);
        if (sample.value < count) wrong("buckets fall", name);
        bound = next, count = sample.value, ended = false;
        continue;
      }
      if (bound != INFINITY) wrong("no +Inf bucket", name);
      if (sample.labels != current) wrong("sum or count of another series", name);
      if (sample.name.ends_with("_count")) {
        if (sample.value != count) wrong("_count is not the +Inf bucket", name);
        bound = -INFINITY, count = 0, ended = true;
      }
    }
    if (!ended) wrong("no _count", name);
  }

  const bool open_metrics_;
  std::string current_;
  std::map<std::string, double> values_;
};

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
