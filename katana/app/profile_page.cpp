#include "katana/app/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "katana/base/values/timestamp.hpp"
#include "katana/http/handlers/content_disposition.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/observe/profile/flame_graph.hpp"
#include "katana/observe/profile/folded.hpp"
#include "katana/observe/profile/pprof.hpp"

namespace katana::app {

enum class ProfileFormat : std::uint8_t { pprof, folded, html };
KATANA_DESCRIBE_ENUM(ProfileFormat, pprof, folded, html)

enum class ProfileKind : std::uint8_t { cpu };
KATANA_DESCRIBE_ENUM(ProfileKind, cpu)

struct ProfileQuery {
  std::optional<std::int64_t> seconds, hertz;
  ProfileKind kind = ProfileKind::cpu;
  ProfileFormat format = ProfileFormat::pprof;
};
KATANA_DESCRIBE_STRICT(ProfileQuery, seconds, hertz, kind, format)

struct ProfileInProgress {
  Timestamp ends_at;
};
KATANA_DESCRIBE(ProfileInProgress, ends_at)

namespace {

// The values of a request that has none, where the settings allow them.
constexpr unsigned seconds_unsaid = 10;
constexpr unsigned hertz_unsaid = 99;
constexpr std::size_t piece_bytes = 16 * 1024;  // of a reply
constexpr Duration look_interval = milliseconds(20);
// For the thread of the profile to write it.
constexpr Duration rest = seconds(60);

// A HEAD would cost what a GET costs. A page of another site can make the owner's browser ask, and
// only a token keeps it from that.
std::optional<Reply> check_request(const Request& request) {
  if (request.method() != http::Method::get) {
    return problem(problem_types::method_not_served, "A profile is made for GET only.")
        .with("Allow", "GET");
  }
  const auto site = request.field("Sec-Fetch-Site");
  if (site && *site == "cross-site" && !request.field("Authorization")) {
    return problem(problem_types::csrf, "A page of another site asks for a profile.");
  }
  return std::nullopt;
}

std::optional<Reply> check_bounds(Bytes name, std::int64_t value, unsigned value_max) {
  if (value >= 1 && value <= value_max) return std::nullopt;
  return problem(problem_types::invalid_parameter,
                 fmt::format("query parameter '{}': expected 1 to {} (profile.{}_max), got {}",
                             name, value_max, name, value));
}

std::string write(const profile::Profile& profile, ProfileFormat format) {
  switch (format) {
    case ProfileFormat::folded: return profile::to_folded(profile);
    case ProfileFormat::html: return profile::flame_graph_page(profile);
    case ProfileFormat::pprof: break;
  }
  return profile::compress(profile::to_pprof(profile));
}

// "notes-cpu-20261129T070512Z.pb.gz"
std::string file_name(const std::string& program) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32];
  ::gmtime_r(&now, &parts);
  (void)std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return fmt::format("{}-cpu-{}.pb.gz", program, text);
}

Literal type_of(ProfileFormat format) {
  switch (format) {
    case ProfileFormat::folded: return "text/plain; charset=utf-8";
    case ProfileFormat::html: return "text/html; charset=utf-8";
    case ProfileFormat::pprof: break;
  }
  return "application/octet-stream";
}

// The content is streamed from where it is: a copy would be as large again.
Reply reply_of(std::string content, ProfileFormat format, const std::string& program) {
  const auto length = static_cast<std::int64_t>(content.size());
  Reply reply = Reply::stream(
      type_of(format), length,
      [content = std::move(content), written = std::size_t{0}](ContentSink& sink) mutable {
        while (written < content.size()) {
          const Bytes piece = Bytes(content).substr(written, piece_bytes);
          if (!sink.write(piece)) return false;
          written += piece.size();
        }
        return true;
      });
  reply.add_field("Cache-Control", "no-store").add_field("X-Content-Type-Options", "nosniff");
  if (format == ProfileFormat::html) {
    reply.add_field("Content-Security-Policy", profile::flame_graph_policy());
  }
  if (format == ProfileFormat::pprof) {
    reply.add_field("Content-Disposition",
                    content_disposition("attachment", file_name(program)).bytes());
  }
  return reply;
}

Reply refuse_second(std::optional<std::int64_t> ends_at_ns) {
  const std::chrono::nanoseconds end(ends_at_ns.value_or(0));
  const Timestamp ends_at =
      ends_at_ns ? Timestamp(std::chrono::ceil<Timestamp::duration>(end)) : current_time();
  const auto left = std::chrono::ceil<std::chrono::seconds>(ends_at - current_time()).count();
  Reply reply = problem(problem_types::profile_in_progress,
                        "Another profile of this process is being made: see ends_at.",
                        ProfileInProgress{ends_at});
  reply.add_field("Retry-After", fmt::format("{}", std::max<std::int64_t>(left, 1)));
  return reply;
}

Task<Result<Reply>> make_profile(profile::Profiler& profiler, const std::string& program,
                                 ProfileSettings bounds, ProfileQuery query,
                                 std::optional<Reply> refused) {
  if (refused) co_return *std::move(refused);
  const std::int64_t length = query.seconds.value_or(std::min(seconds_unsaid, bounds.seconds_max));
  const std::int64_t hertz = query.hertz.value_or(std::min(hertz_unsaid, bounds.hertz_max));
  if (auto wrong = check_bounds("seconds", length, bounds.seconds_max)) {
    co_return *std::move(wrong);
  }
  if (auto wrong = check_bounds("hertz", hertz, bounds.hertz_max)) co_return *std::move(wrong);
  auto run = profiler.begin({.length = seconds(length),
                             .hertz = static_cast<unsigned>(hertz),
                             .write = [format = query.format](const profile::Profile& made) {
                               return write(made, format);
                             }});
  if (!run && run.error().code() == Code::already_exists) {
    co_return refuse_second(profiler.ends_at_ns());
  }
  if (!run && run.error().code() == Code::cancelled) {
    co_return problem(problem_types::stopping, run.error().message());
  }
  if (!run) co_return std::unexpected(run.error());
  while (!(*run)->is_done()) co_await net::sleep_for(look_interval);
  Result<std::string> content = (*run)->take();
  if (!content) co_return problem(problem_types::profile_refused, content.error().message());
  co_return reply_of(*std::move(content), query.format, program);
}

}  // namespace

ProfilePage::ProfilePage(std::string program, const ProfileSettings& settings)
    : program_(std::move(program)), settings_(settings), profiler_(program_) {}

void ProfilePage::add_to(Group& pages) {
  pages.get("/operations/profile",
            [this](Request request, Query<ProfileQuery> query) {
              return make_profile(profiler_, program_, settings_, *query, check_request(request));
            },
            {.timeout = seconds(settings_.seconds_max) + rest});
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
