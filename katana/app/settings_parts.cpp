#include "katana/app/settings_parts.hpp"

#include "katana/app/settings_parts_descriptions.hpp"

KATANA_APP_PARTS_(KATANA_CONFIG_DEFINE_GROUP)

// SPDX-License-Identifier: Apache-2.0
