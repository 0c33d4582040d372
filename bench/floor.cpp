#include "bench/floor.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <queue>
#include <vector>

namespace goban::bench {
namespace {

struct FloorJob {
  long id;
  long submit;
  long duration;
  long gpus;
};

std::vector<FloorJob> parse(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return {};
  std::string text;
  std::fseek(file, 0, SEEK_END);
  text.resize(static_cast<size_t>(std::ftell(file)));
  std::fseek(file, 0, SEEK_SET);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  std::vector<FloorJob> jobs;
  const char* at = text.data() + text.find('\n') + 1;
  const char* end = text.data() + text.size();
  while (at < end) {
    FloorJob job{};
    for (long* field : {&job.id, &job.submit, &job.duration, &job.gpus}) {
      at = std::from_chars(at, end, *field).ptr + 1;
    }
    while (at < end && *at != '\n') ++at;
    ++at;
    jobs.push_back(job);
  }
  return jobs;
}

struct Finish {
  long time;
  size_t job;
  bool operator>(const Finish& other) const { return time > other.time; }
};

/// Free GPUs of every node, and the GPUs of each job as (node, count).
class FreeCounts {
 public:
  FreeCounts(long nodes, long gpus_per_node, size_t jobs)
      : free_(static_cast<size_t>(nodes), gpus_per_node),
        total_(nodes * gpus_per_node),
        taken_(nodes > 1 ? jobs : 0) {}

  [[nodiscard]] long total() const { return total_; }

  void take(size_t job, long gpus) {
    total_ -= gpus;
    if (free_.size() == 1) return;
    size_t best = free_.size();
    for (size_t node = 0; node < free_.size(); ++node) {
      if (free_[node] >= gpus && (best == free_.size() || free_[node] < free_[best])) best = node;
    }
    if (best < free_.size()) {
      take_from(job, best, gpus);
      return;
    }
    while (gpus > 0) {
      const auto fullest = std::max_element(free_.begin(), free_.end());
      const long part = std::min(gpus, *fullest);
      take_from(job, static_cast<size_t>(fullest - free_.begin()), part);
      gpus -= part;
    }
  }

  void give(size_t job, long gpus) {
    total_ += gpus;
    if (free_.size() == 1) return;
    for (const auto& [node, count] : taken_[job]) free_[node] += count;
    taken_[job] = {};
  }

 private:
  void take_from(size_t job, size_t node, long count) {
    free_[node] -= count;
    taken_[job].emplace_back(node, count);
  }

  std::vector<long> free_;
  long total_;
  std::vector<std::vector<std::pair<size_t, long>>> taken_;
};

}  // namespace

double floor_simulate(const std::string& jobs_csv, long nodes, long gpus_per_node,
                      const std::string& out_csv) {
  const std::vector<FloorJob> jobs = parse(jobs_csv);
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes;
  FreeCounts counts(nodes, gpus_per_node, jobs.size());
  std::FILE* file = std::fopen(out_csv.c_str(), "wb");
  std::string out = "job_id,submit_s,start_s,finish_s\n";
  long now = 0;
  double jct_sum = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const FloorJob& job = jobs[i];
    now = std::max(now, job.submit);
    while (!finishes.empty() && (finishes.top().time <= now || counts.total() < job.gpus)) {
      now = std::max(now, finishes.top().time);
      counts.give(finishes.top().job, jobs[finishes.top().job].gpus);
      finishes.pop();
    }
    counts.take(i, job.gpus);
    finishes.push({now + job.duration, i});
    jct_sum += static_cast<double>(now + job.duration - job.submit);
    for (const long value : {job.id, job.submit, now, now + job.duration}) {
      char digits[24];
      out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
      out += ',';
    }
    out.back() = '\n';
    if (out.size() > 1 << 20) {
      std::fwrite(out.data(), 1, out.size(), file);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), file);
  std::fclose(file);
  return jobs.empty() ? 0 : jct_sum / static_cast<double>(jobs.size());
}

}  // namespace goban::bench
