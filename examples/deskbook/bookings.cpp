#include "katana/application_nats.hpp"
#include "katana/csv_stream.hpp"
#include "katana/log.hpp"
#include "katana/preconditions.hpp"
#include "parts.hpp"

namespace deskbook {

enum class State : std::uint8_t { booked, checked_in, cancelled, released };
KATANA_DESCRIBE_ENUM(State, booked, checked_in, cancelled, released)

struct Period {
  Timestamp starts, ends;
};
KATANA_DESCRIBE(Period, starts, ends)
bool is_bookable(const Period& period) {
  return period.starts < period.ends && period.ends - period.starts <= std::chrono::hours(12);
}
struct NewBooking {
  std::int64_t desk = 0;
  Period period;
  std::optional<std::string> note;
};
KATANA_DESCRIBE(NewBooking, desk,
                (period, satisfies(is_bookable, "an end up to 12 hours behind the start")),
                (note, length(1, 200)))
struct BookingPatch {
  Patch<Period> period;
  Patch<std::string> note;
};
KATANA_DESCRIBE(BookingPatch,
                (period, not_null,
                 satisfies(is_bookable, "an end up to 12 hours behind the start")),
                (note, length(1, 200)))
struct Booking {
  std::int64_t id = 0;
  std::string desk;
  int floor = 0;
  std::int64_t person_id = 0;
  std::string person;
  Timestamp starts, ends;
  std::optional<std::string> note;
  State state = State::booked;
  std::int64_t version = 0;
};
KATANA_DESCRIBE(Booking, id, desk, floor, person_id, person, starts, ends, note, state, version)
struct BookingQuery {
  std::optional<int> floor;
  std::optional<Timestamp> from, until;
  std::int64_t after = 0;
  int limit = 50;
};
KATANA_DESCRIBE(BookingQuery, floor, from, until, after, (limit, range(1, 500)))
struct ExportQuery {
  std::optional<Timestamp> from, until;
};
KATANA_DESCRIBE(ExportQuery, from, until)
struct EventQuery {
  std::vector<int> floor;
};
KATANA_DESCRIBE(EventQuery, (floor, length(0, 20)))
namespace {

#define SELECT_BOOKING                                                             \
  "SELECT b.id, d.code AS desk, floor, person_id, p.name AS person, starts, ends," \
  " note, state, b.version FROM bookings b JOIN desks d ON d.id = desk_id"         \
  " JOIN people p ON p.id = person_id "

using Events = Inject<EventTopic>;
using Log = Inject<log::Log>;
constexpr ProblemType desk_taken{
    .uri = "/problems/desk-taken", .status = 409, .title = "The desk is taken"};
constexpr ProblemType second_desk{
    .uri = "/problems/second-desk", .status = 409, .title = "You have another desk at that time"};
constexpr ProblemType booking_changed{
    .uri = "/problems/booking-changed", .status = 412, .title = "The booking has changed"};

// The refusal of a statement that books, by the constraint that it violates.
Refused refused(const database::Error& error) {
  using enum database::Constraint;
  if (error.constraint() == foreign_key) return problem(422, "There is no such desk.");
  if (error.which() == "desk_has_one_booking") return problem(desk_taken, "Take another desk.");
  if (error.which() == "person_has_one_desk") return problem(second_desk, "Cancel it first.");
  return error;
}

Reply ended() { return problem(409, "The booking has come to its end, or has begun."); }

// Tells the floor of the desk, and its person wherever the person looks.
Result<void> publish_all(EventTopic& events, const Booking& booking) {
  const std::string data = container::to_json(booking);
  const Bytes name = enumerator_name(booking.state);
  const std::string floor = fmt::format("floor:{}", booking.floor);
  KATANA_TRY_DONE(events.publish({.data = data, .name = name, .key = floor}));
  const std::string person = fmt::format("person:{}", booking.person_id);
  KATANA_TRY_DONE(events.publish({.data = data, .name = name, .key = person}));
  return {};
}

// Behind a commit: the booking is done, whether or not its event can be sent.
void publish(EventTopic& events, log::Log& log, const Booking& booking) {
  if (const auto told = publish_all(events, booking); !told) {
    log.logger("bookings").warn("no event of booking {}: {}", booking.id, told.error().describe());
  }
}

std::int64_t id_of(const auth::Principal& who) { return std::stoll(who.id()); }

// The booking, which only its person and administrators may change. Locked for the transaction.
Task<Answer<Booking>> own_booking(const Transaction& within, std::int64_t id, auth::Principal who) {
  auto row =
      co_await within.query_one<Booking>(SELECT_BOOKING "WHERE b.id = $1 FOR UPDATE OF b", id);
  KATANA_CO_TRY(const Booking booking, found(std::move(row), "booking"));
  if (booking.person_id != id_of(who) && !who.has_role("administrator")) {
    co_return std::unexpected(problem(403, "The booking is somebody else's."));
  }
  co_return booking;
}

Task<Answer<Json<std::vector<Booking>>>> list_bookings(Query<BookingQuery> query, Db db) {
  KATANA_CO_TRY(
      auto bookings,
      co_await db->query<Booking>(
          SELECT_BOOKING "WHERE ($1::int IS NULL OR floor = $1) AND b.id > $4 "
                         "AND starts < coalesce($3, 'infinity'::timestamptz) "
                         "AND ends > coalesce($2, '-infinity'::timestamptz) ORDER BY b.id LIMIT $5",
          query->floor, query->from, query->until, query->after, query->limit));
  co_return Json(std::move(bookings));
}

Task<Answer<Reply>> show_booking(Id id, Preconditions conditions, Db db) {
  auto row = co_await db->query_one<Booking>(SELECT_BOOKING "WHERE b.id = $1", *id);
  KATANA_CO_TRY(const Booking booking, found(std::move(row), "booking"));
  if (auto refusal = conditions.refusal(booking.version)) co_return *std::move(refusal);
  co_return json_reply(booking).with_version(booking.version);
}

Task<Answer<Reply>> book(Json<NewBooking> given, Who who, Events events, Log log, Db db) {
  if (given->period.starts < current_time()) co_return problem(422, "The period has begun.");
  auto body = [&](Transaction& within) -> Task<Answer<Booking>> {
    const auto made = co_await within.query_one<std::int64_t>(
        "INSERT INTO bookings (desk_id, person_id, starts, ends, note) "
        "VALUES ($1, $2, $3, $4, $5) RETURNING id",
        given->desk, id_of(*who), given->period, given->note);
    if (!made) co_return std::unexpected(refused(made.error()));
    co_return co_await own_booking(within, **made, *who);
  };
  KATANA_CO_TRY(const Booking booking, co_await database::transact(*db, body));
  publish(*events, *log, booking);
  co_return json_reply(booking, 201)
      .with("Location", fmt::format("/api/bookings/{}", booking.id))
      .with_version(booking.version);
}

Task<Answer<Reply>> change_booking(Id id, RequiredPreconditions conditions,
                                   Json<BookingPatch> patch, Who who, Events events, Log log,
                                   Db db) {
  auto body = [&](Transaction& within) -> Task<Answer<Booking>> {
    KATANA_CO_TRY(Booking booking, co_await own_booking(within, *id, *who));
    if (auto refusal = conditions.refusal(booking.version++, booking_changed)) {
      co_return std::unexpected(*std::move(refusal));
    }
    if (booking.state != State::booked) co_return std::unexpected(ended());
    if (patch->period.has_value()) {
      if (patch->period->starts < current_time()) {
        co_return std::unexpected(problem(422, "The period has begun."));
      }
      booking.starts = patch->period->starts;
      booking.ends = patch->period->ends;
    }
    patch->note.apply_to(booking.note);
    const auto done = co_await within.execute(
        "UPDATE bookings SET starts = $2, ends = $3, note = $4, version = $5 WHERE id = $1", *id,
        booking.starts, booking.ends, booking.note, booking.version);
    if (!done) co_return std::unexpected(refused(done.error()));
    co_return booking;
  };
  KATANA_CO_TRY(const Booking booking, co_await database::transact(*db, body));
  publish(*events, *log, booking);
  co_return json_reply(booking).with_version(booking.version);
}

// From `booked` to another state, once.
Task<Answer<Reply>> move_to(State to, Id id, Who who, Events events, Log log, Db db,
                            Timestamp latest_start) {
  auto body = [&](Transaction& within) -> Task<Answer<Booking>> {
    KATANA_CO_TRY(Booking booking, co_await own_booking(within, *id, *who));
    if (booking.state != State::booked) co_return std::unexpected(ended());
    if (booking.starts > latest_start) co_return std::unexpected(problem(409, "It is too early."));
    booking.state = to;
    ++booking.version;
    KATANA_CO_TRY_DONE(
        co_await within.execute("UPDATE bookings SET state = $2, version = $3 WHERE id = $1", *id,
                                booking.state, booking.version));
    co_return booking;
  };
  KATANA_CO_TRY(const Booking booking, co_await database::transact(*db, body));
  publish(*events, *log, booking);
  co_return json_reply(booking).with_version(booking.version);
}

Task<Answer<Reply>> cancel(Id id, Who who, Events events, Log log, Db db) {
  return move_to(State::cancelled, id, who, events, log, db, Timestamp::max());
}
// From `check_in_within` before the start on.
Task<Answer<Reply>> check_in(Id id, Who who, Events events, Log log, Db db,
                             Inject<config::Config<Settings>> config) {
  const Timestamp latest_start = current_time() + config->get()->check_in_within;
  return move_to(State::checked_in, id, who, events, log, db, latest_start);
}

Task<void> export_bookings(Query<ExportQuery> query, ReplyWriter reply, Db db) {
  auto rows = db->stream<Booking>(SELECT_BOOKING
                                  "WHERE starts < coalesce($2, 'infinity'::timestamptz) "
                                  "AND ends > coalesce($1, '-infinity'::timestamptz) "
                                  "ORDER BY starts, b.id",
                                  query->from, query->until);
  Reply head(200, csv_type, Text());
  head.add_field("Content-Disposition", "attachment; filename=bookings.csv");
  co_await send_csv(reply, rows, std::move(head));
}

// Events of the floors that the client names, and of its own bookings.
Reply subscribe(Query<EventQuery> query, Who who, const RequestView& request, Events events) {
  std::vector<std::string> keys = {"person:" + who->id()};
  for (const int floor : query->floor) keys.push_back(fmt::format("floor:{}", floor));
  return events->subscribe(request, std::move(keys));
}

Task<Answer<Html>> page(Who who, Db db) {
  KATANA_CO_TRY(const auto bookings,
                co_await db->query<Booking>(SELECT_BOOKING "WHERE person_id = $1 AND ends > $2 "
                                                           "AND state IN ('booked', 'checked_in') "
                                                           "ORDER BY starts LIMIT 100",
                                            id_of(*who), current_time()));
  std::vector<Html> rows;
  for (const Booking& each : bookings) {
    rows.push_back(html("<tr><td>{}<td>{}<td>{}<td>{}", each.desk, each.starts, each.ends,
                        each.note.value_or("")));
  }
  co_return html(
      R"(<!doctype html><title>Deskbook</title><h1>Desks of {}</h1>
<table><tr><th>Desk<th>From<th>Until<th>Note{}</table>
<form method="post" action="/logout"><button>Sign out</button></form>)",
      who->name(), rows);
}

}  // namespace

