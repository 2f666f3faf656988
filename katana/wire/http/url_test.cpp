#include "katana/wire/http/url.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"
#include "katana/base/system/transcript_test.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::http {
namespace {

using Decoder = std::optional<std::size_t> (*)(Bytes, std::span<char>);

std::optional<std::string> run(Decoder decode, Bytes text) {
  std::string out(text.size(), '?');
  const auto size = decode(text, out);
  if (!size) return std::nullopt;
  out.resize(*size);
  return out;
}

std::optional<std::string> normalized(Bytes path) { return run(normalize_path, path); }

// ---- url.cases.md ----------------------------------------------------------------------------

struct Case {
  std::string title;
  std::string why;
  std::string operation;  // the opening fence's words
  std::string input;
  std::string result;
  int fences = 0;
};

struct Cases {
  std::vector<Case> all;
  std::string complaint;  // the first thing that was not understood
};

// Reads the lines up to the closing fence; false when there is none.
bool read_block(std::istream& file, std::string& block) {
  std::string line;
  for (bool first = true; std::getline(file, line); first = false) {
    if (line == "```") return true;
    block += (first ? "" : "\n") + line;
  }
  return false;
}

// A fence opens the input of a case, then its result; any other fence is a complaint.
bool read_fence(std::istream& file, const std::string& words, Case& current) {
  const bool is_result = words == "result";
  if (current.fences++ != (is_result ? 1 : 0)) return false;
  if (!is_result) current.operation = words;
  return read_block(file, is_result ? current.result : current.input);
}

Cases read_cases(const std::string& path) {
  Cases cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) continue;
    if (line.starts_with("### ")) {
      cases.all.push_back({line.substr(4), "", "", "", "", 0});
    } else if (line.starts_with("```")) {
      if (cases.all.empty() || !read_fence(file, line.substr(3), cases.all.back())) {
        cases.complaint = "a fence out of place: " + line;
        return cases;
      }
    } else if (!cases.all.empty()) {
      cases.all.back().why += line;
    }
  }
  for (const Case& one : cases.all) {
    if (one.fences != 2 || one.why.empty()) cases.complaint = "an unfinished case: " + one.title;
  }
  return cases;
}

// Escapes text as \xNN. NUL is the only byte with an escape letter, unlike in other transcripts.
std::string escape_in_hex(Bytes text) {
  std::string escaped;
  for (const char c : text) {
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02X", static_cast<unsigned char>(c));
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '\0') {
      escaped += "\\0";
    } else if (c < ' ' || c > '~') {
      escaped += hex.data();
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string escape_or_refused(const std::optional<std::string>& text) {
  return text ? escape_in_hex(*text) : "refused";
}

std::string run_target(const std::string& method, Bytes input) {
  const auto target = split_target(input, method_from(method));
  if (!target) return "refused";
  constexpr std::array<const char*, 4> forms = {"origin", "absolute", "authority", "asterisk"};
  std::string result = std::string("form: ") + forms.at(static_cast<std::size_t>(target->form));
  const auto part = [&result](const char* name, Bytes text) {
    result += std::string("\n") + name + (text.empty() ? "" : " " + escape_in_hex(text));
  };
  if (!target->scheme.empty()) part("scheme:", target->scheme);
  if (!target->authority.empty()) part("authority:", target->authority);
  if (!target->path.empty()) part("path:", target->path);
  if (target->has_query) part("query:", target->query);
  return result;
}

std::string run_authority(const std::string&, Bytes input) {
  return valid_authority(input) ? "valid" : "refused";
}

std::string run_path(const std::string&, Bytes input) {
  return escape_or_refused(normalized(input)) + (is_normal_path(input) ? "\nas it is" : "");
}

std::string run_segment(const std::string&, Bytes input) {
  return escape_or_refused(run(decode_segment, input));
}

std::string run_query(const std::string&, Bytes input) {
  std::string result;
  QueryReader reader(input);
  for (Bytes name, value; reader.next(name, value);) {
    if (!result.empty()) result += "\n";
    if (!name.empty()) result += escape_in_hex(name) + " ";
    result += "=";
    if (!value.empty()) result += " " + escape_in_hex(value);
  }
  return result;
}

std::string run_form(const std::string&, Bytes input) {
  return escape_or_refused(run(decode_form, input));
}

TEST(Url, every_case_of_the_transcript_gives_its_result) {
  const std::map<std::string, std::string (*)(const std::string&, Bytes)> operations = {
      {"target", run_target},   {"authority", run_authority}, {"path", run_path},
      {"segment", run_segment}, {"query", run_query},         {"form", run_form}};
  const Cases cases = read_cases(in_tree("katana/wire/http/url.cases.md"));
  ASSERT_EQ(cases.complaint, "");
  ASSERT_GE(cases.all.size(), 140U);
  for (const Case& one : cases.all) {
    SCOPED_TRACE(one.title);
    const std::size_t space = std::min(one.operation.find(' '), one.operation.size());
    const auto operation = operations.find(one.operation.substr(0, space));
    ASSERT_NE(operation, operations.end()) << "not understood: " << one.operation;
    const std::string words = one.operation.substr(std::min(space + 1, one.operation.size()));
    EXPECT_EQ(operation->second(words, unescape(one.input)), one.result);
  }
}

// ---- request-target and Host -----------------------------------------------------------------

TEST(Url, a_target_is_borrowed_and_not_copied) {
  const Bytes text = "http://example.com/a?b";
  const auto target = split_target(text, Method::get);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->scheme.data(), text.data());
  EXPECT_EQ(target->authority.data(), text.data() + 7);
  EXPECT_EQ(target->path.data(), text.data() + 18);
  EXPECT_EQ(target->query.data(), text.data() + 21);
}

TEST(Url, every_byte_is_valid_in_a_host_name_or_refused_by_the_grammar) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const std::string host = std::string("a") + c + "b";
    const bool valid = is(c, host_character) && c != '%';
    EXPECT_EQ(valid_authority(host), valid) << value;
  }
}

