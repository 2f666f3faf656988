// A file of 100 keys: read into a struct with every rule checked, and by yaml-cpp alone.
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "katana/data/config/config.hpp"
#include "questions.hpp"

namespace common_bench {

struct Part {
  int a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0;
  std::string s0, s1, s2, s3, s4, s5;
  double d0 = 0, d1 = 0, d2 = 0;
  bool b0 = false, b1 = false, b2 = false;
};
KATANA_DESCRIBE(Part, (a0, range(0, 100)), a1, a2, a3, a4, a5, a6, a7, (s0, length(1, 80)), s1, s2,
                s3, s4, s5, d0, d1, d2, b0, b1, b2)

struct Whole {
  Part one, two, three, four, five;
};
KATANA_DESCRIBE(Whole, one, two, three, four, five)

using katana::config::Config;

namespace {

std::string text_of_file() {
  std::string text;
  for (const char* const name : {"one", "two", "three", "four", "five"}) {
    text += fmt::format("{}:\n", name);
    for (int count = 0; count < 8; ++count) text += fmt::format("  a{0}: {0}\n", count);
    for (int count = 0; count < 6; ++count) text += fmt::format("  s{0}: text number {0}\n", count);
    for (int count = 0; count < 3; ++count) text += fmt::format("  d{0}: {0}.25\n", count);
    for (int count = 0; count < 3; ++count) text += fmt::format("  b{}: true\n", count);
  }
  return text;
}

class File {
 public:
  File() : path_(fmt::format("{}/micro_common_{}.yaml", P_tmpdir, ::getpid())) {
    std::FILE* const file = std::fopen(path_.c_str(), "w");
    micro::expect(file != nullptr, path_);
    const std::string text = text_of_file();
    micro::expect(std::fwrite(text.data(), 1, text.size(), file) == text.size(), "write");
    micro::expect(std::fclose(file) == 0, "close");
  }
  ~File() { (void)std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

template <class T>
void read_all(const YAML::Node& node, const char* kind, int count, T& sum) {
  for (int index = 0; index < count; ++index) {
    sum += node[fmt::format("{}{}", kind, index)].as<T>();
  }
}

// The 100 keys by name and type; nothing else is checked.
double sum_by_yaml_cpp(const std::string& path) {
  const YAML::Node root = YAML::LoadFile(path);
  int numbers = 0;
  double fractions = 0;
  std::string texts;
  int flags = 0;
  for (const char* const name : {"one", "two", "three", "four", "five"}) {
    const YAML::Node part = root[name];
    read_all(part, "a", 8, numbers);
    read_all(part, "s", 6, texts);
    read_all(part, "d", 3, fractions);
    for (int index = 0; index < 3; ++index) flags += part[fmt::format("b{}", index)].as<bool>();
  }
  return numbers + fractions + static_cast<double>(texts.size()) + flags;
}

double sum_by_katana(const std::string& path) {
  const auto config = Config<Whole>::load({.file = path});
  micro::expect(config.has_value(), config ? "" : config.error().describe());
  const auto whole = config->get();
  double sum = 0;
  const auto add = [&sum](const Part& part) {
    katana::for_each_field(part, [&sum](const auto&, const auto& member) {
      if constexpr (requires { member.size(); }) {
        sum += static_cast<double>(member.size());
      } else {
        sum += static_cast<double>(member);
      }
    });
  };
  katana::for_each_field(*whole, [&](const auto&, const Part& part) { add(part); });
  return sum;
}

}  // namespace

void ask_config(micro::Suite& suite) {
  const File file;
  micro::expect(sum_by_katana(file.path()) == sum_by_yaml_cpp(file.path()), "the same values");
  constexpr std::uint64_t loads = 200;
  const auto microseconds = [&suite](auto work) {
    micro::Sample sample = timed(suite, loads, work);
    sample.value /= 1e3;
    return sample;
  };
  const auto* const asked =
      suite.ask({"a file of 100 keys: us", "us"},
                {{"katana Config<T>::load",
                  [&] { return microseconds([&] { micro::use(sum_by_katana(file.path())); }); }},
                 {"yaml-cpp, LoadFile and as<T>",
                  [&] { return microseconds([&] { micro::use(sum_by_yaml_cpp(file.path())); }); }},
                 {"yaml-cpp, LoadFile alone",
                  [&] { return microseconds([&] { micro::use(YAML::LoadFile(file.path())); }); }}});
  suite.target("loading 100 keys <= 1.0 x yaml-cpp", asked, "katana Config<T>::load",
               "yaml-cpp, LoadFile and as<T>", 1.0, micro::at_most);
}

}  // namespace common_bench

// SPDX-License-Identifier: Apache-2.0
