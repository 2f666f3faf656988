#include "katana/wire/http1/head_parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "katana/wire/http/url.hpp"
#include "katana/wire/http1/kernels.hpp"

namespace katana::http1 {
namespace {

using http::CharacterClass;

constexpr std::array classes = {
    http::token_character,      http::value_character,      http::target_character,
    http::host_character,       http::digit_character,      http::hex_character,
    http::plain_path_character, http::plain_host_character,
};

// ---- kernels ---------------------------------------------------------------------------------

using FindNot = const char* (*)(const char* begin, const char* p, const char* end);

#if defined(__x86_64__)
// A kernel is inlined: its callers must be allowed its instructions.
template <CharacterClass wanted>
__attribute__((target("sse4.2"))) const char* find_not_sse42(const char* begin, const char* p,
                                                             const char* end) {
  return Sse42Kernels::find_not<wanted>(begin, p, end);
}
template <CharacterClass wanted>
__attribute__((target("avx2,bmi"))) const char* find_not_avx2(const char* begin, const char* p,
                                                              const char* end) {
  return Avx2Kernels::find_not<wanted>(begin, p, end);
}
#endif

template <CharacterClass wanted>
std::vector<FindNot> kernels_for() {
  std::vector<FindNot> kernels = {ScalarKernels::find_not<wanted>};
#if defined(__x86_64__)
  if (supported(Kernels::sse42)) kernels.push_back(find_not_sse42<wanted>);
  if (supported(Kernels::avx2)) kernels.push_back(find_not_avx2<wanted>);
#elif defined(__aarch64__)
  kernels.push_back(NeonKernels::find_not<wanted>);
#endif
  return kernels;
}

// Calls `check(wanted, kernels)` for every class of characters.
template <std::size_t index = 0, class Check>
void for_each_class(Check check) {
  if constexpr (index < classes.size()) {
    check(classes[index], kernels_for<classes[index]>());
    for_each_class<index + 1>(check);
  }
}

char first_of(CharacterClass wanted, bool inside) {
  for (int value = 1; value < 256; ++value) {
    const char c = static_cast<char>(value);
    if (http::is(c, wanted) == inside) return c;
  }
  return 0;
}

TEST(Kernels, the_first_misfit_is_found_in_every_place_of_every_length) {
  for_each_class([](CharacterClass wanted, const std::vector<FindNot>& kernels) {
    const char fits = first_of(wanted, true);
    const char misfit = first_of(wanted, false);
    for (std::size_t size = 0; size <= 80; ++size) {
      // A block of the exact size: AddressSanitizer finds a read outside of it.
      const auto block = std::make_unique<char[]>(size);
      std::fill_n(block.get(), size, fits);
      const char* const begin = block.get();
      const char* const end = begin + size;
      for (std::size_t bad = 0; bad <= size; ++bad) {
        if (bad < size) block[bad] = misfit;
        for (std::size_t from = 0; from <= size; ++from) {
          const char* const found = from <= bad ? begin + bad : end;
          for (const FindNot find : kernels) ASSERT_EQ(find(begin, begin + from, end), found);
        }
        if (bad < size) block[bad] = fits;
      }
    }
  });
}

TEST(Kernels, the_first_of_several_misfits_is_found) {
  for_each_class([](CharacterClass wanted, const std::vector<FindNot>& kernels) {
    const std::string text = std::string(70, first_of(wanted, false));
    for (std::size_t from = 0; from < text.size(); ++from) {
      const char* const begin = text.data();
      for (const FindNot find : kernels) {
        ASSERT_EQ(find(begin, begin + from, begin + text.size()), begin + from);
      }
    }
  });
}

TEST(Kernels, every_octet_is_judged_as_the_table_does_in_every_place) {
  for_each_class([](CharacterClass wanted, const std::vector<FindNot>& kernels) {
    for (std::size_t at = 0; at < 40; ++at) {
      std::string text(40, first_of(wanted, true));
      for (int value = 0; value < 256; ++value) {
        text[at] = static_cast<char>(value);
        const char* const begin = text.data();
        const char* const end = begin + text.size();
        const char* const found = http::is(text[at], wanted) ? end : begin + at;
        for (const FindNot find : kernels) ASSERT_EQ(find(begin, begin, end), found) << value;
      }
    }
  });
}

TEST(Kernels, nothing_depends_on_the_alignment) {
  for_each_class([](CharacterClass wanted, const std::vector<FindNot>& kernels) {
    alignas(64) std::array<char, 192> memory;
    for (std::size_t offset = 0; offset < 64; ++offset) {
      for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 65U, 100U}) {
        memory.fill(first_of(wanted, false));
        std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(offset), size,
                    first_of(wanted, true));
        const char* const begin = memory.data() + offset;
        for (const FindNot find : kernels) {
          ASSERT_EQ(find(begin, begin, begin + size), begin + size);
          ASSERT_EQ(find(begin, begin, memory.data() + memory.size()), begin + size);
        }
      }
    }
  });
}

