# What tests of goban-train under mpirun have in common: their first two arguments, a folder that goes
# with them, and ranks that share this machine's cores, as root, too. To be sourced.
set -u
train=$1 mpirun=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
