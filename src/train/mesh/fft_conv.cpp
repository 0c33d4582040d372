#include "train/mesh/fft_conv.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numbers>
#include <vector>

#include "base/check.hpp"

// One object file for several CPUs: each uses the widest vectors it has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define GOBAN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define GOBAN_CLONES
#endif
#define GOBAN_INLINE inline __attribute__((always_inline))

namespace goban::train::mesh {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kLargest = 64;  // points of a transform in one direction
constexpr int64_t kTile = 4;      // images multiplied with a filter's spectrum at once
constexpr double kCostOfTransform =
    3;  // cost of one of our flops relative to one of a direct convolution

using V = float __attribute__((vector_size(kLanes * sizeof(float)), aligned(4)));

GOBAN_INLINE V& at_lane(float* p) { return *reinterpret_cast<V*>(p); }
GOBAN_INLINE const V& at_lane(const float* p) { return *reinterpret_cast<const V*>(p); }

/// exp(-2 pi i k / kLargest).
struct Roots {
  float re[kLargest], im[kLargest];
  Roots() {
    for (int64_t k = 0; k < kLargest; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / kLargest;
      re[k] = static_cast<float>(std::cos(angle));
      im[k] = static_cast<float>(std::sin(angle));
    }
  }
};
const Roots& roots() {
  static const Roots all;
  return all;
}

/// The position of an image in a period: the size of the transform, the size of the image, and its
/// first row and column (modulo the period).
struct Frame {
  int64_t rows, columns;            // of the transform; powers of two
  int64_t height, width;            // of the image
  int64_t first_row, first_column;  // in the period, not negative
  [[nodiscard]] int64_t half() const { return columns / 2 + 1; }
  [[nodiscard]] int64_t bins() const { return half() * rows; }
  [[nodiscard]] int64_t row(int64_t i) const { return (first_row + i) & (rows - 1); }
  [[nodiscard]] int64_t column(int64_t i) const { return (first_column + i) & (columns - 1); }
};

/// Real and imaginary parts of kLargest points, twice: a pass reads one half and writes the other.
struct Points {
  V re[2][kLargest], im[2][kLargest];
};

/// Radix-4 passes over the first half of `p`. The inverse transform (times n) is the same with `re`
/// and `im` exchanged. Returns the half of `p` that contains the result.
template <bool Inverse>
GOBAN_INLINE int transform(Points& p, int64_t points, const Roots& root) {
  int from = 0;
  int64_t n = points, stride = 1;
  while (n >= 4) {
    const V* re = Inverse ? p.im[from] : p.re[from];
    const V* im = Inverse ? p.re[from] : p.im[from];
    V* to_re = Inverse ? p.im[1 - from] : p.re[1 - from];
    V* to_im = Inverse ? p.re[1 - from] : p.im[1 - from];
    const int64_t m = n / 4, step = kLargest / n;
    for (int64_t j = 0; j < m; ++j) {
      const float r1 = root.re[j * step], i1 = root.im[j * step];
      const float r2 = root.re[2 * j * step], i2 = root.im[2 * j * step];
      const float r3 = root.re[3 * j * step], i3 = root.im[3 * j * step];
      for (int64_t q = 0; q < stride; ++q) {
        const int64_t a = q + stride * j, b = a + stride * m, c = b + stride * m,
                      d = c + stride * m;
        const V sum_r = re[a] + re[c], sum_i = im[a] + im[c];
        const V gap_r = re[a] - re[c], gap_i = im[a] - im[c];
        const V cross_r = re[b] + re[d], cross_i = im[b] + im[d];
        const V turn_r = im[d] - im[b], turn_i = re[b] - re[d];  // i (b - d)
        const int64_t out = q + stride * 4 * j;
        to_re[out] = sum_r + cross_r;
        to_im[out] = sum_i + cross_i;
        const V x1 = gap_r - turn_r, y1 = gap_i - turn_i;
        to_re[out + stride] = x1 * r1 - y1 * i1;
        to_im[out + stride] = x1 * i1 + y1 * r1;
        const V x2 = sum_r - cross_r, y2 = sum_i - cross_i;
        to_re[out + 2 * stride] = x2 * r2 - y2 * i2;
        to_im[out + 2 * stride] = x2 * i2 + y2 * r2;
        const V x3 = gap_r + turn_r, y3 = gap_i + turn_i;
        to_re[out + 3 * stride] = x3 * r3 - y3 * i3;
        to_im[out + 3 * stride] = x3 * i3 + y3 * r3;
      }
    }
    from = 1 - from;
    n /= 4;
    stride *= 4;
  }
  if (n == 2) {
    for (int64_t q = 0; q < stride; ++q) {
      for (V(*part)[kLargest] : {p.re, p.im}) {
        part[1 - from][q] = part[from][q] + part[from][q + stride];
        part[1 - from][q + stride] = part[from][q] - part[from][q + stride];
      }
    }
    from = 1 - from;
  }
  return from;
}

/// Working memory of one thread for one two-dimensional transform.
struct Scratch {
  Points points;
  V re[(kLargest / 2 + 1) * kLargest], im[(kLargest / 2 + 1) * kLargest];
};

/// The spectra of sixteen real images. Pixel (h, w) is at image + (h * f.width + w) * pixel_step;
/// bin b has its real part at out + b * bin_step and its imaginary part `imaginary` later.
GOBAN_CLONES void forward(const Frame& f, const float* image, int64_t pixel_step, float* out,
                          int64_t bin_step, int64_t imaginary, Scratch& scratch) {
  const Roots& root = roots();
  Points& p = scratch.points;
  const int64_t half = f.half();
  // Two real rows are transformed at once, as one complex row.
  for (int64_t h = 0; h < f.height; h += 2) {
    std::memset(p.re[0], 0, sizeof(V) * static_cast<size_t>(f.columns));
    std::memset(p.im[0], 0, sizeof(V) * static_cast<size_t>(f.columns));
    const bool second = h + 1 < f.height;
    for (int64_t w = 0; w < f.width; ++w) {
      const int64_t to = f.column(w);
      p.re[0][to] = at_lane(image + (h * f.width + w) * pixel_step);
      if (second) p.im[0][to] = at_lane(image + ((h + 1) * f.width + w) * pixel_step);
    }
    const int at = transform<false>(p, f.columns, root);
    for (int64_t k = 0; k < half; ++k) {
      const int64_t mirror = (f.columns - k) & (f.columns - 1);
      const V a = p.re[at][k], b = p.im[at][k], c = p.re[at][mirror], d = p.im[at][mirror];
      const int64_t to = k * f.height + h;
      scratch.re[to] = (a + c) * 0.5F;
      scratch.im[to] = (b - d) * 0.5F;
      if (!second) continue;
      scratch.re[to + 1] = (b + d) * 0.5F;
      scratch.im[to + 1] = (c - a) * 0.5F;
    }
  }
  for (int64_t k = 0; k < half; ++k) {
    std::memset(p.re[0], 0, sizeof(V) * static_cast<size_t>(f.rows));
    std::memset(p.im[0], 0, sizeof(V) * static_cast<size_t>(f.rows));
    for (int64_t h = 0; h < f.height; ++h) {
      p.re[0][f.row(h)] = scratch.re[k * f.height + h];
      p.im[0][f.row(h)] = scratch.im[k * f.height + h];
    }
    const int at = transform<false>(p, f.rows, root);
    float* to = out + k * f.rows * bin_step;
    for (int64_t u = 0; u < f.rows; ++u) {
      at_lane(to + u * bin_step) = p.re[at][u];
      at_lane(to + u * bin_step + imaginary) = p.im[at][u];
    }
  }
}

/// The inverse transform: the pixels of the frame, times `scale`.
GOBAN_CLONES void inverse(const Frame& f, const float* spectrum, int64_t bin_step,
                          int64_t imaginary, float* image, int64_t pixel_step, float scale,
                          Scratch& scratch) {
  const Roots& root = roots();
  Points& p = scratch.points;
  const int64_t half = f.half();
  for (int64_t k = 0; k < half; ++k) {
    const float* from = spectrum + k * f.rows * bin_step;
    for (int64_t u = 0; u < f.rows; ++u) {
      p.re[0][u] = at_lane(from + u * bin_step);
      p.im[0][u] = at_lane(from + u * bin_step + imaginary);
    }
    const int at = transform<true>(p, f.rows, root);
    for (int64_t h = 0; h < f.height; ++h) {
      scratch.re[k * f.height + h] = p.re[at][f.row(h)];
      scratch.im[k * f.height + h] = p.im[at][f.row(h)];
    }
  }
  for (int64_t h = 0; h < f.height; h += 2) {
    const bool second = h + 1 < f.height;
    for (int64_t k = 0; k < half; ++k) {
      const int64_t at = k * f.height + h, mirror = (f.columns - k) & (f.columns - 1);
      const V a = scratch.re[at], b = scratch.im[at];
      const V c = second ? scratch.re[at + 1] : V{}, d = second ? scratch.im[at + 1] : V{};
      // The mirrored bin is written first: if it is the same bin, the second write is the correct
      // one.
      p.re[0][mirror] = a + d;
      p.im[0][mirror] = c - b;
      p.re[0][k] = a - d;
      p.im[0][k] = b + c;
    }
    const int at = transform<true>(p, f.columns, root);
    for (int64_t w = 0; w < f.width; ++w) {
      const int64_t from = f.column(w);
      at_lane(image + (h * f.width + w) * pixel_step) = p.re[at][from] * scale;
      if (!second) continue;
      at_lane(image + ((h + 1) * f.width + w) * pixel_step) = p.im[at][from] * scale;
    }
  }
}

/// Channels of a product of spectra. A bin of an image is [2, channels]; of a filter [in, 2, out].
struct Channels {
  int64_t bins, in, out;
  [[nodiscard]] int64_t image_in() const { return bins * 2 * in; }
  [[nodiscard]] int64_t image_out() const { return bins * 2 * out; }
  [[nodiscard]] int64_t filter() const { return bins * 2 * in * out; }
};

/// y = x times the conjugate of the filter's spectrum, for T images.
template <int T>
GOBAN_INLINE void multiply(const Channels& c, const float* x, const float* filter, float* y) {
  for (int64_t bin = 0; bin < c.bins; ++bin) {
    const float* in = x + bin * 2 * c.in;
    for (int64_t o = 0; o < c.out; o += kLanes) {
      V re[T]{}, im[T]{};
      const float* w = filter + bin * 2 * c.in * c.out + o;
      for (int64_t i = 0; i < c.in; ++i, w += 2 * c.out) {
        const V w_re = at_lane(w), w_im = at_lane(w + c.out);
        for (int t = 0; t < T; ++t) {
          const float x_re = in[t * c.image_in() + i], x_im = in[t * c.image_in() + c.in + i];
          re[t] += x_re * w_re;
          im[t] += x_im * w_re;
          re[t] += x_im * w_im;
          im[t] -= x_re * w_im;
        }
      }
      for (int t = 0; t < T; ++t) {
        float* out = y + t * c.image_out() + bin * 2 * c.out + o;
        at_lane(out) = re[t];
        at_lane(out + c.out) = im[t];
      }
    }
  }
}

GOBAN_CLONES void multiply_images(const Channels& c, int64_t images, const float* x,
                                  const float* filter, float* y) {
  static_assert(kTile == 4);
  switch (images) {
    case 4:
      return multiply<4>(c, x, filter, y);
    case 3:
      return multiply<3>(c, x, filter, y);
    case 2:
      return multiply<2>(c, x, filter, y);
    default:
      return multiply<1>(c, x, filter, y);
  }
}

/// filter += x times the conjugate of dy's spectrum, summed over images.
GOBAN_CLONES void correlate_images(const Channels& c, int64_t images, const float* x,
                                   const float* dy, float* filter) {
  constexpr int64_t kRows = 8;  // input channels whose sums stay in registers
  for (int64_t bin = 0; bin < c.bins; ++bin) {
    for (int64_t o = 0; o < c.out; o += kLanes) {
      for (int64_t first = 0; first < c.in; first += kRows) {
        V re[kRows], im[kRows];
        float* w = filter + bin * 2 * c.in * c.out + first * 2 * c.out + o;
        for (int64_t i = 0; i < kRows; ++i) {
          re[i] = at_lane(w + i * 2 * c.out);
          im[i] = at_lane(w + i * 2 * c.out + c.out);
        }
        for (int64_t t = 0; t < images; ++t) {
          const float* g = dy + t * c.image_out() + bin * 2 * c.out + o;
          const V g_re = at_lane(g), g_im = at_lane(g + c.out);
          const float* in = x + t * c.image_in() + bin * 2 * c.in + first;
          for (int64_t i = 0; i < kRows; ++i) {
            const float x_re = in[i], x_im = in[c.in + i];
            re[i] += x_re * g_re;
            im[i] += x_im * g_re;
            re[i] += x_im * g_im;
            im[i] -= x_re * g_im;
          }
        }
        for (int64_t i = 0; i < kRows; ++i) {
          at_lane(w + i * 2 * c.out) = re[i];
          at_lane(w + i * 2 * c.out + c.out) = im[i];
        }
      }
    }
  }
}

int64_t period(int64_t size, int64_t pad) {
  return std::max<int64_t>(4,
                           static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size + pad))));
}

