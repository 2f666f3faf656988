#include "katana/http/middleware/compression.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/http/handlers/whole_content.hpp"
#include "katana/net/reactor/peer_certificate.hpp"
#include "katana/wire/http/conditional.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana {
namespace {

using coding::Encoder;
using coding::Flush;
using detail::PreparedReply;
using http::Coding;

// A reply of more than this is compressed piece by piece.
constexpr std::size_t whole_bytes_max = 32 * 1024;
// The bytes that are compressed before others have their turn: some tenths of a millisecond.
constexpr std::size_t piece_bytes = 16 * 1024;

// ---- the fields of a reply, which are complete lines ----

struct Line {
  std::size_t begin;
  std::size_t end;  // behind its CRLF
  Bytes value;
};

std::optional<Line> find_line(Bytes fields, Bytes name) {
  for (std::size_t begin = 0; begin < fields.size();) {
    const std::size_t end = fields.find("\r\n", begin);
    const Bytes line = fields.substr(begin, end - begin);
    if (line.size() > name.size() + 1 && line[name.size()] == ':' &&
        http::equals_ignoring_case(line.substr(0, name.size()), name)) {
      return Line{begin, end + 2, line.substr(name.size() + 2)};
    }
    begin = end + 2;
  }
  return std::nullopt;
}

void replace_line(Reply& reply, const Line& line, Bytes by) {
  Text& fields = PreparedReply::fields(reply);
  Text changed(fields.bytes().substr(0, line.begin));
  changed.append(by);
  changed.append(fields.bytes().substr(line.end));
  fields = std::move(changed);
}

// ---- content that goes through an encoder ----

class CodedContent final : public ContentSource, private ContentSink {
 public:
  CodedContent(std::unique_ptr<ContentSource> source, std::unique_ptr<Encoder> encoder) noexcept
      : source_(std::move(source)), encoder_(std::move(encoder)) {}

  void begin(ContentStream& stream) override { source_->begin(stream); }
  void drain() noexcept override { source_->drain(); }

  bool produce(ContentSink& sink) override {
    for (;;) {
      if (!send(sink)) return false;
      if (done_) return true;
      taken_ = 0;
      waits_ = false;
      done_ = source_->produce(*this);
      if (thrown_ != nullptr) std::rethrow_exception(thrown_);
      if (done_) {
        encode({}, Flush::finish);
        continue;
      }
      if (!waits_ && !flushed_) {  // no output yet: flush the encoder
        encode({}, Flush::flush);
        flushed_ = true;
      }
      // There was no room: others have their turn. If waiting is impossible, it continues at once.
      if (!waits_ || sink.yield()) {
        (void)send(sink);
        return false;
      }
    }
  }

 private:
  // Returns false if there is no room.
  bool send(ContentSink& sink) {
    if (!coded_.empty() && !sink.write(coded_.bytes())) return false;
    coded_.clear();
    return true;
  }
  void encode(Bytes content, Flush flush) { encoder_->encode(content, flush, coded_); }

  bool write(Bytes content) noexcept override {
    if (taken_ >= piece_bytes || thrown_ != nullptr) {
      waits_ = true;
      return false;
    }
    try {
      encode(content, Flush::none);
    } catch (...) {
      thrown_ = std::current_exception();  // produce() rethrows it
      return false;
    }
    taken_ += content.size();
    flushed_ = false;
    return true;
  }
  bool yield() noexcept override { return waits_ = true; }

  std::unique_ptr<ContentSource> source_;
  std::unique_ptr<Encoder> encoder_;
  Text coded_;
  std::size_t taken_ = 0;  // in this round
  bool waits_ = false;     // the source, for its next turn
  bool flushed_ = true;    // it has written nothing since
  bool done_ = false;
  std::exception_ptr thrown_;
};

// ---- what is compressed, and how ----

class Compressor {
 public:
  // `offered`: a subset of the codecs of the options.
  Compressor(CompressionOptions options, http::Codings offered)
      : options_(std::move(options)), offered_(offered) {
    offered_.insert(Coding::identity);
  }

  void apply(const RequestView& request, session::Exchange& exchange, Reply& reply) const {
    if (reply.status() == 304)
      add_vary(reply, "Accept-Encoding");  // as the 200 in its place would have it
    if (!is_candidate(reply)) return;
    add_vary(reply, "Accept-Encoding");
    const auto best = http::AcceptedCodings(request.head()).best_of(offered_);
    if (!best) {
      reply = problem(problem_types::not_acceptable,
                      "No coding that the request accepts is offered for this content.");
      add_vary(reply, "Accept-Encoding");
    } else if (*best != Coding::identity && !tells_a_secret(request, exchange)) {
      compress(reply, *best);
    }
  }