void add_bookings(registry::Registry& registry) {
  registry.singleton<EventTopic>([](bus::Bus& bus) {
    return std::make_unique<EventTopic>(EventTopicOptions{.bus = &bus, .name = "bookings"});
  });
}

void add_booking_routes(Groups& groups) {
  groups.pages.get("/", page);
  groups.api.get("/bookings", list_bookings).post("/bookings", book).get("/events", subscribe);
  Group one = groups.api.group("/bookings/{id}");
  one.get("", show_booking).patch("", change_booking).delete_("", cancel);
  one.post("/check-in", check_in);
  groups.administration.get("/bookings.csv", export_bookings);
}

// Bookings that began, and whose person has not come.
Task<Result<void>> release_desks(const registry::Services& services) {
  const auto within = services.get<config::Config<Settings>>().get()->check_in_within;
  KATANA_CO_TRY(const auto released,
                co_await services.get<database::Database>().query<Booking>(
                    "UPDATE bookings b SET state = 'released', version = b.version + 1 "
                    "FROM desks d, people p WHERE d.id = desk_id AND p.id = person_id "
                    "AND state = 'booked' AND starts < $1 RETURNING b.id, d.code AS desk, floor, "
                    "person_id, p.name AS person, starts, ends, note, state, b.version",
                    current_time() - within));
  for (const Booking& each : released) {
    publish(services.get<EventTopic>(), services.get<log::Log>(), each);
  }
  co_return Result<void>();
}

Task<void> follow_events(const registry::Services& services) {
  return services.get<EventTopic>().follow();
}

}  // namespace deskbook

// SPDX-License-Identifier: Apache-2.0