/// Frames of images, results and filter. Position k of the filter is at k - pad.
struct Frames {
  Frame image, result, filter;
  explicit Frames(const ConvSizes& s) {
    const int64_t rows = period(s.height, s.pad_h), columns = period(s.width, s.pad_w);
    image = {rows, columns, s.height, s.width, 0, 0};
    result = {rows, columns, s.out_height(), s.out_width(), 0, 0};
    filter = {rows,
              columns,
              s.filter_h,
              s.filter_w,
              (rows - s.pad_h) & (rows - 1),
              (columns - s.pad_w) & (columns - 1)};
  }
  [[nodiscard]] float scale() const {
    return 1.0F / static_cast<float>(image.rows * image.columns);
  }
};

/// The spectra of `count` consecutive images with `channels` channels.
void transform_images(const Frame& frame, const float* images, int64_t count, int64_t channels,
                      float* spectra, Scratch& scratch) {
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t c = 0; c < channels; c += kLanes) {
      forward(frame, images + t * frame.height * frame.width * channels + c, channels,
              spectra + t * frame.bins() * 2 * channels + c, 2 * channels, channels, scratch);
    }
  }
}

at::Tensor buffer(int64_t floats) { return at::empty({floats}, at::kFloat); }

/// Per-thread working memory; too large for the stack.
Scratch& scratch_of_thread() {
  thread_local const std::unique_ptr<Scratch> scratch = std::make_unique<Scratch>();
  return *scratch;
}

}  // namespace

