#include "report/report_page.hpp"

#ifdef GOBAN_WEB
extern "C" {
// Defined by cmake/report_page.S.
extern const char goban_report_page[];
extern const char goban_report_page_end[];
}
#endif

namespace goban::report {

std::string_view report_page() {
#ifdef GOBAN_WEB
  return {goban_report_page, goban_report_page_end};
#else
  return {};
#endif
}

}  // namespace goban::report
