#include "train/comm/test_collectives.hpp"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace goban::train::comm {
namespace {

template <typename T>
std::span<std::byte> bytes(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

/// The i-th value that `rank` contributes.
double value_of(int rank, size_t i) { return (rank + 1) * 100.0 + static_cast<double>(i % 97); }

base::Status expect(bool right, std::string_view what) {
  if (right) return {};
  return base::failed(fmt::format("wrong result: {}", what));
}

template <typename T>
base::Status check_reductions(Communicator& end, const Group& group, Element element) {
  const size_t counts[] = {0, 1, 3, 1000};  // includes fewer elements than ranks, and uneven parts
  for (const size_t count : counts) {
    for (const Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
      std::vector<T> data(count), wanted(count);
      for (size_t i = 0; i < count; ++i) {
        data[i] = static_cast<T>(value_of(end.rank(), i));
        double sum = 0;
        for (const int rank : group.ranks) sum += value_of(rank, i);
        if (reduction == Reduction::Max) sum = value_of(group.ranks.back(), i);
        if (reduction == Reduction::Min) sum = value_of(group.ranks.front(), i);
        wanted[i] = static_cast<T>(sum);
      }
      if (auto s = end.all_reduce(group, bytes(data), element, reduction, "reduce"); !s) return s;
      if (auto s = expect(data == wanted, "all-reduce"); !s) return s;
    }
  }
  return {};
}

template <typename T>
base::Status check_nan(Communicator& end, const Group& group, Element element) {
  for (const Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
    for (const int odd : group.ranks) {
      std::vector<T> data(group.size() + 1, static_cast<T>(end.rank()));
      if (end.rank() == odd) data.back() = std::numeric_limits<T>::quiet_NaN();
      if (auto s = end.all_reduce(group, bytes(data), element, reduction, "NaN"); !s) return s;
      if (auto s = expect(std::isnan(data.back()), "all-reduce of a NaN"); !s) return s;
      if (auto s = expect(!std::isnan(data.front()), "all-reduce beside a NaN"); !s) return s;
    }
  }
  return {};
}

base::Status check_bf16(Communicator& end, const Group& group) {
  std::vector<uint16_t> ones(5, 0x3f80);  // 1.0
  if (auto s = end.all_reduce(group, bytes(ones), Element::BF16, Reduction::Sum, "bf16"); !s) {
    return s;
  }
  const auto sum = static_cast<float>(group.size());
  const auto wanted = static_cast<uint16_t>(std::bit_cast<uint32_t>(sum) >> 16);
  return expect(ones == std::vector<uint16_t>(5, wanted), "all-reduce of bf16");
}

base::Status check_moves(Communicator& end, const Group& group) {
  const size_t n = group.size(), me = group.index_of(end.rank());
  const size_t block = 3;
  std::vector<double> mine(block), all(block * n), send(block * n), received(block * n);
  for (size_t i = 0; i < block; ++i) mine[i] = value_of(end.rank(), i);
  for (size_t i = 0; i < send.size(); ++i) send[i] = value_of(end.rank(), i);
  if (auto s = end.all_gather(group, bytes(mine), bytes(all), "gather"); !s) return s;
  if (auto s = end.all_to_all(group, bytes(send), bytes(received), "transpose"); !s) return s;
  for (size_t r = 0; r < n; ++r) {
    for (size_t i = 0; i < block; ++i) {
      const int rank = group.ranks[r];
      if (auto s = expect(all[r * block + i] == value_of(rank, i), "all-gather"); !s) return s;
      if (auto s = expect(received[r * block + i] == value_of(rank, me * block + i), "all-to-all");
          !s) {
        return s;
      }
    }
  }
  std::vector<double> part(block);
  if (auto s = end.reduce_scatter(group, bytes(send), bytes(part), Element::F64, Reduction::Sum,
                                  "scatter");
      !s) {
    return s;
  }
  for (size_t i = 0; i < block; ++i) {
    double sum = 0;
    for (const int rank : group.ranks) sum += value_of(rank, me * block + i);
    if (auto s = expect(part[i] == sum, "reduce-scatter"); !s) return s;
  }
  std::vector<double> root(block, end.rank());
  if (auto s = end.broadcast(group, bytes(root), n - 1, "broadcast"); !s) return s;
  return expect(root == std::vector<double>(block, group.ranks[n - 1]), "broadcast");
}

base::Status check_shift(Communicator& end, const Group& group) {
  const size_t n = group.size(), me = group.index_of(end.rank());
  std::vector<double> mine = {value_of(end.rank(), 0)}, got = {-1};
  const std::optional<size_t> to = me + 1 < n ? std::optional(me + 1) : std::nullopt;
  const std::optional<size_t> from = me > 0 ? std::optional(me - 1) : std::nullopt;
  if (auto s = end.exchange(group, to, bytes(mine), from, bytes(got), "shift"); !s) return s;
  if (auto s = expect(got[0] == (me > 0 ? value_of(group.ranks[me - 1], 0) : -1.0), "shift"); !s) {
    return s;
  }
  auto s = end.exchange(group, (me + 1) % n, bytes(mine), (me + n - 1) % n, bytes(got), "wrap");
  if (!s) return s;
  return expect(got[0] == value_of(group.ranks[(me + n - 1) % n], 0), "shift with wrap");
}

base::Status check_group(Communicator& end, const Group& group) {
  if (auto s = check_reductions<float>(end, group, Element::F32); !s) return s;
  if (auto s = check_reductions<double>(end, group, Element::F64); !s) return s;
  if (auto s = check_reductions<int64_t>(end, group, Element::I64); !s) return s;
  if (auto s = check_bf16(end, group); !s) return s;
  if (auto s = check_moves(end, group); !s) return s;
  if (auto s = check_shift(end, group); !s) return s;
  return end.barrier(group, "end of checks");
}

}  // namespace

base::Status check_collectives(Communicator& end) {
  if (auto s = check_group(end, whole_world(end.size())); !s) return s;
  if (end.size() % 2 != 0) return {};
  const int columns = end.size() / 2;
  Group row, column;
  for (int c = 0; c < columns; ++c) row.ranks.push_back(end.rank() / columns * columns + c);
  for (int r = 0; r < 2; ++r) column.ranks.push_back(r * columns + end.rank() % columns);
  if (auto s = check_group(end, row); !s) return s;
  return check_group(end, column);
}

base::Status check_nan_wins(Communicator& end) {
  const Group all = whole_world(end.size());
  if (auto s = check_nan<float>(end, all, Element::F32); !s) return s;
  return check_nan<double>(end, all, Element::F64);
}

}  // namespace goban::train::comm