bool fft_conv_pays(const ConvSizes& s, at::ScalarType type) {
  if (type != at::kFloat || s.in % kLanes != 0 || s.out % kLanes != 0) return false;
  if (s.images == 0 || s.out_height() < 1 || s.out_width() < 1) return false;
  const int64_t rows = period(s.height, s.pad_h), columns = period(s.width, s.pad_w);
  if (rows > kLargest || columns > kLargest || s.filter_h > rows || s.filter_w > columns ||
      s.out_height() > rows || s.out_width() > columns) {
    return false;
  }
  const auto product = [](auto... factors) { return (static_cast<double>(factors) * ...); };
  const double points = product(rows, columns);
  const double direct =
      product(2, s.images, s.out_height(), s.out_width(), s.filter_h, s.filter_w, s.in, s.out);
  const double transforms = product(2.5, points) * std::log2(points) *
                            (product(s.images, s.in + s.out) + product(s.in, s.out));
  return direct > kCostOfTransform * (transforms + product(4, points, s.images, s.in, s.out));
}

at::Tensor fft_conv(const ConvSizes& s, const at::Tensor& x, const at::Tensor& filter) {
  GOBAN_CHECK(x.is_contiguous() && filter.is_contiguous(), "fft_conv: strides");
  const Frames frames(s);
  const Channels c{frames.image.bins(), s.in, s.out};
  const at::Tensor kernel = buffer(c.filter());
  auto* const kernel_data = kernel.data_ptr<float>();
  const float* const filter_data = filter.data_ptr<float>();
  const at::Tensor y = at::empty({s.images, s.out_height(), s.out_width(), s.out}, x.options());
  const float* const x_data = x.data_ptr<float>();
  auto* const y_data = y.data_ptr<float>();
  at::parallel_for(0, s.in, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t o = 0; o < s.out; o += kLanes) {
        forward(frames.filter, filter_data + i * s.out + o, s.in * s.out,
                kernel_data + i * 2 * s.out + o, 2 * s.in * s.out, s.out, scratch_of_thread());
      }
    }
  });
  const int64_t tiles = (s.images + kTile - 1) / kTile;
  at::parallel_for(0, tiles, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor in = buffer(kTile * c.image_in()), out = buffer(kTile * c.image_out());
    auto* const in_data = in.data_ptr<float>();
    auto* const out_data = out.data_ptr<float>();
    Scratch& scratch = scratch_of_thread();
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTile, count = std::min(kTile, s.images - first);
      transform_images(frames.image, x_data + first * s.height * s.width * s.in, count, s.in,
                       in_data, scratch);
      multiply_images(c, count, in_data, kernel_data, out_data);
      const int64_t pixels = s.out_height() * s.out_width();
      for (int64_t t = 0; t < count; ++t) {
        for (int64_t o = 0; o < s.out; o += kLanes) {
          inverse(frames.result, out_data + t * c.image_out() + o, 2 * s.out, s.out,
                  y_data + (first + t) * pixels * s.out + o, s.out, frames.scale(), scratch);
        }
      }
    }
  });
  return y;
}