TEST(Kernels, the_best_ones_are_supported) {
  EXPECT_TRUE(supported(best_kernels()));
  EXPECT_TRUE(supported(Kernels::scalar));
#if defined(__x86_64__)
  EXPECT_FALSE(supported(Kernels::neon)) << "of another machine";
#endif
}

// ---- heads -----------------------------------------------------------------------------------

// The result of parsing as text, without its place in memory.
std::string describe(const HeadResult& result, const http::Head& head, const Framing& framing) {
  std::string text = std::to_string(static_cast<int>(result.verdict)) + " " +
                     std::to_string(static_cast<int>(result.refusal)) + " " +
                     std::to_string(result.bytes);
  if (result.verdict != HeadVerdict::complete) return text;
  text.append(" ").append(head.method_text()).append(" ").append(head.target()).append(" ");
  text += std::to_string(static_cast<int>(head.method())) + std::to_string(head.minor_version());
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    text.append("\n").append(head.name(index)).append(":").append(head.value(index));
  }
  text += "\n" + std::to_string(static_cast<int>(framing.content)) + " " +
          std::to_string(framing.content_length) + " " + std::to_string(framing.keep_alive) +
          std::to_string(framing.expects_continue) + std::to_string(framing.wants_upgrade);
  return text;
}

// Parses the first bytes at each of `sizes` and gives the last verdict, or the first final one.
std::string parse(HeadParser& parser, Bytes text, std::vector<std::size_t> sizes = {}) {
  sizes.push_back(text.size());
  http::Head head;
  Framing framing;
  LineProgress progress;
  HeadResult result{HeadVerdict::incomplete};
  for (const std::size_t size : sizes) {
    result = parser.parse(text.substr(0, size), progress, head, framing);
    if (result.verdict != HeadVerdict::incomplete) break;
  }
  return describe(result, head, framing);
}

const Limits default_limits;

std::vector<HeadParser> all_parsers() {
  std::vector<HeadParser> parsers;
  for (const Kernels kernels : {Kernels::scalar, Kernels::sse42, Kernels::avx2, Kernels::neon}) {
    if (supported(kernels)) parsers.emplace_back(default_limits, kernels);
  }
  return parsers;
}

TEST(HeadParser, every_octet_in_every_place_gives_one_verdict) {
  std::vector<HeadParser> parsers = all_parsers();
  const std::string sample =
      "POST /some/path?with=query HTTP/1.1\r\nHost: example.com:8080\r\nContent-Length: 10\r\n"
      "Connection: keep-alive\r\nX: a value that is longer than a vector register\r\n\r\n";
  for (std::size_t at = 0; at < sample.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string text = sample;
      text[at] = static_cast<char>(value);
      const std::string expected = parse(parsers.front(), text);
      for (HeadParser& parser : parsers) {
        ASSERT_EQ(parse(parser, text), expected);
        ASSERT_EQ(parse(parser, text, {at, at + 1}), expected) << at << " " << value;
      }
    }
  }
}

