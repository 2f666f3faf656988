#include "katana/stores/bus/nats/fake_jetstream_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "katana/base/values/timestamp.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace asked {

struct StreamConfig {
  std::vector<std::string> subjects;
};
KATANA_DESCRIBE(StreamConfig, subjects)

struct ConsumerConfig {
  std::optional<std::string> deliver_policy;
  std::optional<std::uint64_t> opt_start_seq;
  std::optional<std::string> filter_subject;
  std::optional<std::string> ack_policy;
};
KATANA_DESCRIBE(ConsumerConfig, deliver_policy, opt_start_seq, filter_subject, ack_policy)

struct NewConsumer {
  ConsumerConfig config;
};
KATANA_DESCRIBE(NewConsumer, config)

struct NextMessages {
  std::uint64_t batch = 1;
  std::int64_t expires = 0;
  std::int64_t idle_heartbeat = 0;
};
KATANA_DESCRIBE(NextMessages, batch, expires, idle_heartbeat)

struct OneMessage {
  std::uint64_t seq = 0;
};
KATANA_DESCRIBE(OneMessage, seq)

}  // namespace asked

namespace {

constexpr Bytes api_prefix = "$JS.API.";
constexpr Duration ack_wait = seconds(30);

std::string error_json(int code, int detail, Bytes text) {
  return fmt::format(R"({{"error":{{"code":{},"err_code":{},"description":"{}"}}}})", code, detail,
                     text);
}

std::string no_stream() { return error_json(404, 10059, "stream not found"); }

template <class T>
T read(Bytes json) {
  auto value = container::read_json<T>(json);
  return value ? *std::move(value) : T();
}

std::string time_text(Timestamp time) {
  const auto text = TextForm<Timestamp>::write(time);
  return std::string(Bytes(text));
}

}  // namespace

FakeJetStream::FakeJetStream(net::Reactor& reactor)
    : reactor_(reactor), fan_out_(BusOptions()), jet_(*this, {}, {}, &told) {}

FakeJetStream::~FakeJetStream() = default;

Timestamp FakeJetStream::wall() const {
  return Timestamp(std::chrono::microseconds(1'800'000'000'000'000 + reactor_.now().ns / 1000));
}

// ---- controls of a test ------------------------------------------------------------------------

void FakeJetStream::disconnect() {
  is_up_ = false;
  pulls_.clear();
  fan_out_.tell(nullptr, {.kind = NoticeKind::disconnected});
}

void FakeJetStream::connect() {
  is_up_ = true;
  fan_out_.tell(nullptr, {.kind = NoticeKind::connected});
  fan_out_.tell(nullptr, {.kind = NoticeKind::may_have_missed, .reason = MissReason::network});
}

void FakeJetStream::restart() {
  pulls_.clear();
  std::erase_if(consumers, [](const auto& each) { return each.first.starts_with("eph"); });
}

void FakeJetStream::lose_state() {
  pulls_.clear();
  consumers.clear();
  streams_kept.clear();
}

std::uint64_t FakeJetStream::store(std::string subject, std::string payload) {
  for (auto& [name, stream] : streams_kept) {
    if (std::ranges::none_of(stream.subjects,
                             [&](const auto& each) { return matches(each, subject); })) {
      continue;
    }
    stream.messages.push_back({++stream.last, subject, payload, wall()});
    const std::uint64_t sequence = stream.last;
    give();
    return sequence;
  }
  return 0;
}

void FakeJetStream::expire(const std::string& stream, std::uint64_t below) {
  std::erase_if(streams_kept.at(stream).messages,
                [&](const Message& each) { return each.sequence < below; });
}

void FakeJetStream::go_back(const std::string& stream, std::uint64_t last) {
  Stream& of = streams_kept.at(stream);
  std::erase_if(of.messages, [&](const Message& each) { return each.sequence > last; });
  of.last = last;
  restart();
}

void FakeJetStream::delete_consumer(const std::string& name, bool tells) {
  consumers.erase(name);
  std::vector<std::string> inboxes;
  std::erase_if(pulls_, [&](const Pull& each) {
    if (each.consumer != name) return false;
    inboxes.push_back(each.inbox);
    return true;
  });
  for (const std::string& each : inboxes) {
    if (tells) send(each, each, "Consumer Deleted", {}, 409);
  }
}

std::size_t FakeJetStream::count_asked(Bytes beginning) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      asked, [&](const std::string& each) { return each.starts_with(beginning); }));
}

// ---- Bus ---------------------------------------------------------------------------------------

