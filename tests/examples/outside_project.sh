#!/bin/bash
# Installs the mesh library into a separate folder, builds examples/mesh against it as a project
# independent of this repository, and trains with it: on threads and under mpirun.
# Arguments: cmake, build folder, example, compiler, mpirun.
set -eu
cmake=$1 build=$2 example=$3 compiler=$4 mpirun=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$cmake" --install "$build" --prefix "$work/prefix" --component mesh > "$work/log"
cp -r "$example" "$work/project" # nothing beside it to be found by accident
"$cmake" -S "$work/project" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release > "$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
"$cmake" --build "$work/build" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }

loss() { # of a step, in what the example printed
  sed -n "s/^$1 ranks, step $2, loss //p" "$work/said"
}
learned() { # ranks
  cat "$work/said"
  [ -n "$(loss "$1" 200)" ] || { echo "did not train on $1 ranks"; exit 1; }
  awk -v first="$(loss "$1" 0)" -v last="$(loss "$1" 200)" \
    'BEGIN { exit !(last < 0.9 * first) }' || { echo "did not learn on $1 ranks"; exit 1; }
}
"$work/build/own_model" > "$work/said"
learned 2
"$mpirun" -n 3 "$work/build/own_model" > "$work/said" 2>&1 && { echo "3 do not divide 256"; exit 1; }
grep -q "'batch' has 256 elements" "$work/said" || { cat "$work/said"; exit 1; }
"$mpirun" -n 4 "$work/build/own_model" > "$work/said"
learned 4
"$work/prefix/bin/goban-train" --help > /dev/null