TEST(HeadParser, a_host_is_accepted_exactly_when_it_is_a_valid_authority) {
  HeadParser parser(default_limits);
  const std::array<Bytes, 19> pieces = {"a",  "Z9", ".", "-", "_", "~",   "!", ":",     "80",   ",",
                                        "65", "%2", "%", "[", "]", "::1", "@", "65535", "65536"};
  std::mt19937 random(1);
  std::size_t valid_count = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string host;
    for (auto count = random() % 6; count > 0; --count) host += pieces[random() % pieces.size()];
    http::Head head;
    Framing framing;
    LineProgress progress;
    const std::string text = "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    const HeadResult result = parser.parse(text, progress, head, framing);
    const bool valid = http::valid_authority(host);
    valid_count += valid ? 1 : 0;
    ASSERT_EQ(result.refusal, valid ? Refusal::none : Refusal::bad_host) << host;
  }
  EXPECT_GT(valid_count, 10'000U);
}

// The Host that came last is compared as a whole: a different one is examined anew.
TEST(HeadParser, a_host_like_the_last_one_is_judged_as_any_other) {
  const std::vector<std::string> hosts = {"a.b",
                                          "a.bc",
                                          "127.0.0.1",
                                          "127.0.0.1:80",
                                          "127.0.0.1:8080",
                                          "127.0.0.1:80801",
                                          "example.com",
                                          "example.co",
                                          "example.org",
                                          "api.example.com:443",
                                          "api.example.com:4430",
                                          "api.example.com:44300",
                                          "api.example.com:44400",
                                          "a-name-of-twenty-nine-octets:80",
                                          "a-name-of-thirty-octets-here:80",
                                          "a-name-of-thirty-one-octets-it:80",
                                          "a-name-of-more-octets-than-are-kept.example",
                                          "127.0.0.1:99999",
                                          "127.0.0.1 ",
                                          "[::1]:80",
                                          "a b",
                                          "",
                                          "127.0.0.1:8080\t"};
  for (HeadParser& parser : all_parsers()) {
    for (const std::string& before : hosts) {
      for (const std::string& host : hosts) {
        const auto head = [](const std::string& value) {
          return "GET / HTTP/1.1\r\nHost: " + value + "\r\n\r\n";
        };
        HeadParser fresh(default_limits, Kernels::scalar);
        const std::string wanted = parse(fresh, head(host));
        (void)parse(parser, head(before));
        EXPECT_EQ(parse(parser, head(host)), wanted) << before << " | " << host;
        EXPECT_EQ(parse(parser, head(host)), wanted) << before << " | " << host;
      }
    }
  }
}

// A wrong value for each field with a meaning: the verdict then shows whether the name was known.
struct KnownName {
  Bytes name;
  Bytes line_end;
  Refusal refusal;
};
constexpr std::array known_names = {
    KnownName{"host", ": \"\r\nHost: a\r\n\r\n", Refusal::repeated_host},
    KnownName{"expect", ": x\r\nHost: a\r\n\r\n", Refusal::unknown_expectation},
    KnownName{"content-length", ": x\r\nHost: a\r\n\r\n", Refusal::bad_content_length},
    KnownName{"transfer-encoding", ": x\r\nHost: a\r\n\r\n", Refusal::last_coding_not_chunked},
};

TEST(HeadParser, a_name_is_known_exactly_when_it_is_equal_but_for_case) {
  HeadParser parser(default_limits);
  for (const KnownName& known : known_names) {
    for (std::size_t at = 0; at < known.name.size(); ++at) {
      for (int value = 0; value < 256; ++value) {
        if (!http::is(static_cast<char>(value), http::token_character)) continue;
        std::string name(known.name);
        name[at] = static_cast<char>(value);
        const std::string text = "GET / HTTP/1.1\r\n" + name + std::string(known.line_end);
        http::Head head;
        Framing framing;
        LineProgress progress;
        const HeadResult result = parser.parse(text, progress, head, framing);
        const bool same = http::equals_ignoring_case(name, known.name);
        ASSERT_EQ(result.refusal, same ? known.refusal : Refusal::none) << name;
      }
    }
  }
}

