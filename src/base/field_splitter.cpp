#include "base/field_splitter.hpp"

#include <algorithm>

namespace goban::base {

bool FieldSplitter::split(std::string_view line) {
  fields_.clear();
  if (line.find('"') != line.npos) return split_quoted(line);
  const char* begin = line.data();
  const char* const end = begin + line.size();
  for (const char* at = begin; at != end; ++at) {
    if (*at != ',') continue;
    fields_.emplace_back(begin, static_cast<size_t>(at - begin));
    begin = at + 1;
  }
  fields_.emplace_back(begin, static_cast<size_t>(end - begin));
  return true;
}

void FieldSplitter::split_blanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  fields_.clear();
  size_t begin = line.find_first_not_of(kBlanks);
  while (begin != line.npos) {
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields_.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
}

bool FieldSplitter::split_quoted(std::string_view line) {
  unquoted_.clear();
  unquoted_.reserve(line.size());  // views below stay valid
  size_t at = 0;
  while (true) {
    if (at < line.size() && line[at] == '"') {
      const size_t begin = unquoted_.size();
      ++at;
      while (true) {
        const size_t quote = line.find('"', at);
        if (quote == line.npos) return false;
        unquoted_.append(line.substr(at, quote - at));
        at = quote + 1;
        if (at == line.size() || line[at] != '"') break;
        unquoted_ += '"';
        ++at;
      }
      fields_.push_back(std::string_view(unquoted_).substr(begin));
      if (at < line.size() && line[at] != ',') return false;
    } else {
      const size_t comma = std::min(line.find(',', at), line.size());
      fields_.push_back(line.substr(at, comma - at));
      at = comma;
    }
    if (at == line.size()) return true;
    ++at;  // the comma
  }
}

}  // namespace goban::base