TEST(Url, an_authority_is_split_into_host_and_port) {
  struct Split {
    Bytes authority, host;
    bool bracketed;
    std::optional<std::uint16_t> port;
  };
  const std::array splits = {
      Split{"", "", false, std::nullopt},
      Split{"a.example", "a.example", false, std::nullopt},
      Split{"a:", "a", false, std::nullopt},
      Split{"a:0", "a", false, 0},
      Split{"80:0065535", "80", false, 65'535},
      Split{"a%41", "a%41", false, std::nullopt},
      Split{"1.2.3.4:8080", "1.2.3.4", false, 8080},
      Split{"[::1]", "::1", true, std::nullopt},
      Split{"[::1]:", "::1", true, std::nullopt},
      Split{"[2001:db8::80]:443", "2001:db8::80", true, 443},
      Split{"[v1.x]:1", "v1.x", true, 1},
  };
  for (const Split& each : splits) {
    const auto parts = split_authority(each.authority);
    ASSERT_TRUE(parts) << each.authority;
    EXPECT_EQ(parts->host, each.host) << each.authority;
    EXPECT_EQ(parts->bracketed, each.bracketed) << each.authority;
    EXPECT_EQ(parts->port, each.port) << each.authority;
  }
  for (const Bytes refused : {":80", "a:65536", "a:b", "::1", "[::1", "[::1]a", "[::1]:a", "u@a",
                              "a b", "a,b", "a%4", "[]"}) {
    EXPECT_FALSE(split_authority(refused)) << refused;
  }
}

TEST(Url, authorities_are_the_same_ignoring_case_and_the_default_port) {
  struct Pair {
    Bytes left, right, scheme;
    bool same;
  };
  const std::array pairs = {
      Pair{"a", "A", "http", true},
      Pair{"a", "b", "http", false},
      Pair{"a:80", "a", "http", true},
      Pair{"a:80", "a", "HTTP", true},
      Pair{"a:443", "a", "https", true},
      Pair{"a:443", "a", "http", false},
      Pair{"a:80", "a", "https", false},
      Pair{"a:", "a", "https", true},
      Pair{"a:", "a:80", "http", true},
      Pair{"a:080", "a:80", "http", true},
      Pair{"a:81", "a:80", "http", false},
      Pair{"a:80", "a:8", "http", false},
      Pair{"a", "a:80", "foo", false},
      Pair{"a", "a:", "foo", true},
      Pair{"", "", "http", true},
      Pair{"", "a", "http", false},
      Pair{"[::1]", "[::1]:80", "http", true},
      Pair{"[::1]:80", "[::2]:80", "http", false},
      Pair{"80", "80:80", "http", true},
      Pair{"ab", "a", "http", false},
      Pair{"a.", "a", "http", false},
  };
  for (const Pair& each : pairs) {
    EXPECT_EQ(same_authority(each.left, each.right, each.scheme), each.same)
        << each.left << " " << each.right << " " << each.scheme;
    EXPECT_EQ(same_authority(each.right, each.left, each.scheme), each.same)
        << each.right << " " << each.left << " " << each.scheme;
  }
}

TEST(Url, an_ipv6_host_is_valid_exactly_when_inet_pton_takes_it) {
  const std::array<std::string, 12> pieces = {
      "::", ":", ":", "1", "fe80", "0", "a:", "12:b", "00001", "1.2.3.4", "256.1.1.1", "c:d:"};
  std::mt19937 random(1);
  std::size_t valid_count = 0;
  for (int round = 0; round < 300'000; ++round) {
    std::string address;
    for (auto count = random() % 9; count > 0; --count) address += pieces[random() % pieces.size()];
    std::array<unsigned char, 16> binary{};
    const bool expected = inet_pton(AF_INET6, address.c_str(), binary.data()) == 1;
    valid_count += expected ? 1 : 0;
    ASSERT_EQ(valid_authority("[" + address + "]"), expected) << address;
  }
  EXPECT_GT(valid_count, 1000U);
}

TEST(Url, the_path_of_a_target_without_one_lies_in_the_target_too) {
  const Bytes text = "http://example.com?a";
  const auto target = split_target(text, Method::get);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/");
  EXPECT_GE(target->path.data(), text.data());
  EXPECT_LT(target->path.data(), text.data() + text.size());
}

// ---- paths, against the algorithm as the RFC words it -----------------------------------------

// RFC 3986 §5.2.4, steps 2A to 2E, on two strings.
std::string without_dot_segments(std::string input) {
  std::string output;
  while (!input.empty()) {
    if (input.starts_with("/./")) {
      input.erase(0, 2);
    } else if (input == "/.") {
      input = "/";
    } else if (input.starts_with("/../") || input == "/..") {
      input = input == "/.." ? "/" : input.substr(3);
      output.erase(output.empty() ? 0 : output.rfind('/'));
    } else {
      const std::size_t end = std::min(input.find('/', 1), input.size());
      output += input.substr(0, end);
      input.erase(0, end);
    }
  }
  return output;
}

// Escapes decoded, but "/" and "%"; nullopt where url.hpp says that a path is refused.
std::optional<std::string> with_escapes_decoded(Bytes path) {
  std::string decoded;
  for (std::size_t index = 0; index < path.size(); ++index) {
    const char c = path[index];
    if (c != '%') {
      const bool refused = c == '?' || c == '[' || c == ']' || !is(c, target_character);
      if (refused) return std::nullopt;
      decoded += c;
      continue;
    }
    const std::string digits(path.substr(index + 1, 2));
    if (digits.size() < 2 || !all_are(digits, hex_character)) return std::nullopt;
    const int byte = std::stoi(digits, nullptr, 16);
    if (byte == 0) return std::nullopt;
    decoded += byte == '/' ? "%2F" : byte == '%' ? "%25" : std::string(1, static_cast<char>(byte));
    index += 2;
  }
  return decoded;
}

std::optional<std::string> expected_normal(Bytes path) {
  if (!path.starts_with('/')) return std::nullopt;
  const auto decoded = with_escapes_decoded(path);
  if (!decoded) return std::nullopt;
  return without_dot_segments(*decoded);
}

// Calls `visit` with "/" and each text of up to `size_max` letters of the alphabet behind it.
void for_each_path(Bytes alphabet, std::size_t size_max, const std::function<void(Bytes)>& visit) {
  std::vector<std::string> paths = {"/"};
  for (std::size_t size = 0; size <= size_max; ++size) {
    std::vector<std::string> longer;
    for (const std::string& path : paths) {
      visit(path);
      for (const char c : alphabet) longer.push_back(path + c);
    }
    paths = std::move(longer);
  }
}

std::string escaped_in_full(Bytes text) {
  std::string escaped;
  for (const char c : text) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%%%02x", static_cast<unsigned char>(c));
    escaped += hex.data();
  }
  return escaped;
}

