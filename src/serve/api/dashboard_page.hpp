// The dashboard: the page of web/ with what it must know of this daemon.
#pragma once

#include <string>

namespace goban::serve::api {

struct DashboardFacts {
  std::string version{};  ///< of the program
  std::string policy{};   ///< that decides, as it was named
  bool what_if = false;   ///< POST /v1/whatif is answered
};

/// The whole HTML page; it talks to the server it came from, and loads nothing else. A program that
/// was built without GOBAN_WEB has a page that says so.
[[nodiscard]] std::string dashboard_page(const DashboardFacts& facts);

}  // namespace goban::serve::api
