// The jobs of a history, of which there may be many millions.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "core/model/job.hpp"

namespace goban::core::model {

/// Jobs by JobId, in 32 bytes each: what jobs have in common (all of a request but its times and
/// its user) is kept once. Elements are returned by value; put() replaces one.
class JobList {
 public:
  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Job;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const JobList& jobs, size_t at) : jobs_(&jobs), at_(at) {}
    Job operator*() const { return (*jobs_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*jobs_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const JobList* jobs_ = nullptr;
    size_t at_ = 0;
  };

  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] Job operator[](size_t index) const {
    const Row& row = rows_[index];
    Job job{.request = kinds_[row.kind], .work_s = row.work_s};
    job.request.submit_ns = row.submit_ns;
    job.request.walltime_limit_ns = row.walltime_limit_ns;
    job.request.user = row.user;
    return job;
  }
  [[nodiscard]] Job at(size_t index) const {
    GOBAN_CHECK(index < size());
    return (*this)[index];
  }
  [[nodiscard]] Job front() const { return at(0); }
  [[nodiscard]] Job back() const { return at(size() - 1); }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  void push_back(const Job& job) { rows_.push_back(row_of(job)); }
  void put(size_t index, const Job& job) { rows_[index] = row_of(job); }
  /// Removes the last jobs, or appends jobs without work.
  void resize(size_t jobs) { rows_.resize(jobs, row_of({})); }
  void reserve(size_t jobs) { rows_.reserve(jobs); }
  /// The memory reserved for jobs, used or not.
  [[nodiscard]] std::span<std::byte> reserved() {
    return {reinterpret_cast<std::byte*>(rows_.data()), rows_.capacity() * sizeof(Row)};
  }

 private:
  struct Row {
    TimeNs submit_ns = 0;
    TimeNs walltime_limit_ns = 0;
    double work_s = 0;
    uint32_t kind = 0;  ///< index into kinds_
    UserId user;
  };

  [[nodiscard]] Row row_of(const Job& job);
  [[nodiscard]] uint32_t kind_of(const JobRequest& kind);

  std::vector<Row> rows_;
  std::vector<JobRequest> kinds_;  ///< without times and user
  std::vector<uint32_t> places_;   ///< hash table of kinds_: index + 1, 0 = empty
};

}  // namespace goban::core::model
