#include "site/page/report_page.hpp"

#ifdef GOBAN_WEB
extern "C" {
// Defined by cmake/report_page.S.
extern const char kReportPage[];
extern const char kReportPageEnd[];
}
#endif

namespace goban::site::page {

std::string_view report_page() {
#ifdef GOBAN_WEB
  return {kReportPage, kReportPageEnd};
#else
  return {};
#endif
}

}  // namespace goban::site::page
