#!/bin/bash
#PBS -N bert -q rt_HF -P group
#PBS -l select=2:ncpus=8:ngpus=4:mem=64gb,walltime=10:00
#PBS -W depend=afterok:3 -J 0-3 -j oe -o out.^array_index^
mpirun ./train