 private:
  // Compression can leak secrets to another site (BREACH), so cross-site requests with the
  // user's cookies get uncompressed replies. Form tokens protect users of old browsers.
  bool tells_a_secret(const RequestView& request, session::Exchange& exchange) const {
    if (options_.cross_site_secrets) return false;
    const auto site = request.field("Sec-Fetch-Site");
    if (!site || *site == "same-origin" || *site == "none") return false;
    const session::RequestState* const state = exchange.kept();
    return (state != nullptr && state->personal().is_set()) ||
           request.field("Cookie").has_value() || request.field("Authorization").has_value() ||
           exchange.peer_certificate() != nullptr;
  }

  bool is_worth_it(Bytes type) const {
    type = type.substr(0, type.find(';'));
    while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
    return std::ranges::any_of(options_.types, [type](const std::string& each) {
      const Bytes wanted(each);
      if (wanted.size() > type.size() + 1) return false;
      if (wanted.starts_with('*')) {
        const Bytes end = wanted.substr(1);
        return http::equals_ignoring_case(type.substr(type.size() - end.size()), end);
      }
      if (wanted.ends_with('*')) {
        const Bytes begin = wanted.substr(0, wanted.size() - 1);
        return http::equals_ignoring_case(type.substr(0, begin.size()), begin);
      }
      return http::equals_ignoring_case(type, wanted);
    });
  }

  bool is_candidate(Reply& reply) const {
    const unsigned status = reply.status();
    // A part (206) does not show the whole that it belongs to.
    if (reply.invalid() || status == 204 || status == 206 || status == 304) return false;
    const bool streams = reply.source() != nullptr;
    const bool is_head = PreparedReply::is_head(reply);
    const std::uint64_t size = streams && reply.stream_length() >= 0
                                   ? static_cast<std::uint64_t>(reply.stream_length())
                               : streams || is_head ? UINT64_MAX
                                                    : reply.content().size();
    if (size < options_.bytes_min || !is_worth_it(reply.content_type())) return false;
    if (find_line(reply.fields(), "Content-Encoding")) return false;
    const auto cache = find_line(reply.fields(), "Cache-Control");
    return !cache || !http::list_contains_token(cache->value, "no-transform");
  }

  void compress(Reply& reply, Coding coding) const {
    std::unique_ptr<Encoder> encoder = options_.codecs.make_encoder(coding, options_.encoder);
    if (PreparedReply::is_head(reply)) {
      PreparedReply::set_encoder(reply, std::move(encoder));
    } else if (reply.source() != nullptr) {
      auto coded = std::make_unique<CodedContent>(std::move(reply.source()), std::move(encoder));
      PreparedReply::set_source(reply, http::unknown_length, std::move(coded));
    } else if (reply.content().size() <= whole_bytes_max) {
      Text coded;
      encoder->encode(reply.content(), Flush::finish, coded);
      PreparedReply::set_content(reply, std::move(coded));
    } else {
      const Bytes stays = reply.content_stays() ? reply.content() : Bytes{};
      auto whole = std::make_unique<detail::WholeContent>(PreparedReply::take_owned_content(reply),
                                                          stays, piece_bytes);
      auto coded = std::make_unique<CodedContent>(std::move(whole), std::move(encoder));
      PreparedReply::set_source(reply, http::unknown_length, std::move(coded));
    }
    PreparedReply::append_fields(reply, "Content-Encoding: ");
    PreparedReply::append_fields(reply, http::coding_name(coding));
    PreparedReply::append_fields(reply, "\r\n");
    if (const auto tag = find_line(reply.fields(), "ETag"); tag && !tag->value.starts_with("W/")) {
      // A version belongs to the resource: If-Match, which takes no weak tags, must recognise it.
      const Text coded = PreparedReply::has_version(reply)
                             ? http::coded_tag(tag->value, http::coding_name(coding))
                             : format_text("W/{}", tag->value);
      replace_line(reply, *tag, format_text("ETag: {}\r\n", coded.bytes()).bytes());
    }
    // A range would be part of a body that is compressed anew each time.
    if (const auto line = find_line(reply.fields(), "Accept-Ranges")) {
      replace_line(reply, *line, {});
    }
  }

  CompressionOptions options_;
  http::Codings offered_;
};

}  // namespace

Middleware compression(CompressionOptions options) {
  Middleware middleware;
  const auto offered = options.codecs.pick(options.codings);
  if (!offered) {
    middleware.mistake = offered.error().within("compression()").describe();
    return middleware;
  }
  auto compressor = std::make_shared<const Compressor>(std::move(options), *offered);
  middleware.amend = [compressor = std::move(compressor)](
                         const RequestView& request, session::Exchange& exchange, Reply& reply) {
    compressor->apply(request, exchange, reply);
  };
  return middleware;
}

Middleware decompression(DecompressionOptions options) {
  Middleware middleware;
  middleware.decoding = std::make_shared<const DecompressionOptions>(options);
  return middleware;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