TEST(Url, every_short_path_of_dots_and_slashes_is_resolved_as_the_rfc_words_it) {
  for_each_path("/.a", 9, [](Bytes path) {
    ASSERT_EQ(normalized(path), expected_normal(path)) << path;
    ASSERT_EQ(is_normal_path(path), normalized(path) == path) << path;
  });
}

TEST(Url, every_short_path_of_escapes_is_decoded_then_resolved) {
  for_each_path("/.%2eF50", 5, [](Bytes path) {
    ASSERT_EQ(normalized(path), expected_normal(path)) << path;
    ASSERT_TRUE(!is_normal_path(path) || normalized(path) == path) << path;
  });
}

TEST(Url, random_paths_of_escaped_words_are_decoded_then_resolved) {
  const std::array<Bytes, 14> words = {"/",   "/",   "/",   ".",     "..",  "%2e", "%2E",
                                       "%2F", "%2f", "%25", "%252e", "abc", "%41", "%C3%A9"};
  std::mt19937 random(2);
  for (int round = 0; round < 100'000; ++round) {
    std::string path = "/";
    for (auto count = random() % 16; count > 0; --count) path += words[random() % words.size()];
    ASSERT_EQ(normalized(path), expected_normal(path)) << path;
  }
}

// A normal path as a client would have to send it: the escapes it has are left alone.
std::string as_raw_path(Bytes normal) {
  std::string raw;
  for (const char c : normal) {
    const bool refused = c == '?' || c == '[' || c == ']' || !is(c, target_character);
    raw += refused ? escaped_in_full(Bytes{&c, 1}) : std::string(1, c);
  }
  return raw;
}

