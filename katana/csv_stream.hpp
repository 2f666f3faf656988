// CSV in requests and replies: CsvRowsReader and send_csv().
//
// Links      http/handlers
#pragma once

#include "katana/http/handlers/csv_stream.hpp"

// SPDX-License-Identifier: Apache-2.0
