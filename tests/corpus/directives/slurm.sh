#!/bin/bash
#SBATCH -J bert -N 2 --gres=gpu:a100:4 -t 1-02:03:04 --mem=32G
#SBATCH --array=0-9%2 -d afterok:12:13 --signal=B:USR1@120
#SBATCH -o out-%A_%a.txt --export=ALL,A=b -w n1
srun python train.py
#SBATCH -N 3
