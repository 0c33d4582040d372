#include "bench/sacct_file.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

#include "base/date_time.hpp"

namespace goban::bench {
namespace {

constexpr int64_t kFirst = 1'554'076'800;  // 2019-04-01
constexpr int64_t kYear = int64_t{365} * 86400;

std::string stamp(int64_t unix_s) {
  std::string text = base::date_time_text(unix_s * base::kSecond);
  text[10] = 'T';
  return text;
}

/// GPU-seconds and jobs by user and partition.
using Groups = std::unordered_map<std::string, std::pair<int64_t, int64_t>>;

}  // namespace

void write_sacct(const std::string& path, int64_t jobs) {
  std::mt19937_64 random(1);
  std::ofstream out(path, std::ios::binary);
  out << "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|User|Submit|Eligible|Start|End|"
         "ElapsedRaw|ExitCode|State|NNodes|NCPUS|ReqMem|AllocTRES|TimelimitRaw|NodeList|JobName\n";
  for (int64_t i = 0; i < jobs; ++i) {
    const int64_t submit = kFirst + i * kYear / jobs;
    const int64_t start = submit + static_cast<int64_t>(random() % 3600);
    const int64_t run = static_cast<int64_t>(random() % 20000);
    const auto user = random() % 5 == 0 ? 0 : random() % 1000;
    const auto gpus = 1 + random() % 8;
    const std::string from = stamp(submit);
    out << fmt::format(
        "{0}|{0}|abci|gpu{1}|normal|acc{2}|grp|user{3}|{4}|{4}|{5}|{6}|{7}|0:0|{8}|1|{9}|64G|"
        "billing={9},cpu={9},gres/gpu={10},gres/gpu:v100={10},mem=64G,node=1|4320|g{11:04}|train\n",
        i + 1, user % 3, user % 120, user, from, stamp(start), stamp(start + run), run,
        random() % 9 == 0 ? "FAILED" : "COMPLETED", gpus * 5, gpus, random() % 1088);
  }
}

size_t floor_group_sacct(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY);
  const auto bytes = static_cast<size_t>(std::filesystem::file_size(path));
  auto* const data = static_cast<char*>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0));
  const char* at = static_cast<char*>(std::memchr(data, '\n', bytes)) + 1;
  const char* const end = data + bytes;
  Groups groups;
  std::array<std::string_view, 22> fields;
  const auto number = [](std::string_view text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  std::string key;
  while (at < end) {
    const char* const line_end =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    for (size_t i = 0; i + 1 < fields.size(); ++i) {
      const char* const bar =
          static_cast<const char*>(std::memchr(at, '|', static_cast<size_t>(line_end - at)));
      fields[i] = {at, static_cast<size_t>(bar - at)};
      at = bar + 1;
    }
    at = line_end + 1;
    const size_t gpu = fields[18].find("gres/gpu=");
    key.assign(fields[7]);
    key += '|';
    key += fields[3];
    auto& group = groups[key];
    ++group.first;
    group.second += number(fields[12]) * number(fields[18].substr(gpu + 9));
  }
  munmap(data, bytes);
  close(file);
  return groups.size();
}

}  // namespace goban::bench
