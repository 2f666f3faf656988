// katana openapi requests: requests that a description takes, one a line, for load and for tests.
//
//   katana openapi requests api.yaml --count 1000 --weight getItem=8 --range id=1-500
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/command_line.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/data/container/value.hpp"
#include "katana/openapi/requests/request_sampler.hpp"
#include "katana_tool/openapi/openapi_command.hpp"
#include "katana_tool/openapi/read_file.hpp"

namespace katana::tool {
namespace {

struct RequestFlags {
  std::string file;
  std::uint64_t count = 10;
  std::uint64_t seed = 1;
  std::vector<std::string> weights, ranges;
  bool takes_examples = false;
};

constexpr const char* requests_name = "katana openapi requests";

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "NAME=VALUE", at the last '='.
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

// Empty: they are right, and in the options.
std::string read_options(const RequestFlags& flags, openapi::RequestSampleOptions& options) {
  for (const std::string& each : flags.weights) {
    const auto [name, text] = split(each);
    const auto weight = number_of<double>(text);
    if (!weight) return fmt::format("--weight '{}': give OPERATION=NUMBER", each);
    options.weights.insert_or_assign(name, *weight);
  }
  for (const std::string& each : flags.ranges) {
    const auto [name, text] = split(each);
    const std::size_t dash = text.find('-', 1);
    const auto first = number_of<std::int64_t>(text.substr(0, dash));
    const auto last =
        dash == std::string::npos ? std::nullopt : number_of<std::int64_t>(text.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return fmt::format("--range '{}': give PARAMETER=FIRST-LAST", each);
    }
    options.ranges.insert_or_assign(name, std::pair(*first, *last));
  }
  return {};
}

int run_requests(const RequestFlags& flags) {
  openapi::RequestSampleOptions options{.seed = flags.seed, .examples = flags.takes_examples};
  if (const std::string wrong = read_options(flags, options); !wrong.empty()) {
    return command_line::fail(requests_name, 2, wrong);
  }
  const auto description = read_or_say(requests_name, flags.file);
  if (!description) return 2;
  auto sampler = openapi::RequestSampler::make(*description, std::move(options));
  if (!sampler) return command_line::fail(requests_name, 2, sampler.error().describe());
  for (std::uint64_t at = 0; at < flags.count; ++at) {
    const auto drawn = sampler->draw();
    if (!drawn) return command_line::fail(requests_name, 1, drawn.error().describe());
    container::Object fields;
    for (const auto& [name, value] : drawn->fields) fields.set(name, value);
    const container::Value line(container::Object{{"operation", drawn->operation},
                                                  {"method", drawn->method},
                                                  {"target", drawn->target},
                                                  {"fields", std::move(fields)},
                                                  {"content", drawn->content}});
    fmt::print("{}\n", container::to_json(line));
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

void add_requests_command(CLI::App& openapi, std::function<int()>& chosen) {
  auto flags = std::make_shared<RequestFlags>();
  CLI::App* const requests = openapi.add_subcommand(
      "requests", "Print random valid requests of an OpenAPI description, one JSON value a line.");
  requests->add_option("FILE", flags->file, "description to read")->type_name("FILE")->required();
  requests->add_option("--count", flags->count, "number of requests")->capture_default_str();
  requests->add_option("--seed", flags->seed, "seed of the random data")->capture_default_str();
  requests
      ->add_option("--weight", flags->weights,
                   "relative frequency of an operation; default: its x-weight, or 1; 0: never")
      ->type_name("OPERATION=NUMBER")
      ->allow_extra_args(false);
  requests
      ->add_option("--range", flags->ranges, "values of a parameter, for example the existing ids")
      ->type_name("PARAMETER=FIRST-LAST")
      ->allow_extra_args(false);
  requests->add_flag("--examples", flags->takes_examples, "use examples and defaults of schemas");
  requests->callback([flags, &chosen] { chosen = [flags] { return run_requests(*flags); }; });
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
