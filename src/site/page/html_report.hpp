// A report as one self-contained HTML file.
#pragma once

#include <string>

#include "base/result.hpp"

namespace goban::site::page {

/// Success if this program can write HTML reports. Errors: Failed if it was built without
/// GOBAN_WEB.
[[nodiscard]] base::Status html_available();

/// Inserts a document of report_document() into the page and writes it; the file appears complete
/// or not at all. Errors: as html_available(); Failed if it cannot be written.
[[nodiscard]] base::Status write_html(const std::string& path, const std::string& document);

}  // namespace goban::site::page
