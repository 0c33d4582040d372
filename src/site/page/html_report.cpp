#include "site/page/html_report.hpp"

#include "base/check.hpp"
#include "base/output_file.hpp"
#include "site/page/report_page.hpp"

namespace goban::site::page {

base::Status html_available() {
  if (!report_page().empty()) return {};
  return base::failed("this goban was built without HTML reports",
                      "install npm and Node.js 18 or later (Debian: nodejs, npm) and build with "
                      "-DGOBAN_WEB=ON; --out and --json do not need it");
}

base::Status write_html(const std::string& path, const std::string& document) {
  if (base::Status status = html_available(); !status) return status;
  constexpr std::string_view kDataElement =
      "<script type=\"application/json\" id=\"goban-report\">";
  const std::string_view page = report_page();
  const size_t element = page.find(kDataElement);
  GOBAN_CHECK(element != std::string_view::npos, "the page has no element for the document");
  const size_t place = element + kDataElement.size();
  auto file = base::OutputFile::create(path);
  if (!file) return base::failure(file.error());
  for (const std::string_view part :
       {page.substr(0, place), std::string_view(document), page.substr(place)}) {
    file->buffer() += part;
    file->write_out();
  }
  return file->commit();
}

}  // namespace goban::site::page