TEST(HeadParser, connection_and_upgrade_are_known_exactly_when_they_are_equal_but_for_case) {
  HeadParser parser(default_limits);
  const auto framing_of = [&](const std::string& connection, const std::string& upgrade) {
    http::Head head;
    Framing framing;
    LineProgress progress;
    const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + connection + ": close, upgrade\r\n" +
                             upgrade + ": x\r\n\r\n";
    EXPECT_EQ(parser.parse(text, progress, head, framing).verdict, HeadVerdict::complete);
    return framing;
  };
  EXPECT_FALSE(framing_of("cOnNeCtIoN", "UpGrAdE").keep_alive);
  EXPECT_TRUE(framing_of("cOnNeCtIoN", "UpGrAdE").wants_upgrade);
  EXPECT_TRUE(framing_of("connectiom", "upgrade").keep_alive);
  EXPECT_FALSE(framing_of("connection", "upgradf").wants_upgrade);
}

TEST(HeadParser, the_methods_that_have_a_name_are_known_by_it_and_only_by_it) {
  HeadParser parser(default_limits);
  const auto method_of = [&](const std::string& name) {
    http::Head head;
    Framing framing;
    LineProgress progress;
    const std::string text = name + " / HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(parser.parse(text, progress, head, framing).verdict, HeadVerdict::complete);
    EXPECT_EQ(head.method_text(), name);
    return head.method();
  };
  for (const Bytes name : http::method_names) {
    EXPECT_EQ(method_of(std::string(name)), http::method_from(name));
    EXPECT_EQ(method_of(std::string(name) + "X"), http::Method::extension);
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), http::to_lower);
    EXPECT_EQ(method_of(lower), http::Method::extension);
  }
}

TEST(HeadParser, a_head_that_is_right_may_be_cut_anywhere_twice) {
  std::vector<HeadParser> parsers = all_parsers();
  const std::string text =
      "OPTIONS * HTTP/1.0\r\nAccept:  a, b \r\nConnection: x\r\nEmpty:\r\n\r\nfollowed by more";
  const std::string expected = parse(parsers.front(), text);
  for (std::size_t second = 0; second <= text.size(); ++second) {
    for (std::size_t first = 0; first <= second; ++first) {
      for (HeadParser& parser : parsers) {
        ASSERT_EQ(parse(parser, text, {first, second}), expected) << first << " " << second;
      }
    }
  }
}

// Were it zero, all of the head would be tried in one pass again with every line.
TEST(HeadParser, progress_is_never_zero_behind_a_line) {
  LineProgress progress;
  EXPECT_EQ(check_lines(default_limits, "GET / HTTP/1.1\r\n", progress).verdict,
            HeadVerdict::incomplete);
  EXPECT_EQ(progress.line_at, 16);
  EXPECT_EQ(progress.searched, 16);
}

TEST(HeadParser, a_line_that_may_be_as_long_as_the_head_is_refused_one_byte_later) {
  Limits limits;
  limits.request_line_bytes_max = limits.head_bytes_max = 64;
  const std::string line = "GET /" + std::string(60, 'a');
  LineProgress progress;
  EXPECT_EQ(check_lines(limits, Bytes(line).substr(0, 64), progress).verdict,
            HeadVerdict::incomplete);
  EXPECT_EQ(check_lines(limits, line, progress).refusal, Refusal::request_line_too_long);
}

TEST(HeadParser, progress_is_what_has_been_judged) {
  LineProgress progress;
  EXPECT_EQ(check_lines(default_limits, "GET / HTT", progress).verdict, HeadVerdict::incomplete);
  EXPECT_EQ(progress.line_at, 0);
  EXPECT_EQ(progress.searched, 9);
  EXPECT_EQ(progress.lines, 0);
  EXPECT_EQ(check_lines(default_limits, "GET / HTTP/1.1\r\nA: b\r", progress).verdict,
            HeadVerdict::incomplete);
  EXPECT_EQ(progress.line_at, 16);
  EXPECT_EQ(progress.searched, 20);
  EXPECT_EQ(progress.lines, 1);
}

}  // namespace
}  // namespace katana::http1

// SPDX-License-Identifier: Apache-2.0