at::Tensor fft_conv_filter(const ConvSizes& s, const at::Tensor& dy, const at::Tensor& x) {
  GOBAN_CHECK(x.is_contiguous() && dy.is_contiguous(), "fft_conv_filter: strides");
  constexpr int64_t kImages = 2 * kTile;
  const Frames frames(s);
  const Channels c{frames.image.bins(), s.in, s.out};
  const float* const x_data = x.data_ptr<float>();
  const float* const dy_data = dy.data_ptr<float>();
  // Sums per thread, added in order: the same number of threads gives the same bits.
  const int64_t tiles = (s.images + kImages - 1) / kImages;
  const int64_t parts = std::clamp<int64_t>(at::get_num_threads(), 1, tiles);
  const at::Tensor sums = at::zeros({parts, c.filter()}, at::kFloat);
  at::parallel_for(0, parts, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor in = buffer(kImages * c.image_in()), out = buffer(kImages * c.image_out());
    Scratch& scratch = scratch_of_thread();
    for (int64_t part = begin; part < end; ++part) {
      for (int64_t tile = tiles * part / parts; tile < tiles * (part + 1) / parts; ++tile) {
        const int64_t first = tile * kImages, count = std::min(kImages, s.images - first);
        transform_images(frames.image, x_data + first * s.height * s.width * s.in, count, s.in,
                         in.data_ptr<float>(), scratch);
        transform_images(frames.result, dy_data + first * s.out_height() * s.out_width() * s.out,
                         count, s.out, out.data_ptr<float>(), scratch);
        correlate_images(c, count, in.data_ptr<float>(), out.data_ptr<float>(),
                         sums.data_ptr<float>() + part * c.filter());
      }
    }
  });
  at::Tensor sum = sums[0];
  for (int64_t part = 1; part < parts; ++part) sum.add_(sums[part]);
  const at::Tensor filter = at::empty({s.filter_h, s.filter_w, s.in, s.out}, x.options());
  const float* const sum_data = sum.data_ptr<float>();
  auto* const filter_data = filter.data_ptr<float>();
  at::parallel_for(0, s.in, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t o = 0; o < s.out; o += kLanes) {
        inverse(frames.filter, sum_data + i * 2 * s.out + o, 2 * s.in * s.out, s.out,
                filter_data + i * s.out + o, s.in * s.out, frames.scale(), scratch_of_thread());
      }
    }
  });
  return filter;
}

}  // namespace goban::train::mesh
