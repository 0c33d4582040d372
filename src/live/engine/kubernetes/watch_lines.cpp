#include "live/engine/kubernetes/watch_lines.hpp"

#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"

namespace goban::live::engine::kubernetes {

using nlohmann::json;

std::optional<WatchEvent> WatchLines::next() {
  const size_t end = rest_.find('\n', searched_);
  if (end == std::string::npos) {
    if (rest_.size() - begin_ > kLineMost) return WatchEvent{};
    rest_.erase(0, begin_);
    begin_ = 0;
    searched_ = rest_.size();
    return std::nullopt;
  }
  WatchEvent event = parse_watch_line(std::string_view(rest_).substr(begin_, end - begin_));
  begin_ = searched_ = end + 1;
  return event;
}

namespace {

/// The place behind a list that begins at `at`; npos: it has no end.
size_t end_of_list(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return at;
    if (c != '"') continue;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
    ++at;
  }
  return text.npos;
}

}  // namespace

std::string without_managed_fields(std::string_view text) {
  // In a string, the quotation mark behind the name would be behind a backslash.
  constexpr std::string_view kName = "\"managedFields\"";
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string out;
  out.reserve(text.size());
  size_t taken = 0;
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at)) {
    const bool is_in_string = at > 0 && text[at - 1] == '\\';
    at += kName.size();
    const size_t colon = text.find_first_not_of(kBlanks, at);
    if (is_in_string || colon == text.npos || text[colon] != ':') continue;
    const size_t begin = text.find_first_not_of(kBlanks, colon + 1);
    if (begin == text.npos || text[begin] != '[') continue;
    const size_t end = end_of_list(text, begin);
    if (end == text.npos) break;
    out += text.substr(taken, begin - taken);
    out += "[]";
    at = taken = end;
  }
  out += text.substr(taken);
  return out;
}

WatchEvent parse_watch_line(std::string_view line) {
  constexpr int kGone = 410;
  json document = json::parse(without_managed_fields(line), nullptr, false);
  if (base::find_member(document, "object") == nullptr) return {};
  WatchEvent event{.object = std::make_shared<const json>(std::move(document["object"]))};
  const std::string type = base::text_of(document, "type");
  if (type == "ERROR") {
    const json* code = base::find_member(*event.object, "code");
    const bool gone = code != nullptr && code->is_number_integer() && *code == kGone;
    if (gone || base::text_of(*event.object, "reason") == "Expired") {
      event.kind = WatchEvent::Kind::Expired;
    }
    return event;
  }
  if (const json* meta = base::find_member(*event.object, "metadata")) {
    event.version = base::text_of(*meta, "resourceVersion");
  }
  if (event.version.empty()) return {};
  if (type == "ADDED" || type == "MODIFIED") event.kind = WatchEvent::Kind::Set;
  if (type == "DELETED") event.kind = WatchEvent::Kind::Deleted;
  if (type == "BOOKMARK") event.kind = WatchEvent::Kind::Bookmark;
  return event;
}

std::optional<ListPage> parse_list_page(std::string_view text) {
  json document = json::parse(without_managed_fields(text), nullptr, false);
  if (!document.is_object()) return std::nullopt;
  ListPage page;
  if (const json* meta = base::find_member(document, "metadata")) {
    page.version = base::text_of(*meta, "resourceVersion");
    page.next = base::text_of(*meta, "continue");
  }
  const auto items = document.find("items");
  const bool has_items = items != document.end() && items->is_array();
  if (page.version.empty() || (!has_items && items != document.end() && !items->is_null())) {
    return std::nullopt;
  }
  page.items = std::make_shared<const json>(has_items ? std::move(*items) : json::array());
  return page;
}

}  // namespace goban::live::engine::kubernetes
