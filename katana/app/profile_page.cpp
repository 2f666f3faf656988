#include "katana/app/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <expected>
#include <memory>
#include <optional>
#include <utility>

#include "katana/app/waiting_profile.hpp"
#include "katana/base/thread/run.hpp"
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

enum class ProfileKind : std::uint8_t { cpu, waiting, allocations, growth };
KATANA_DESCRIBE_ENUM(ProfileKind, cpu, waiting, allocations, growth)

// Bounds of `bytes`: that a sample of memory stands for.
constexpr std::int64_t profile_interval_min = 1024;
constexpr std::int64_t profile_interval_max = std::int64_t{1} << 30;

struct ProfileQuery {
  std::optional<std::int64_t> seconds, hertz, bytes;
  ProfileKind kind = ProfileKind::cpu;
  ProfileFormat format = ProfileFormat::pprof;
};
KATANA_DESCRIBE_STRICT(ProfileQuery, seconds, hertz,
                       (bytes, range(profile_interval_min, profile_interval_max)), kind, format)

struct ProfileInProgress {
  Timestamp ends_at;
};
KATANA_DESCRIBE(ProfileInProgress, ends_at)

namespace {

// The values of a request that has none, where the settings allow them.
constexpr unsigned seconds_unsaid = 10;
constexpr unsigned hertz_unsaid = 99;
constexpr unsigned waiting_hertz_unsaid = 10;
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

profile::Kind kind_of(ProfileKind kind) {
  switch (kind) {
    case ProfileKind::waiting: return profile::Kind::waiting;
    case ProfileKind::allocations: return profile::Kind::allocations;
    case ProfileKind::growth: return profile::Kind::growth;
    case ProfileKind::cpu: break;
  }
  return profile::Kind::cpu;
}

// "notes-cpu-20261129T070512Z.pb.gz"
std::string file_name(const std::string& program, ProfileKind kind) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32];
  ::gmtime_r(&now, &parts);
  (void)std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return fmt::format("{}-{}-{}.pb.gz", program, profile::name_of(kind_of(kind)), text);
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
Reply reply_of(std::string content, const ProfileQuery& query, const std::string& program) {
  const ProfileFormat format = query.format;
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
                    content_disposition("attachment", file_name(program, query.kind)).bytes());
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

// Length and rate of a profile.
struct Extent {
  Duration length;
  unsigned hertz;
};

std::expected<Extent, Reply> extent_of(const ProfileQuery& query, const ProfileSettings& bounds) {
  const bool is_memory = profile::is_memory(kind_of(query.kind));
  if (is_memory ? query.hertz.has_value() : query.bytes.has_value()) {
    return std::unexpected(
        problem(problem_types::invalid_parameter,
                is_memory ? "query parameter 'hertz': a profile of memory has 'bytes' instead"
                          : "query parameter 'bytes': only profiles of memory have it"));
  }
  const unsigned unsaid = query.kind == ProfileKind::waiting ? waiting_hertz_unsaid : hertz_unsaid;
  const std::int64_t length = query.seconds.value_or(std::min(seconds_unsaid, bounds.seconds_max));
  const std::int64_t hertz = query.hertz.value_or(std::min(unsaid, bounds.hertz_max));
  if (auto wrong = check_bounds("seconds", length, bounds.seconds_max)) {
    return std::unexpected(*std::move(wrong));
  }
  if (auto wrong = check_bounds("hertz", hertz, bounds.hertz_max)) {
    return std::unexpected(*std::move(wrong));
  }
  return Extent{seconds(length), static_cast<unsigned>(hertz)};
}

Task<Result<Reply>> make_profile(profile::Profiler& profiler, const std::string& program,
                                 Extent extent, ProfileQuery query) {
  auto run = profiler.begin({.length = extent.length,
                             .kind = kind_of(query.kind),
                             .hertz = extent.hertz,
                             .interval_bytes = static_cast<std::size_t>(
                                 query.bytes.value_or(profile::allocations::interval_bytes_unsaid)),
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
  co_return reply_of(*std::move(content), query, program);
}

// The one profile of waiting that is being made. It is free again when the task is destroyed, too.
class WaitingTurn {
 public:
  explicit WaitingTurn(std::atomic<std::int64_t>& ends_at_ns) noexcept : ends_at_ns_(&ends_at_ns) {}
  WaitingTurn(WaitingTurn&& other) noexcept
      : ends_at_ns_(std::exchange(other.ends_at_ns_, nullptr)) {}
  ~WaitingTurn() {
    if (ends_at_ns_ != nullptr) ends_at_ns_->store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t>* ends_at_ns_;
};

Task<Result<Reply>> make_waiting_profile(server::Observability& observability, thread::Pool& pool,
                                         const std::string& program, WaitingTurn /*turn*/,
                                         WaitingOptions options, ProfileQuery query) {
  const WaitingSamples samples = co_await sample_waiting(observability, std::move(options));
  // Many stacks would hold up a reactor.
  auto job = [kept = std::make_shared<const WaitingSamples>(samples), program,
              format = query.format] { return write(profile_of(*kept, program), format); };
  auto given = thread::give(job);
  Result<std::string> content = co_await pool.run(given);
  if (!content) co_return std::unexpected(content.error());
  co_return reply_of(*std::move(content), query, program);
}

Task<Result<Reply>> ready(Reply reply) { co_return std::move(reply); }

std::int64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

ProfilePage::ProfilePage(std::string program, const ProfileSettings& settings,
                         server::Observability& observability, thread::Pool& pool)
    : program_(std::move(program)),
      settings_(settings),
      observability_(observability),
      pool_(pool),
      profiler_(program_) {}

Task<Result<Reply>> ProfilePage::make(const Request& request, const ProfileQuery& query) {
  if (auto refused = check_request(request)) return ready(*std::move(refused));
  auto extent = extent_of(query, settings_);
  if (!extent) return ready(std::move(extent.error()));
  if (query.kind != ProfileKind::waiting) return make_profile(profiler_, program_, *extent, query);
  if (is_draining_.load(std::memory_order_relaxed)) {
    return ready(problem(problem_types::stopping, "The program stops."));
  }
  const std::int64_t end_ns = now_ns() + extent->length.ns;
  std::int64_t none = 0;
  if (!waiting_ends_at_ns_.compare_exchange_strong(none, end_ns, std::memory_order_relaxed)) {
    return ready(refuse_second(none));
  }
  WaitingTurn turn(waiting_ends_at_ns_);  // before anything that may throw
  WaitingOptions options{.length = extent->length, .hertz = extent->hertz, .is_over_early = [this] {
                           return is_draining_.load(std::memory_order_relaxed);
                         }};
  return make_waiting_profile(observability_, pool_, program_, std::move(turn), std::move(options),
                              query);
}

void ProfilePage::add_to(Group& pages) {
  pages.get("/operations/profile",
            [this](Request request, Query<ProfileQuery> query) { return make(request, *query); },
            {.timeout = seconds(settings_.seconds_max) + rest});
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
