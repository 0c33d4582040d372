#include "live/journal/journal_text.hpp"

#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.hpp"
#include "base/file_checksum.hpp"

namespace goban::live::journal {
namespace {

using Json = nlohmann::json;

constexpr size_t kCrcDigits = 8;

struct Line {
  LineNumber number{};
  std::string_view record{};
  size_t bytes = 0;  ///< with the line break
};

/// Removes a number in its shortest form and the character after it from the text.
std::optional<uint64_t> take_number(std::string_view& text, char behind) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc{} || digits == text.size() || *end != behind) return {};
  if (digits > 1 && text.front() == '0') return {};
  text.remove_prefix(digits + 1);
  return value;
}

/// The line at the beginning of `text`, if it is intact; `any_end`: its line break may be wrong.
std::optional<Line> read_line(std::string_view text, bool any_end = false) {
  if (text.size() <= kCrcDigits || text[kCrcDigits] != ' ') return {};
  std::string_view rest = text.substr(kCrcDigits + 1);
  const auto length = take_number(rest, ' ');
  const auto commit = length ? take_number(rest, '.') : std::nullopt;
  const auto index = commit ? take_number(rest, ' ') : std::nullopt;
  if (!index || *length >= rest.size()) return {};
  if (!any_end && rest[*length] != '\n') return {};
  const auto head = static_cast<size_t>(rest.data() - text.data());
  const size_t bytes = head + *length + 1;
  const std::string_view sealed = text.substr(kCrcDigits + 1, bytes - kCrcDigits - 2);
  if (fmt::format("{:08x}", base::crc32_of(sealed)) != text.substr(0, kCrcDigits)) return {};
  return Line{.number = {*commit, *index}, .record = rest.substr(0, *length), .bytes = bytes};
}

/// The first intact line after the damaged one at the beginning of `text`, and its offset.
std::optional<Line> next_whole(std::string_view text, size_t& at) {
  if (const auto unended = read_line(text, true)) {
    at = unended->bytes;
    if (const auto line = read_line(text.substr(at))) return line;
  }
  for (at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    if (const auto line = read_line(text.substr(++at))) return line;
  }
  return {};
}

/// Whether a line may directly follow the line `last`.
bool follows(LineNumber number, LineNumber last) {
  if (number.commit == last.commit) return number.index == last.index + 1 && last.commit > 0;
  return number.commit == last.commit + 1 && number.index == 0;
}

tl::unexpected<base::Error> broken(const std::string& file, size_t at, std::string_view what) {
  return base::bad_data({.file = file, .line = 0, .column = 0, .field = fmt::format("byte {}", at)},
                        std::string(what),
                        "nothing was changed; restore the folder from a backup, or move it away to "
                        "start without jobs");
}

/// Errors: BadData unless all that follows the damaged line at `at` can be the remains of one
/// commit interrupted by a crash, whose lines need not reach the disk in order.
base::Status check_tail(std::string_view text, size_t at, LineNumber last,
                        const std::string& file) {
  const size_t first_broken = at;
  std::optional<uint64_t> unconfirmed;
  for (size_t skipped = 0;; at += skipped) {
    const auto line = next_whole(text.substr(at), skipped);
    if (!line) return {};
    if (!unconfirmed) {
      const bool same = line->number.commit == last.commit && last.commit > 0;
      const bool next = line->number.commit == last.commit + 1 && line->number.index > 0;
      if (!same && !next) break;
      unconfirmed = line->number.commit;
    } else if (*unconfirmed != line->number.commit) {
      break;
    }
  }
  return broken(file, first_broken, "a record is damaged, and intact records follow it");
}

}  // namespace

std::string to_text(const JournalHeader& header) {
  Json json{{"goban", header.kind},
            {"version", header.version},
            {"build", header.build},
            {"epoch", header.generation.epoch},
            {"generation", header.generation.number}};
  if (header.before.epoch > 0) {
    json["before"] = {{"epoch", header.before.epoch},
                      {"generation", header.before.number},
                      {"repeats", header.repeats}};
  }
  for (const MadeWith& each : header.made_with) {
    json["made_with"].push_back({{"from", each.from}, {"facts", each.facts}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<JournalHeader> parse_header(std::string_view text, const std::string& file) {
  const base::Place place{.file = file, .line = 1, .column = 0, .field = {}};
  const auto number = [](const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  const auto name = [](const Json& json, const char* field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || name(json, "goban").empty() || number(json, "version") == 0) {
    return base::bad_data(place, "this is not a goban journal");
  }
  JournalHeader header;
  header.kind = name(json, "goban");
  header.build = name(json, "build");
  const uint64_t version = number(json, "version");
  if (version > JournalHeader::kVersion) {
    return base::bad_data(
        place,
        fmt::format("the format has version {} (goban {}); this release reads up to {}", version,
                    header.build, JournalHeader::kVersion),
        "use that release or a newer one");
  }
  header.version = static_cast<int>(version);
  header.generation = {number(json, "epoch"), number(json, "generation")};
  if (const auto before = json.find("before"); before != json.end() && before->is_object()) {
    header.before = {number(*before, "epoch"), number(*before, "generation")};
    const auto repeats = before->find("repeats");
    header.repeats = repeats != before->end() && repeats->is_boolean() && repeats->get<bool>();
  }
  if (const auto list = json.find("made_with"); list != json.end() && list->is_array()) {
    for (const Json& each : *list) {
      if (!each.is_object()) return base::bad_data(place, "made_with contains an invalid entry");
      MadeWith& made = header.made_with.emplace_back();
      made.from = number(each, "from");
      const auto facts = each.find("facts");
      if (facts == each.end() || !facts->is_object()) continue;
      for (const auto& [key, value] : facts->items()) {
        if (value.is_string()) made.facts[key] = value.get<std::string>();
      }
    }
  }
  return header;
}

void append_line(std::string& out, LineNumber number, std::string_view record) {
  GOBAN_CHECK(record.find('\n') == std::string_view::npos, "a record with a line break");
  const size_t begin = out.size();
  out.append(kCrcDigits, '0');
  fmt::format_to(std::back_inserter(out), " {} {}.{} {}", record.size(), number.commit,
                 number.index, record);
  const auto crc = base::crc32_of(std::string_view(out).substr(begin + kCrcDigits + 1));
  out.replace(begin, kCrcDigits, fmt::format("{:08x}", crc));
  out += '\n';
}

base::Result<JournalLines> read_journal_text(std::string_view text, const std::string& file) {
  JournalLines lines;
  const auto first = read_line(text);
  if (!first || first->number != LineNumber{}) return broken(file, 0, "the first line is damaged");
  auto header = parse_header(first->record, file);
  if (!header) return tl::unexpected(std::move(header.error()));
  lines.header = std::move(*header);
  lines.header_bytes = lines.good_bytes = first->bytes;
  LineNumber last;
  while (lines.good_bytes < text.size()) {
    const auto line = read_line(text.substr(lines.good_bytes));
    if (!line) {
      if (auto status = check_tail(text, lines.good_bytes, last, file); !status) {
        return tl::unexpected(std::move(status.error()));
      }
      break;
    }
    if (!follows(line->number, last)) {
      return broken(file, lines.good_bytes, "records before this one are missing");
    }
    last = line->number;
    lines.records.push_back(line->record);
    lines.good_bytes += line->bytes;
  }
  lines.last_commit = last.commit;
  return lines;
}

}  // namespace goban::live::journal
