#include "train/comm/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace goban::train::comm {
namespace {

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bf16(float value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <typename T>
T combine(Reduction reduction, T a, T b) {
  switch (reduction) {
    case Reduction::Sum:
      return static_cast<T>(a + b);
    // NaN propagates, so that every rank sees it.
    case Reduction::Max:
      return (b > a || is_nan(b)) ? b : a;
    case Reduction::Min:
      return (b < a || is_nan(b)) ? b : a;
  }
  return a;
}

template <typename T>
void reduce_typed(Reduction reduction, const std::vector<const std::byte*>& sources, std::byte* out,
                  size_t count) {
  auto* target = reinterpret_cast<T*>(out);
  std::memcpy(out, sources[0], count * sizeof(T));
  for (size_t s = 1; s < sources.size(); ++s) {
    const auto* source = reinterpret_cast<const T*>(sources[s]);
    if (reduction == Reduction::Sum) {
      for (size_t i = 0; i < count; ++i) target[i] = static_cast<T>(target[i] + source[i]);
    } else {
      for (size_t i = 0; i < count; ++i) target[i] = combine(reduction, target[i], source[i]);
    }
  }
}

void reduce_bf16(Reduction reduction, const std::vector<const std::byte*>& sources, std::byte* out,
                 size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float value = from_bf16(reinterpret_cast<const uint16_t*>(sources[0])[i]);
    for (size_t s = 1; s < sources.size(); ++s) {
      value =
          combine(reduction, value, from_bf16(reinterpret_cast<const uint16_t*>(sources[s])[i]));
    }
    reinterpret_cast<uint16_t*>(out)[i] = to_bf16(value);
  }
}

}  // namespace

void reduce_in_order(Element element, Reduction reduction,
                     const std::vector<const std::byte*>& sources, std::byte* out, size_t count) {
  if (count == 0) return;
  switch (element) {
    case Element::F32:
      return reduce_typed<float>(reduction, sources, out, count);
    case Element::F64:
      return reduce_typed<double>(reduction, sources, out, count);
    case Element::I64:
      return reduce_typed<int64_t>(reduction, sources, out, count);
    case Element::U8:
      return reduce_typed<uint8_t>(reduction, sources, out, count);
    case Element::BF16:
      return reduce_bf16(reduction, sources, out, count);
  }
}

}  // namespace goban::train::comm
