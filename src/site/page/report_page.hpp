// The page of web/ that shows a report document, as built into the program.
#pragma once

#include <string_view>

namespace goban::site::page {

/// The complete HTML page with an empty data element; empty if the program was built without
/// GOBAN_WEB.
[[nodiscard]] std::string_view report_page();

}  // namespace goban::site::page