Result<Published> FakeJetStream::publish(const Publication& publication) {
  if (auto checked = fan_out_.check(publication); !checked) {
    return std::unexpected(checked.error());
  }
  if (!is_up_) return fail(Code::unavailable, "no server is connected");
  const Bytes subject = publication.subject;
  if (subject.starts_with("$JS.ACK.")) {
    take_ack(subject, publication.payload);
    return Published{};
  }
  if (subject.starts_with(api_prefix)) {
    const Bytes api = subject.substr(api_prefix.size());
    asked.emplace_back(api);
    if (api.starts_with("CONSUMER.MSG.NEXT.")) {
      begin_pull(api.substr(18), publication.payload, publication.reply_to);
      return Published{};
    }
    if (!answers_api) return Published{};
    const std::string said = api_error.empty() ? answer(api, publication.payload) : api_error;
    if (!publication.reply_to.empty()) send(publication.reply_to, publication.reply_to, said, {});
    return Published{};
  }
  std::optional<HeldMessage> made;
  (void)fan_out_.deliver(publication, true, made);
  (void)store(std::string(subject), std::string(publication.payload));
  return Published{};
}

Result<Subscription> FakeJetStream::subscribe(Bytes pattern, Handler handler,
                                              SubscribeOptions options) {
  return fan_out_.subscribe(pattern, std::move(handler), std::move(options));
}

Health FakeJetStream::health() const {
  const std::string stalled = jet_.stalled();
  return {.ready = is_up_ && stalled.empty(),
          .state = is_up_ ? BusState::connected : BusState::reconnecting,
          .detail = stalled};
}

BusStatistics FakeJetStream::statistics() const {
  BusStatistics statistics;
  fan_out_.add_figures(statistics);
  jet_.add_figures(statistics);
  return statistics;
}

void FakeJetStream::send(Bytes inbox, Bytes subject, Bytes payload, Bytes reply_to,
                         std::uint16_t status) {
  for (const auto& pattern : fan_out_.matching(inbox)) {
    const HeldMessage made = make_message(
        {.subject = subject, .payload = payload, .reply_to = reply_to}, false, {}, status);
    fan_out_.deliver_to(pattern, {}, Posted(made.batch()));
  }
}

// ---- the API -----------------------------------------------------------------------------------

std::string FakeJetStream::answer(Bytes api, Bytes json) {
  const auto rest_of = [&](Bytes beginning) { return api.substr(beginning.size()); };
  for (const Bytes verb : {"STREAM.INFO.", "STREAM.CREATE.", "STREAM.UPDATE.", "STREAM.MSG.GET."}) {
    if (api.starts_with(verb)) return answer_stream(verb, std::string(rest_of(verb)), json);
  }
  for (const Bytes verb :
       {"CONSUMER.DURABLE.CREATE.", "CONSUMER.CREATE.", "CONSUMER.INFO.", "CONSUMER.DELETE."}) {
    if (api.starts_with(verb)) return answer_consumer(verb, rest_of(verb), json);
  }
  return error_json(400, 0, "no such request");
}

std::string FakeJetStream::answer_stream(Bytes verb, const std::string& name, Bytes json) {
  if (verb == "STREAM.CREATE.") {
    const auto [place, is_new] = streams_kept.try_emplace(name);
    if (is_new) {
      place->second.created = fmt::format("life {}", ++lives_);
      place->second.subjects = read<asked::StreamConfig>(json).subjects;
    }
  }
  const auto found = streams_kept.find(name);
  if (found == streams_kept.end()) return no_stream();
  const Stream& stream = found->second;
  if (verb == "STREAM.MSG.GET.") {
    const std::uint64_t sequence = read<asked::OneMessage>(json).seq;
    for (const Message& each : stream.messages) {
      if (each.sequence != sequence) continue;
      return fmt::format(R"({{"message":{{"seq":{},"time":"{}"}}}})", sequence,
                         time_text(each.time));
    }
    return error_json(404, 10037, "no message found");
  }
  const std::uint64_t first =
      stream.messages.empty() ? stream.last + 1 : stream.messages.front().sequence;
  return fmt::format(
      R"({{"config":{{"subjects":{}}},"created":"{}","state":{{"first_seq":{},"last_seq":{}}}}})",
      container::to_json(stream.subjects), stream.created, stream.last == 0 ? 0 : first,
      stream.last);
}

std::string FakeJetStream::answer_consumer(Bytes verb, Bytes rest, Bytes json) {
  const std::size_t dot = rest.find('.');
  const std::string stream(rest.substr(0, dot));
  const std::string name(dot == Bytes::npos ? Bytes() : rest.substr(dot + 1));
  if (!streams_kept.contains(stream)) return no_stream();
  if (verb == "CONSUMER.CREATE.") return create_consumer(stream, {}, json);
  if (verb == "CONSUMER.DURABLE.CREATE.") return create_consumer(stream, name, json);
  if (!consumers.contains(name)) return error_json(404, 10014, "consumer not found");
  if (verb == "CONSUMER.DELETE.") {
    delete_consumer(name, true);
    return R"({"success":true})";
  }
  return describe(name);
}

