// The page of live state for browsers: its document, script and style. It loads nothing from other
// servers, and has neither scripts nor styles within the document.
//
// Owns       constants.
// Thread     any.
// Allocates  the document.
#pragma once

#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::app {

// The script, and the style.
extern const Bytes live_page_js;
extern const Bytes live_page_css;
// `program`, `version`: for the title and the heading.
std::string live_page_html(const std::string& program, const std::string& version);

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
