#include "train/data/shard_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::train::data {
namespace {

constexpr size_t kMostPaths = 1'000'000;
constexpr int kDeepest = 16;

using Paths = std::vector<std::string>;

base::Result<std::string> with_variables(std::string_view text, const Lookup& variable) {
  constexpr int kRounds = 10;  // as in WebDataset: values may name variables
  std::string out(text);
  for (int round = 0; round < kRounds; ++round) {
    const size_t begin = out.find("${");
    if (begin == std::string::npos) return out;
    std::string next;
    size_t at = 0;
    for (size_t open = begin; open != std::string::npos; open = out.find("${", at)) {
      const size_t close = out.find('}', open);
      if (close == std::string::npos) {
        return base::usage_error(
            fmt::format("the list of shards '{}' has '${{' without '}}'", text));
      }
      const std::string name = "WDS_" + out.substr(open + 2, close - open - 2);
      const auto value = variable(name);
      if (!value) {
        return base::usage_error(
            fmt::format("the list of shards '{}' needs the environment variable {}", text, name),
            "export it");
      }
      next.append(out, at, open - at).append(*value);
      at = close + 1;
    }
    out = next.append(out, at);
  }
  return base::usage_error(fmt::format("the variables in '{}' name each other", text));
}

/// The closing brace of the one at `open`, and the commas of its level; npos if there is none.
size_t closing(std::string_view text, size_t open, std::vector<size_t>& commas) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == ',' && depth == 1) commas.push_back(i);
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// The numbers of "000..011" or "8..2" as texts; empty if `text` is no range.
Paths counted(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string_view first = text.substr(0, dots), last = text.substr(dots + 2);
  const auto from = base::parse_int(first), to = base::parse_int(last);
  if (!from || !to || *from < 0 || *to < 0) return {};
  const bool padded = (first.size() > 1 && first[0] == '0') || (last.size() > 1 && last[0] == '0');
  const size_t width = padded ? std::max(first.size(), last.size()) : 0;
  const int64_t step = *from <= *to ? 1 : -1;
  Paths out;
  for (int64_t i = *from; out.size() <= kMostPaths; i += step) {
    out.push_back(fmt::format("{:0{}}", i, width));
    if (i == *to) break;
  }
  return out;
}

base::Status expand(std::string_view text, Paths& out, int depth) {
  const auto bad = [&](const char* why) {
    return base::usage_error(fmt::format("the list of shards '{}' {}", text, why));
  };
  const size_t open = text.find('{');
  if (open == std::string_view::npos) {
    if (text.find('}') != std::string_view::npos) return bad("has '}' without '{'");
    out.emplace_back(text);
    return out.size() <= kMostPaths ? base::Status{} : bad("has more than a million paths");
  }
  std::vector<size_t> commas;
  const size_t close = closing(text, open, commas);
  if (close == std::string_view::npos) return bad("has '{' without '}'");
  if (depth > kDeepest) {
    return bad("has too many braces: more than 16 inside each other or side by side");
  }
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  Paths choices;
  if (commas.empty()) {
    choices = counted(inside);
    if (choices.empty()) return bad("has braces that are neither a range {0..9} nor a list {a,b}");
  } else {
    size_t begin = open + 1;
    commas.push_back(close);
    for (const size_t comma : commas) {
      if (auto s = expand(text.substr(begin, comma - begin), choices, depth + 1); !s) return s;
      begin = comma + 1;
    }
  }
  Paths rests;
  if (auto s = expand(text.substr(close + 1), rests, depth + 1); !s) return s;
  if (out.size() + choices.size() * rests.size() > kMostPaths) {
    return bad("has more than a million paths");
  }
  for (const std::string& choice : choices) {
    for (const std::string& rest : rests) {
      out.push_back(fmt::format("{}{}{}", text.substr(0, open), choice, rest));
    }
  }
  return {};
}

}  // namespace

base::Result<Paths> expand_shards(std::string_view text, const Lookup& variable) {
  Paths out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find("::", begin), text.size());
    const auto part = with_variables(text.substr(begin, end - begin), variable);
    if (!part) return base::failure(part.error());
    if (part->empty()) {
      return base::usage_error(fmt::format("the list of shards '{}' has an empty part", text));
    }
    if (auto s = expand(*part, out, 0); !s) return base::failure(s.error());
    begin = end + 2;
  }
  return out;
}

base::Result<Paths> expand_shards(std::string_view text) {
  return expand_shards(text, [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace goban::train::data