std::string FakeJetStream::create_consumer(const std::string& stream, const std::string& durable,
                                           Bytes json) {
  const auto config = read<asked::NewConsumer>(json).config;
  const std::string name = durable.empty() ? fmt::format("eph{}", ++names_) : durable;
  if (consumers.contains(name)) return describe(name);
  const Stream& of = streams_kept.at(stream);
  const std::string policy = config.deliver_policy.value_or("all");
  Consumer made{.stream = stream,
                .filter = config.filter_subject.value_or(""),
                .acknowledges = config.ack_policy.value_or("") == "explicit"};
  const std::uint64_t first = of.messages.empty() ? of.last + 1 : of.messages.front().sequence;
  made.next = first;
  if (policy == "new") made.next = of.last + 1;
  if (policy == "by_start_sequence") {
    made.next = std::clamp(config.opt_start_seq.value_or(1), first, of.last + 1);
  }
  consumers.emplace(name, made);
  return describe(name);
}

std::string FakeJetStream::describe(const std::string& name) const {
  const Consumer& of = consumers.at(name);
  const Stream& stream = streams_kept.at(of.stream);
  const auto pending = std::ranges::count_if(
      stream.messages, [&](const Message& each) { return each.sequence >= of.next; });
  return fmt::format(R"({{"name":"{}","delivered":{{"consumer_seq":{},"stream_seq":{}}},)"
                     R"("ack_floor":{{"consumer_seq":0,"stream_seq":{}}},"num_pending":{}}})",
                     name, of.number, of.next - 1, of.floor, pending);
}

// ---- consumers ---------------------------------------------------------------------------------

// A consumer that is not there answers nothing.
void FakeJetStream::begin_pull(Bytes rest, Bytes json, Bytes inbox) {
  const std::string name(rest.substr(rest.find('.') + 1));
  if (!answers_pulls || !consumers.contains(name)) return;
  if (!pull_refusal.empty()) {
    std::uint16_t status = 0;
    std::from_chars(pull_refusal.data(), pull_refusal.data() + 3, status);
    return send(inbox, inbox, Bytes(pull_refusal).substr(4), {}, status);
  }
  const auto how = read<asked::NextMessages>(json);
  const Instant now = reactor_.now();
  pulls_.push_back({name, std::string(inbox), how.batch, now + nanoseconds(how.expires),
                    now + nanoseconds(how.idle_heartbeat)});
  give();
  on_time();
}

void FakeJetStream::take_ack(Bytes subject, Bytes payload) {
  const auto place = jet::read_place(subject);
  if (!place) return;
  acknowledged.push_back(fmt::format("{}:{}", place->sequence, payload));
  const auto found = consumers.find(std::string(place->consumer));
  if (found == consumers.end()) return;
  if (payload == "+ACK") {
    found->second.unacknowledged.erase(place->sequence);
    found->second.floor = found->second.unacknowledged.empty()
                              ? found->second.next - 1
                              : found->second.unacknowledged.begin()->first - 1;
  } else {
    found->second.unacknowledged[place->sequence] = reactor_.now();
    give();
  }
}

bool FakeJetStream::give_one(Pull& pull) {
  Consumer& consumer = consumers.at(pull.consumer);
  const Stream& stream = streams_kept.at(consumer.stream);
  const auto hand_out = [&](const Message& message, unsigned deliveries) {
    if (consumer.acknowledges) {
      consumer.unacknowledged[message.sequence] = reactor_.now() + ack_wait;
    }
    const auto waiting = std::ranges::count_if(
        stream.messages, [&](const Message& each) { return each.sequence >= consumer.next; });
    send(pull.inbox, message.subject, message.payload,
         fmt::format("$JS.ACK.{}.{}.{}.{}.{}.{}.{}", consumer.stream, pull.consumer, deliveries,
                     message.sequence, ++consumer.number,
                     message.time.time_since_epoch().count() * 1000, waiting));
    pull.heartbeat = reactor_.now() + seconds(1);
    --pull.left;
    return true;
  };
  for (const auto& [sequence, due] : consumer.unacknowledged) {
    if (due > reactor_.now()) continue;
    for (const Message& each : stream.messages) {
      if (each.sequence == sequence) return hand_out(each, 2);
    }
  }
  for (const Message& each : stream.messages) {
    if (each.sequence < consumer.next) continue;
    consumer.next = each.sequence + 1;
    if (consumer.filter.empty() || matches(consumer.filter, each.subject)) return hand_out(each, 1);
  }
  return false;
}

void FakeJetStream::give() {
  for (Pull& each : pulls_) {
    while (each.left > 0 && give_one(each)) continue;
  }
  std::erase_if(pulls_, [](const Pull& each) { return each.left == 0; });
}

void FakeJetStream::on_time() {
  const Instant now = reactor_.now();
  give();
  Instant next = never;
  for (Pull& each : pulls_) {
    if (each.end <= now) {
      send(each.inbox, each.inbox, "Request Timeout", {}, 408);
      each.left = 0;
      continue;
    }
    if (each.heartbeat <= now) {
      send(each.inbox, each.inbox, "Idle Heartbeat", {}, 100);
      each.heartbeat = now + seconds(1);
    }
    next = std::min({next, each.end, each.heartbeat});
  }
  std::erase_if(pulls_, [](const Pull& each) { return each.left == 0; });
  if (next != never) reactor_.timers().arm(timer_, next);
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
