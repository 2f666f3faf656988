#include "katana/app/settings.hpp"

#include "katana/app/settings_descriptions.hpp"

std::optional<katana::app::ConsoleLog> katana::TextForm<katana::app::ConsoleLog>::parse(
    Bytes text) noexcept {
  if (text == "text" || text == "true") return app::ConsoleLog::text;
  if (text == "json") return app::ConsoleLog::json;
  if (text == "off" || text == "false") return app::ConsoleLog::off;
  return std::nullopt;
}

katana::Bytes katana::TextForm<katana::app::ConsoleLog>::write(app::ConsoleLog console) noexcept {
  switch (console) {
    case app::ConsoleLog::off: return "off";
    case app::ConsoleLog::text: return "text";
    case app::ConsoleLog::json: return "json";
  }
  return "off";
}

KATANA_APP_GROUPS_(KATANA_CONFIG_DEFINE_GROUP)

// SPDX-License-Identifier: Apache-2.0
