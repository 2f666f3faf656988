// The operations page for browsers: its document, scripts and style. It loads nothing from other
// servers, and has neither scripts nor styles within the document. It says nothing of the program:
// the script asks for that, with the token if there is one.
//
// Owns       constants.
// Thread     any.
// Allocates  nothing.
#pragma once

#include "katana/base/text/bytes.hpp"

namespace katana::app {

extern const Bytes live_page_html;  // the document
extern const Bytes live_page_css;   // its style
extern const Bytes live_page_js;    // asks for the data, and shows the tables
extern const Bytes live_charts_js;  // draws the charts

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
