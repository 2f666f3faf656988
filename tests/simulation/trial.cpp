#include "tests/simulation/trial.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/net/reactor/sleep.hpp"

namespace katana::simulation {

// Stands in a coroutine's frame, and is counted as long as the frame exists.
class Frame {
 public:
  explicit Frame(Trial& trial) noexcept : trial_(trial) {
    ++trial_.frames_;
    ++trial_.frames_made_;
  }
  ~Frame() { --trial_.frames_; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void note_read(std::size_t octets) noexcept { trial_.octets_read_ += octets; }

 private:
  Trial& trial_;
};

namespace {

using net::sleep_for;

constexpr Duration for_ever = seconds(std::int64_t{10} * 366 * 24 * 3600);

struct LiteralText {
  char octets[trial_literal_octets + 1];
};
constexpr LiteralText literal_text = [] {
  LiteralText text{};
  for (std::size_t at = 0; at < trial_literal_octets; ++at) {
    text.octets[at] = static_cast<char>('a' + at % 23);
  }
  return text;
}();

class Digest {
 public:
  void add(Bytes piece) noexcept {
    size_ += piece.size();
    for (const char each : piece) {
      hash_ = (hash_ ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    }
  }
  std::string text() const { return fmt::format("{} octets, {:016x}", size_, hash_); }

 private:
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

Reply reply_with(const std::string& text) { return Reply::text(Text(text)); }

std::string tick(std::size_t line) { return fmt::format("tick {}\n", line); }

}  // namespace

std::string trial_text(std::size_t octets) {
  std::string text(octets, ' ');
  for (std::size_t at = 0; at < octets; ++at)
    text[at] = static_cast<char>('A' + (at + octets) % 26);
  return text;
}

std::string trial_ticks(std::size_t lines) {
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) text += tick(line);
  return text;
}

std::string trial_digest(Bytes content) {
  Digest digest;
  digest.add(content);
  return digest.text();
}

std::string trial_mirrored(Bytes content) {
  std::string mirrored(content);
  for (char& each : mirrored) each = static_cast<char>(~each);
  return mirrored;
}

Trial::Trial(std::function<void(Router&)> more_routes)
    : file_(std::tmpfile()),
      file_reference_([](Retained&) noexcept {}),
      more_routes_(std::move(more_routes)) {
  KATANA_CHECK(file_ != nullptr);
  KATANA_CHECK(std::fwrite(literal_text.octets, 1, trial_literal_octets, file_) ==
               trial_literal_octets);
  KATANA_CHECK(std::fflush(file_) == 0);
  file_reference_.descriptor = ::fileno(file_);
}

Trial::~Trial() { std::fclose(file_); }

void Trial::open_gate() {
  for (const std::coroutine_handle<> waiting : std::exchange(at_gate_, {})) waiting.resume();
}

void Trial::add_plain(Router& router) {
  router.get("/literal", [] { return Reply(200, "text/plain", Literal(literal_text.octets)); })
      .get("/file",
           [this] {
             return Reply::stream("text/plain", trial_literal_octets,
                                  [part = FilePart{&file_reference_, 0, trial_literal_octets}](
                                      ContentSink& sink) mutable { return sink.write_file(part); });
           })
      .get("/text/{n}", [](Path<std::size_t> n) { return reply_with(trial_text(*n)); })
      .get("/close", [] { return std::move(Reply::text("the last").close()); })
      .get("/empty", [] { return Reply(204); })
      .get("/unmodified", [] { return Reply(304); })
      .get("/missing", []() -> Result<Reply> { return fail(Code::not_found, "No such thing."); });
}

void Trial::add_sleeping(Router& router) {
  router
      .get("/ready/{n}",
           [this](Path<std::size_t> n) -> Task<Reply> {
             const Frame frame(*this);
             co_return reply_with(trial_text(*n));
           })
      .get("/sleep/{ms}",
           [this](Path<std::int64_t> ms) -> Task<Reply> {
             const Frame frame(*this);
             co_await sleep_for(milliseconds(*ms));
             co_return reply_with(fmt::format("slept {} ms", *ms));
           })
      .get("/owned/{ms}",
           [this](Request request, Path<std::int64_t> ms) -> Task<Reply> {
             const Frame frame(*this);
             co_await sleep_for(milliseconds(*ms));
             const Bytes token = request.field("x-token").value_or("none");
             co_return reply_with(fmt::format("{} {}", request.target(), token));
           })
      .get("/gate",
           [this]() -> Task<Reply> {
             const Frame frame(*this);
             co_await Gate(*this);
             co_return Reply::text("through");
           })
      .get("/never", [this]() -> Task<Reply> {
        const Frame frame(*this);
        co_await sleep_for(for_ever);
        co_return Reply(204);
      });
}

void Trial::add_throwing(Router& router) {
  router.get("/throw", []() -> Reply { throw std::runtime_error("a plain handler throws"); })
      .get("/throw-later/{ms}",
           [this](Path<std::int64_t> ms) -> Task<Reply> {
             const Frame frame(*this);
             co_await sleep_for(milliseconds(*ms));
             throw std::runtime_error("a coroutine throws");
           })
      .get("/throw-begun/{ms}", [this](ReplyWriter reply, Path<std::int64_t> ms) -> Task<void> {
        const Frame frame(*this);
        reply.begin(200, "text/plain");
        co_await reply.write("begun and ");
        co_await sleep_for(milliseconds(*ms));
        throw std::runtime_error("a coroutine throws in the middle of its reply");
      });
}

void Trial::add_content(Router& router) {
  const auto digest = [](const RequestView& request) {
    return reply_with(trial_digest(request.content()));
  };
  RouteOptions small;
  small.content_bytes_max = 1'000;
  router.post("/collect", digest)
      .post("/collect-small", digest, small)
      .post("/collect/{ms}", [this](Request request, Path<std::int64_t> ms) -> Task<Reply> {
        const Frame frame(*this);
        co_await sleep_for(milliseconds(*ms));
        co_return reply_with(trial_digest(request.content()));
      });
}

void Trial::add_source(Router& router) {
  constexpr std::uint64_t endless = std::uint64_t{1} << 40;
  router.get("/endless", [this] {
    return Reply::stream("text/plain", static_cast<std::int64_t>(endless),
                         [this, left = endless](ContentSink& sink) mutable {
                           for (; left > 0; left -= 4'096) {
                             octets_made_ += 4'096;
                             if (!sink.write({literal_text.octets, 4'096})) return false;
                           }
                           return true;
                         });
  });
}

void Trial::add_streaming(Router& router) {
  router
      .get("/ticks/{n}/{ms}",
           [this](ReplyWriter reply, Path<std::size_t> n, Path<std::int64_t> ms) -> Task<void> {
             const Frame frame(*this);
             reply.begin(200, "text/plain");
             for (std::size_t line = 0; line < *n; ++line) {
               co_await sleep_for(milliseconds(*ms));
               const std::string text = tick(line);
               co_await reply.write(text);
             }
           })
      .get("/never-begun",
           [this](ReplyWriter reply) -> Task<void> {
             const Frame frame(*this);
             reply.begin(200, "text/plain");
             co_await reply.write("begun");
             co_await sleep_for(for_ever);
           })
      .post("/read/{ms}",
            [this](ContentReader content, ReplyWriter reply, Path<std::int64_t> ms) -> Task<void> {
              Frame frame(*this);
              Digest digest;
              for (Text piece = co_await content.read(); !piece.empty();
                   piece = co_await content.read()) {
                frame.note_read(piece.size());
                digest.add(piece.bytes());
                co_await sleep_for(milliseconds(*ms));
              }
              const std::string text = digest.text();
              reply.begin(200, "text/plain", static_cast<std::int64_t>(text.size()));
              co_await reply.write(text);
            })
      .post("/read-never",
            [this](ContentReader content, ReplyWriter) -> Task<void> {
              Frame frame(*this);
              const Text piece = co_await content.read();
              frame.note_read(piece.size());
              co_await sleep_for(for_ever);
            })
      .post("/mirror/{ms}",
            [this](ContentReader content, ReplyWriter reply, Path<std::int64_t> ms) -> Task<void> {
              Frame frame(*this);
              reply.begin(200, "application/octet-stream");
              for (Text piece = co_await content.read(); !piece.empty();
                   piece = co_await content.read()) {
                frame.note_read(piece.size());
                const std::string mirrored = trial_mirrored(piece.bytes());
                co_await sleep_for(milliseconds(*ms));
                co_await reply.write(mirrored);
              }
            })
      .post("/begun", [this](ContentReader content, ReplyWriter reply) -> Task<void> {
        Frame frame(*this);
        Digest digest;
        reply.begin(200, "text/plain");
        co_await reply.write("begun: ");
        for (Text piece = co_await content.read(); !piece.empty();
             piece = co_await content.read()) {
          frame.note_read(piece.size());
          digest.add(piece.bytes());
        }
        const std::string text = digest.text();
        co_await reply.write(text);
      });
}

void Trial::add_early(Router& router) {
  router.post("/early", [] { return Reply::text("early"); })
      .post("/early/{ms}",
            [this](Path<std::int64_t> ms) -> Task<Reply> {
              const Frame frame(*this);
              co_await sleep_for(milliseconds(*ms));
              co_return Reply::text("early");
            })
      .post("/early-stream", [this](ContentReader, ReplyWriter reply) -> Task<void> {
        const Frame frame(*this);
        reply.begin(200, "text/plain", 5);
        co_await reply.write("early");
      });
}

void Trial::add_guarded(Router& router) {
  Group guarded = router.group("/guarded");
  guarded.use({.before = [](const RequestView& request) -> std::optional<Reply> {
                 if (request.field("x-token")) return std::nullopt;
                 return problem(401, "X-Token is missing.");
               },
               .after = [](const RequestView& request,
                           Reply& reply) { reply.add_field("X-Seen", request.path()); }});
  guarded.get("/plain", [] { return Reply::text("guarded"); })
      .get("/sleep/{ms}", [this](Path<std::int64_t> ms) -> Task<Reply> {
        const Frame frame(*this);
        co_await sleep_for(milliseconds(*ms));
        co_return Reply::text("guarded");
      });
}

Result<Service> Trial::make_service() {
  Router router;
  add_plain(router);
  add_sleeping(router);
  add_throwing(router);
  add_content(router);
  add_source(router);
  add_streaming(router);
  add_early(router);
  add_guarded(router);
  if (more_routes_) more_routes_(router);
  return std::move(router).build();
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
