#!/bin/bash
#$ -N bert -cwd -j y
#$-l rt_G.small=1 -l h_rt=1:00:00
#$ -pe smp 8 -t 1-10:2 -tc 2 -hold_jid 3,4 -v A=1 -V
#$ -o log/$JOB_ID.$TASK_ID -g grp -p -5
python train.py
