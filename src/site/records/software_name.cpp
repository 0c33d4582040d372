#include "site/records/software_name.hpp"

namespace goban::site::records {
namespace {

bool is_path(std::string_view name) {
  for (const std::string_view begin : {"/", "./", "../", "~"}) {
    if (name.starts_with(begin)) return true;
  }
  const size_t scheme = name.find(":/");
  if (scheme == name.npos) return false;
  return name.substr(scheme, 3) != "://" || name.substr(0, scheme) == "file";
}

}  // namespace

std::string_view without_folders(std::string_view name) {
  if (!is_path(name)) return name;
  while (name.ends_with('/')) name.remove_suffix(1);
  const size_t slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

}  // namespace goban::site::records
