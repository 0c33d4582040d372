#include "site/records/slurm_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/number.hpp"

namespace goban::site::records {
namespace {

/// Removes digits from the front; nothing if there are none or too many.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<int64_t> whole_number(std::string_view text) {
  const auto value = take_number(text);
  return text.empty() ? value : std::nullopt;
}

/// True for digits. A count that Slurm did not set is 2^32 - 2 or 2^64 - 2, which is too large for
/// its number: such a count is unknown, not an error.
bool is_count(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Exponent of 1024 of K, M, G, T, P; -1 for any other character.
int unit_power(char unit) {
  constexpr std::string_view kUnits = "BKMGTPE";
  const char upper = unit >= 'a' ? static_cast<char>(unit - 'a' + 'A') : unit;
  const size_t at = kUnits.find(upper);
  return at == kUnits.npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::optional<SlurmJobId> parse_slurm_job_id(std::string_view text) {
  SlurmJobId id;
  // sacct shortens long lists of tasks: `7_[1,3-5...]`.
  const size_t list = text.find("_[");
  const size_t dot = text.find('.', list == text.npos ? 0 : std::min(text.find(']'), text.size()));
  id.job = text.substr(0, dot);
  if (dot != text.npos) id.step = text.substr(dot + 1);
  std::string_view rest = id.job;
  const auto number = take_number(rest);
  if (!number || (dot != text.npos && id.step.empty())) return std::nullopt;
  id.number = *number;
  if (rest.empty()) return id;
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == '_' && rest.starts_with('[') && rest.ends_with(']')) return id;
  const auto part = whole_number(rest);
  if (!part || *part > INT32_MAX || (kind != '_' && kind != '+')) return std::nullopt;
  if (kind == '_') {
    id.array_task = *part;
  } else {
    id.het_part = static_cast<int32_t>(*part);
  }
  return id;
}

bool is_array_rest(std::string_view id) {
  return id.ends_with(']') && id.find("_[") != std::string_view::npos;
}

bool is_task_of_rest(int64_t task, std::string_view id) {
  if (!is_array_rest(id)) return false;
  std::string_view list = id.substr(id.find("_[") + 2);
  list = list.substr(0, list.find_first_of("%]"));
  while (!list.empty()) {
    std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(range.size() + 1, list.size()));
    const auto first = take_number(range);
    if (!first) continue;  // `...`: sacct truncates long lists
    std::optional<int64_t> last = first;
    std::optional<int64_t> step = 1;
    if (range.starts_with('-')) {
      range.remove_prefix(1);
      last = take_number(range);
    }
    if (range.starts_with(':')) step = whole_number(range.substr(1));
    if (!last || !step || *step < 1 || task < *first || task > *last) continue;
    if ((task - *first) % *step == 0) return true;
  }
  return false;
}

std::optional<base::TimeNs> parse_slurm_span(std::string_view text) {
  constexpr auto kSecondsMax = static_cast<int64_t>(base::kMaxSeconds);
  std::array<int64_t, 4> parts{};  // days, hours, minutes, seconds
  int64_t fraction_ns = 0;
  if (const size_t point = text.find('.'); point != text.npos) {
    int64_t digit_ns = base::kSecond;
    for (const char c : text.substr(point + 1)) {
      if (c < '0' || c > '9') return std::nullopt;
      digit_ns /= 10;
      fraction_ns += digit_ns * (c - '0');
    }
    text = text.substr(0, point);
  }
  const size_t dash = text.find('-');
  if (dash != text.npos) {
    const auto days = whole_number(text.substr(0, dash));
    if (!days) return std::nullopt;
    parts[0] = *days;
    text.remove_prefix(dash + 1);
  }
  std::array<int64_t, 3> clock{};
  size_t count = 0;
  while (true) {
    const auto value = take_number(text);
    if (!value || *value > kSecondsMax || count == clock.size()) return std::nullopt;
    clock[count++] = *value;
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  // With days the first number is hours; otherwise the last one is seconds.
  const size_t first = dash != text.npos ? 1 : 4 - count;
  for (size_t i = 0; i < count; ++i) parts[first + i] = clock[i];
  if (parts[0] > kSecondsMax / 86'400) return std::nullopt;
  const int64_t total = parts[0] * 86'400 + parts[1] * 3600 + parts[2] * 60 + parts[3];
  if (parts[1] > kSecondsMax / 3600 || parts[2] > kSecondsMax / 60 || total > kSecondsMax) {
    return std::nullopt;
  }
  return total * base::kSecond + fraction_ns;
}

std::optional<int64_t> parse_slurm_bytes(std::string_view text, char unit) {
  int power = unit_power(unit);
  if (!text.empty() && unit_power(text.back()) >= 0) {
    power = unit_power(text.back());
    text.remove_suffix(1);
  }
  if (power < 0) return std::nullopt;
  if (const auto whole = whole_number(text)) {
    constexpr int64_t kMost = int64_t{1} << 62;
    return *whole > kMost >> (10 * power) ? std::nullopt : std::optional(*whole << (10 * power));
  }
  const auto value = base::parse_double(text);
  const double bytes = value.value_or(-1) * static_cast<double>(int64_t{1} << (10 * power));
  if (!(bytes >= 0 && bytes < 4e18)) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::optional<SlurmExit> parse_slurm_exit(std::string_view text) {
  const std::string_view code = text.substr(0, text.find(':'));
  const auto part = [](std::string_view digits) -> std::optional<int32_t> {
    if (!is_count(digits)) return std::nullopt;
    const auto number = whole_number(digits);
    return number && *number <= INT32_MAX ? static_cast<int32_t>(*number) : -1;
  };
  const auto code_number = part(code);
  if (!code_number) return std::nullopt;
  SlurmExit exit{.code = *code_number};
  if (code.size() == text.size()) return exit;
  const auto signal = part(text.substr(code.size() + 1));
  if (!signal) return std::nullopt;
  exit.signal = *signal;
  return exit;
}

bool is_mig_profile(std::string_view type) {
  // 1g.10gb, 2c.3g.20gb, a100_1g.5gb, mig-1g.10gb+me
  const size_t slice = type.find("g.");
  return slice != type.npos && slice > 0 && type[slice - 1] >= '0' && type[slice - 1] <= '9' &&
         type.find("gb", slice) != type.npos;
}

double mig_share(std::string_view type) {
  if (!is_mig_profile(type)) return 1;
  const size_t slice = type.find("g.");
  const std::string_view memory = type.substr(slice + 2);
  const bool is_a30 =
      memory.starts_with("6gb") || memory.starts_with("12gb") || memory.starts_with("24gb");
  // H100 PCIe and H200 profiles of 12 and 24 GB exist too: an A30 gives 6 GB to a slice.
  const int slices = type[slice - 1] - '0';
  const int mem_gb = memory.starts_with("6gb") ? 6 : memory.starts_with("12gb") ? 12 : 24;
  const double all = is_a30 && mem_gb == slices * 6 ? 4 : 7;
  // `2c.3g.20gb`: a compute instance of 2 of the 3 slices.
  const size_t compute = type.find("c.");
  const bool has_part = compute != type.npos && compute > 0 && compute < slice &&
                        type[compute - 1] > '0' && type[compute - 1] <= '9';
  return std::min(1.0, std::max(has_part ? type[compute - 1] - '0' : slices, 1) / all);
}

void SlurmTres::clear() {
  std::string kept = std::move(gpu_type);
  kept.clear();
  *this = SlurmTres{};
  gpu_type = std::move(kept);
}

namespace {

/// Sums typed GPUs separately from the untyped count.
struct GpuCounts {
  int64_t untyped = -1;
  int64_t typed = -1;
};

bool take_gpu_type(std::string_view type, int64_t count, SlurmTres& tres, GpuCounts& gpus) {
  if (count > INT32_MAX) return true;
  gpus.typed = std::min<int64_t>(std::max<int64_t>(gpus.typed, 0) + count, INT32_MAX);
  if (count == 0) return true;
  if (!tres.gpu_type.empty()) tres.gpu_type += '+';
  tres.gpu_type += type;
  tres.has_mig |= is_mig_profile(type);
  tres.held_gpus += static_cast<double>(count) * mig_share(type);
  return true;
}

std::string_view name_of_number(std::string_view key) {
  if (key == "1") return "cpu";
  if (key == "2") return "mem";
  if (key == "4") return "node";
  if (key == "1001") return "gres/gpu";
  return key;
}

bool take_item(std::string_view key, std::string_view value, SlurmTres& tres, GpuCounts& gpus) {
  if (!key.empty() && key[0] >= '0' && key[0] <= '9') key = name_of_number(key);
  const auto count = [value](int64_t& out) {
    const auto number = whole_number(value);
    if (number && *number <= INT32_MAX) out = *number;
    return number.has_value() || is_count(value);
  };
  const auto bytes = [value](int64_t& out, char unit) {
    const auto number = parse_slurm_bytes(value, unit);
    if (number) out = *number;
    return number.has_value() ||
           is_count(value.substr(0, value.find_last_not_of("BKMGTPEbkmgtpe") + 1));
  };
  if (key == "cpu") return count(tres.cpus) || parse_slurm_span(value).has_value();
  if (key == "mem") return bytes(tres.mem_bytes, 'M');
  if (key == "node") return count(tres.nodes);
  if (key == "fs/disk") return bytes(tres.disk_bytes, 'B');
  if (!key.starts_with("gres/")) return true;
  key.remove_prefix(5);
  if (key == "gpu") return count(gpus.untyped);
  if (key.starts_with("gpu:")) {
    const auto number = whole_number(value);
    if (!number) return is_count(value);
    return take_gpu_type(key.substr(4), *number, tres, gpus);
  }
  if (key == "shard" || key == "mps") return count(tres.gpu_shards);
  if (key == "gpumem") return bytes(tres.gpu_mem_bytes, 'B');
  if (key != "gpuutil") return true;
  const auto util = base::parse_double(value);
  if (util) tres.gpu_util_pct = static_cast<float>(std::clamp(*util, 0.0, 1e9));
  return util.has_value();
}

}  // namespace

bool parse_slurm_tres(std::string_view text, SlurmTres& tres) {
  tres.clear();
  GpuCounts gpus;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == item.npos) return false;
    if (!take_item(item.substr(0, equals), item.substr(equals + 1), tres, gpus)) return false;
  }
  tres.gpus = gpus.untyped >= 0 ? gpus.untyped : gpus.typed;
  tres.held_gpus +=
      static_cast<double>(std::max<int64_t>(tres.gpus - std::max<int64_t>(gpus.typed, 0), 0));
  return true;
}

int64_t parse_slurm_gres_gpus(std::string_view text) {
  int64_t gpus = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.starts_with("gres:") || item.starts_with("gres/")) item.remove_prefix(5);
    item = item.substr(0, item.find('('));
    if (item != "gpu" && !item.starts_with("gpu:")) continue;
    const size_t colon = item.rfind(':');
    const auto count = colon == item.npos ? std::nullopt : whole_number(item.substr(colon + 1));
    gpus = std::min<int64_t>(gpus + count.value_or(1), INT32_MAX);
  }
  return gpus;
}

}  // namespace goban::site::records
