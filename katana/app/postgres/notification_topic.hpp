// publish_notifications(): the notifications of a channel of PostgreSQL, as server-sent events of a
// topic. A program or a trigger that notifies reaches the readers of every instance.
//
//   auto options = app::postgres_options(settings.database);
//   auto notifications = database::postgres::Notifications::open(*options);
//   auto feed = app::publish_notifications(**notifications, "orders", topic);
//   router.get("/orders", [&](const RequestView& request) { return topic.subscribe(request); });
//
// An event has the payload as its data, and the name that `names` gives. Notifications may be
// missed when the server begins to listen, and after each loss of the connection. The topic then
// has one event of the name "may_have_missed", without data: a reader reads the state anew.
//
// Owns       the result owns the subscription; once it is destroyed, nothing more is published.
// Borrows    the topic, which outlives the result. The notifications may end before.
// Thread     any; not destroyed by a reader of the topic.
// Allocates  as EventTopic does.
// Fails      invalid_value: the channel's name is none; invalid_argument: a name of an event has a
//            line end. A payload above event_bytes_max is reported as a missed one.
// Invariant  events are published in the order in which the server sent them.
#pragma once

#include <string>

#include "katana/base/system/result.hpp"
#include "katana/http/events/events.hpp"
#include "katana/stores/database/postgres/notifications.hpp"

namespace katana::app {

// How events are called.
struct NotificationEventNames {
  std::string notification = {};                    // empty: "message", to a reader
  std::string may_have_missed = "may_have_missed";  // of an event without data
};

Result<database::postgres::NotificationHandler> publish_notifications(
    database::postgres::Notifications& from, std::string channel, EventTopic& to,
    NotificationEventNames names = {});

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
