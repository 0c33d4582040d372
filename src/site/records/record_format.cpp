#include "site/records/record_format.hpp"

#include <algorithm>
#include <array>

namespace goban::site::records {

std::span<const RecordFormat> record_formats() {
  // generic is last: it accepts any header with a column `user`.
  static const std::array formats = {kSlurm,          kGridEngine,  kSwf,         kKubernetes,
                                     kPhillyJson,     kAlibabaPai,  kRecordsCsv,  kPalCsv,
                                     kPhillyAttempts, kPhillySia,   kChronus,     kLumos,
                                     kLumosIntervals, kOpenb,       kHelios,      kAcme,
                                     kItpRaw,         kElasticflow, kAlibabaSpot, kAlibabaDlrm,
                                     kGavelTrace,     kGenericCsv};
  return formats;
}

std::string list_record_formats() {
  std::string text;
  for (const RecordFormat& format : record_formats()) {
    if (!text.empty()) text += ", ";
    text += format.name;
  }
  return text;
}

std::optional<size_t> find_column(const Header& header, std::string_view name) {
  const auto found = std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<size_t>(found - header.begin());
}

}  // namespace goban::site::records
