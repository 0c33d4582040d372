#include "study/history/generate/philly/facts.hpp"

#include <utility>

namespace goban::study::history::generate::philly {
namespace {

/// The trace has integer seconds: a value of at most t was at most t + 1/2 before rounding.
RunTimeRow measured(int32_t gpus_max, DurationFacts facts) {
  for (CdfPoint& point : facts.points) point.seconds += 0.5;
  return {gpus_max, std::move(facts)};
}

}  // namespace

const std::array<RunTimeRow, kNumRunTimeRows>& run_time_rows() {
  static const std::array<RunTimeRow, kNumRunTimeRows> rows = {{
      measured(1, {1,
                   5'199'751,
                   17'621.5,
                   138'020.2,
                   {{20, .0501},
                    {40, .1015},
                    {74, .252},
                    {299, .356},
                    {800, .5},
                    {2'612, .7501},
                    {12'151, .9},
                    {39'539, .95},
                    {363'986, .99}}}),
      measured(2, {2,
                   5'065'230,
                   46'776.3,
                   184'745.4,
                   {{10, .0553},
                    {13, .1048},
                    {19, .2643},
                    {55, .5001},
                    {299, .6114},
                    {5'022, .7502},
                    {103'594, .9001},
                    {293'987, .9502},
                    {645'646, .9901}}}),
      measured(4, {1,
                   5'150'116,
                   41'793.7,
                   169'343.9,
                   {{25, .0528},
                    {39, .1023},
                    {83, .2504},
                    {299, .4539},
                    {559, .5},
                    {15'083, .75},
                    {93'292, .9001},
                    {191'950, .9501},
                    {710'072, .99}}}),
      measured(8, {1,
                   4'721'782,
                   61'098.0,
                   210'689.9,
                   {{18, .0509},
                    {33, .1006},
                    {64, .2505},
                    {299, .3758},
                    {1'474, .5},
                    {22'044, .75},
                    {161'708, .9},
                    {313'915, .95},
                    {927'988, .9901}}}),
      measured(128, {1,
                     1'714'243,
                     33'550.2,
                     119'314.8,
                     {{28, .0501},
                      {41, .1002},
                      {76, .252},
                      {299, .3876},
                      {1'236, .5004},
                      {14'400, .7504},
                      {73'379, .9002},
                      {174'641, .9503},
                      {610'200, .9902}}}),
  }};
  return rows;
}

}  // namespace goban::study::history::generate::philly
