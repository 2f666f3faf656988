#include "katana/app/postgres/notification_topic.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace katana::app {

Result<database::postgres::NotificationHandler> publish_notifications(
    database::postgres::Notifications& from, std::string channel, EventTopic& to,
    NotificationEventNames names) {
  for (const std::string& name : {names.notification, names.may_have_missed}) {
    if (name.find_first_of(std::string_view("\r\n\0", 3)) != name.npos) {
      return fail(
          Code::invalid_argument,
          fmt::format(
              "the events of channel '{}' cannot have a name with a line end or a zero byte",
              channel));
    }
  }
  auto handler = from.handle(
      std::move(channel),
      [&to, names = std::move(names)](const database::postgres::Notification& notification) {
        const bool published =
            !notification.may_have_missed &&
            to.publish({.data = notification.payload, .name = names.notification}).has_value();
        // It has no data, so no limit of a topic refuses it but one that refuses everything.
        if (!published) (void)to.publish({.data = {}, .name = names.may_have_missed});
      });
  if (!handler) return std::unexpected(handler.error());
  return *std::move(handler);
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
