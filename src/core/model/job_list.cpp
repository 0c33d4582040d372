#include "core/model/job_list.hpp"

#include <algorithm>
#include <bit>

namespace goban::core::model {
namespace {

uint64_t hash_of(const JobRequest& kind) {
  const auto pair = [](uint32_t a, uint32_t b) { return uint64_t{a} << 32 | b; };
  uint64_t hash = pair(kind.model.value, static_cast<uint32_t>(kind.num_gpus)) * 0x9e3779b97f4a7c15;
  hash ^= pair(kind.account.value, kind.partition.value) * 0xbf58476d1ce4e5b9;
  hash ^= pair(kind.array.value, kind.qos.value) * 0x94d049bb133111eb;
  hash ^= pair(kind.app.value, kind.reservation.value) * 0xd6e8feb86659fd93;
  hash ^=
      pair(kind.resource_type.value, static_cast<uint32_t>(kind.instances)) * 0xa0761d6478bd642f;
  hash ^=
      pair(static_cast<uint32_t>(kind.priority), kind.app_class.value + (kind.stays ? 256U : 0U)) *
      0xe7037ed1a0b428db;
  return hash ^ hash >> 32;
}

}  // namespace

JobList::Row JobList::row_of(const Job& job) {
  JobRequest kind = job.request;
  kind.submit_ns = 0;
  kind.walltime_limit_ns = 0;
  kind.user = {};
  return {job.request.submit_ns, job.request.walltime_limit_ns, job.work_s, kind_of(kind),
          job.request.user};
}

uint32_t JobList::kind_of(const JobRequest& kind) {
  if (kinds_.size() * 2 >= places_.size()) {
    places_.assign(std::max<size_t>(64, std::bit_ceil(kinds_.size() * 4)), 0);
    for (size_t i = 0; i < kinds_.size(); ++i) {
      size_t at = hash_of(kinds_[i]) & (places_.size() - 1);
      while (places_[at] != 0) at = (at + 1) & (places_.size() - 1);
      places_[at] = static_cast<uint32_t>(i + 1);
    }
  }
  size_t at = hash_of(kind) & (places_.size() - 1);
  for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1)) {
    if (kinds_[places_[at] - 1] == kind) return places_[at] - 1;
  }
  kinds_.push_back(kind);
  places_[at] = static_cast<uint32_t>(kinds_.size());
  return places_[at] - 1;
}

}  // namespace goban::core::model