TEST(Url, a_normal_path_sent_again_normalizes_to_itself) {
  for_each_path("/.%2eF5", 6, [](Bytes path) {
    const auto normal = normalized(path);
    if (!normal) return;
    ASSERT_LE(normal->size(), path.size());
    ASSERT_EQ(normalized(as_raw_path(*normal)), normal) << path;
  });
}

TEST(Url, every_raw_byte_is_plain_or_refused_in_a_path) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    const std::string path = std::string("/a") + c + "b";
    const bool plain = is(c, target_character) && Bytes("?%[]").find(c) == Bytes::npos;
    EXPECT_EQ(is_normal_path(path), plain) << value;
    EXPECT_EQ(normalized(path).has_value(), plain) << value;
  }
}

TEST(Url, any_text_but_nul_survives_the_way_through_a_path) {
  for (int value = 1; value < 256; ++value) {
    const std::string text = std::string("x") + static_cast<char>(value) + "%2F%25/.";
    const auto normal = normalized("/" + escaped_in_full(text));
    ASSERT_TRUE(normal) << value;
    EXPECT_EQ(normal->find('/', 1), std::string::npos) << value;
    EXPECT_EQ(run(decode_segment, Bytes(*normal).substr(1)), text) << value;
  }
}

TEST(Url, a_path_is_normalized_within_its_own_storage) {
  for_each_path("/.%2ef", 6, [](Bytes path) {
    std::string storage(path);
    const auto size = normalize_path(storage, storage);
    const auto apart = normalized(path);
    ASSERT_EQ(size.has_value(), apart.has_value()) << path;
    ASSERT_EQ(storage.substr(0, size.value_or(0)), apart.value_or("")) << path;
  });
}

TEST(Url, a_span_smaller_than_the_input_is_refused) {
  std::array<char, 2> out{};
  EXPECT_FALSE(normalize_path("/ab", out));
  EXPECT_FALSE(decode_segment("abc", out));
  EXPECT_FALSE(decode_form("abc", out));
  EXPECT_TRUE(normalize_path("/a", out));
}

// ---- forms -----------------------------------------------------------------------------------

TEST(Url, any_bytes_survive_the_way_through_a_form) {
  std::string text;
  for (int value = 0; value < 256; ++value) text += static_cast<char>(value);
  EXPECT_EQ(run(decode_form, escaped_in_full(text)), text);
}

TEST(Url, form_text_without_plus_or_percent_needs_no_decoding) {
  EXPECT_FALSE(needs_form_decoding(""));
  EXPECT_FALSE(needs_form_decoding("abc"));
  EXPECT_TRUE(needs_form_decoding("a+b"));
  EXPECT_TRUE(needs_form_decoding("a%20b"));
}

TEST(Url, a_finished_query_reader_stays_finished_and_changes_nothing) {
  QueryReader reader("a=b");
  Bytes name;
  Bytes value;
  EXPECT_TRUE(reader.next(name, value));
  EXPECT_FALSE(reader.next(name, value));
  EXPECT_FALSE(reader.next(name, value));
  EXPECT_EQ(name, "a");
  EXPECT_EQ(value, "b");
}

}  // namespace
}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
