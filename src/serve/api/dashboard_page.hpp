// The dashboard: the page of web/ with the facts about this daemon that it needs.
#pragma once

#include <string>

namespace goban::serve::api {

struct DashboardFacts {
  std::string version{};  ///< of the program
  std::string policy{};   ///< the active policy, as configured
  bool what_if = false;   ///< whether POST /v1/whatif is available
};

/// The complete HTML page. It connects only to the server that it was loaded from. A program built
/// without GOBAN_WEB returns a page that states this.
[[nodiscard]] std::string dashboard_page(const DashboardFacts& facts);

}  // namespace goban::serve::api
