#include "katana/data/schema/samples/text_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "katana/base/values/base64.hpp"

namespace katana::schema {
namespace {

constexpr Bytes words[] = {"amber",  "birch",  "cedar",  "delta", "ember",  "fjord", "grove",
                           "harbor", "island", "jasper", "kelp",  "lagoon", "maple", "north",
                           "ocean",  "pebble", "quartz", "river", "summit", "tide",  "umber",
                           "valley", "willow", "yarrow", "zephyr"};
constexpr Bytes first_names[] = {"Ada",   "Alan", "Barbara", "Dennis",   "Edsger", "Frances",
                                 "Grace", "Ken",  "Leslie",  "Margaret", "Radia",  "Tony"};
constexpr Bytes last_names[] = {"Allen",    "Hamilton", "Hoare",   "Hopper",   "Lamport", "Liskov",
                                "Lovelace", "Perlman",  "Ritchie", "Thompson", "Turing"};
constexpr Bytes cities[] = {"Bergen", "Cork", "Dresden", "Ghent", "Lyon", "Porto", "Turku"};
constexpr Bytes countries[] = {"Belgium", "Finland", "France", "Germany", "Ireland", "Norway"};

template <std::size_t size>
Bytes one_of(const Bytes (&list)[size], Random& random) {
  return list[random.below(size)];
}

std::string hexadecimal(std::size_t count, Random& random) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += "0123456789abcdef"[random.below(16)];
  return text;
}

std::string date(Random& random) {
  return fmt::format("20{:02}-{:02}-{:02}", random.between(20, 29), random.between(1, 12),
                     random.between(1, 28));
}
std::string time(Random& random) {
  return fmt::format("{:02}:{:02}:{:02}Z", random.below(24), random.below(60), random.below(60));
}
std::string uuid(Random& random) {
  return fmt::format("{}-{}-4{}-{}{}-{}", hexadecimal(8, random), hexadecimal(4, random),
                     hexadecimal(3, random), "89ab"[random.below(4)], hexadecimal(3, random),
                     hexadecimal(12, random));
}
std::string email(Random& random) {
  return fmt::format("{}.{}{}@example.com", one_of(words, random), one_of(words, random),
                     random.below(100));
}
std::string url(Random& random) {
  return fmt::format("https://example.com/{}/{}", one_of(words, random), random.below(10'000));
}
std::string octets(Random& random) {
  std::string bytes;
  for (std::uint64_t count = random.between(3, 12); count > 0; --count) {
    bytes += static_cast<char>(random.below(256));
  }
  return encode_base64(bytes);
}

bool has(Bytes name, Bytes part) {
  std::string small(name);
  for (char& each : small) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each | 0x20);
  }
  return small.find(part) != std::string::npos;
}

// Draws a text by the name of the member; empty: the name is unknown.
std::string by_name(Bytes name, Random& random) {
  if (has(name, "email") || has(name, "e_mail")) return email(random);
  if (has(name, "url") || has(name, "uri") || has(name, "href") || has(name, "link")) {
    return url(random);
  }
  if (has(name, "first")) return std::string(one_of(first_names, random));
  if (has(name, "last") || has(name, "surname")) return std::string(one_of(last_names, random));
  if (has(name, "city")) return std::string(one_of(cities, random));
  if (has(name, "country")) return std::string(one_of(countries, random));
  if (has(name, "phone")) return fmt::format("+3212345{:04}", random.below(10'000));
  if (has(name, "street") || has(name, "address")) {
    return fmt::format("{} Harbor Street", random.between(1, 99));
  }
  if (name == "name" || has(name, "fullname") || has(name, "full_name") || has(name, "author") ||
      has(name, "owner")) {
    return fmt::format("{} {}", one_of(first_names, random), one_of(last_names, random));
  }
  return {};
}

}  // namespace

std::optional<std::string> draw_format(Bytes format, Random& random) {
  if (format == "date-time") return fmt::format("{}T{}", date(random), time(random));
  if (format == "date") return date(random);
  if (format == "time") return time(random);
  if (format == "duration") return fmt::format("P{}DT{}H", random.below(30), random.below(24));
  if (format == "uuid") return uuid(random);
  if (format == "email" || format == "idn-email") return email(random);
  if (format == "hostname" || format == "idn-hostname") {
    return fmt::format("{}.example.com", one_of(words, random));
  }
  if (format == "ipv4" || format == "ip") return fmt::format("192.0.2.{}", random.below(256));
  if (format == "ipv6") return fmt::format("2001:db8::{}", hexadecimal(3, random));
  if (format == "uri" || format == "url" || format == "iri") return url(random);
  if (format == "uri-reference" || format == "iri-reference") {
    return fmt::format("/{}/{}", one_of(words, random), random.below(1000));
  }
  if (format == "uri-template") return fmt::format("/{}/{{id}}", one_of(words, random));
  if (format == "json-pointer")
    return fmt::format("/{}/{}", one_of(words, random), random.below(9));
  if (format == "relative-json-pointer") return fmt::format("{}/x", random.below(3));
  if (format == "regex") return fmt::format("^{}$", one_of(words, random));
  if (format == "byte") return octets(random);
  return std::nullopt;
}

std::string draw_words(Bytes name, std::size_t least, std::size_t most, Random& random) {
  std::string text = by_name(name, random);
  if (text.size() >= least && text.size() <= most && !text.empty()) return text;
  text.clear();
  // One to three words, if the bounds allow that.
  const std::size_t wanted = std::max(least, std::min<std::size_t>(most, random.between(3, 18)));
  while (text.size() < wanted) {
    if (!text.empty()) text += ' ';
    text += one_of(words, random);
  }
  if (text.size() > most) text.resize(std::max(most, least));
  if (text.ends_with(' ')) text.back() = 'x';
  return text;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
