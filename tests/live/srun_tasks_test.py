"""srun within a job: tasks, their variables, GPUs, files and ends. What is expected is what Slurm 22.05.8 did with the
same lines, except where a comment says otherwise.

    srun_tasks_test.py PYTHON_FOLDER
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, FOLDER)

from goban_shims import hosts, options  # noqa: E402


class Step:
    def __init__(self, *words, stdin=None, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "GOBAN", "RANK", "WORLD"))}
        environment = dict(
            kept, SLURM_JOB_ID="7", GOBAN_RUN_KEY=f"test {os.getpid()}", SLURM_JOB_NODELIST="here", SLURMD_NODENAME="here",
            CUDA_VISIBLE_DEVICES="0,1,2,3", NVIDIA_VISIBLE_DEVICES="4,5,6,7", GOBAN_GPUS="4,5,6,7", GOBAN_GPU_UUIDS="a,b,c,d",
            SLURM_JOB_GPUS="4,5,6,7", **variables)
        self.process = subprocess.Popen(
            [sys.executable, f"{FOLDER}/goban_slurm.py", "srun", *words], env=environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL)
        self.input = stdin

    def end(self):
        """Output, errors, exit code."""
        out, err = self.process.communicate(self.input, timeout=60)
        return out, err, self.process.returncode


def step(*words, **how):
    return Step(*words, **how).end()


def lines(*words, **how):
    out, err, code = step(*words, **how)
    assert code == 0, (words, err)
    return sorted(out.splitlines())


class Tasks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def test_every_task_knows_its_rank(self):
        text = "echo $SLURM_PROCID $SLURM_LOCALID $SLURM_NTASKS $SLURM_NPROCS $SLURM_STEP_NUM_TASKS $SLURM_TASKS_PER_NODE"
        self.assertEqual(lines("-n", "3", "sh", "-c", text), [f"{rank} {rank} 3 3 3 3" for rank in range(3)])
        self.assertEqual(lines("sh", "-c", text, SLURM_NTASKS="2"), ["0 0 2 2 2 2", "1 1 2 2 2 2"])
        self.assertEqual(lines("--ntasks-per-node=2", "sh", "-c", "echo $SLURM_PROCID"), ["0", "1"])
        self.assertEqual(lines("-n1", "--ntasks-per-node=2", "-l", "echo", "x"), ["0: x"])

    def test_pytorch_finds_its_rank(self):
        text = "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE"
        both = ["0 2 0 2", "1 2 1 2"]
        self.assertEqual(lines("-n2", "sh", "-c", text), both)
        of_job = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"}
        self.assertEqual(lines("-n2", "sh", "-c", text, **of_job), both)
        self.assertEqual(lines("-n2", "sh", "-c", "echo $WORLD_SIZE", WORLD_SIZE="16"), ["16", "16"], "the script's own stays")
        self.assertEqual(lines("-n1", "sh", "-c", "echo [$RANK]"), ["[]"], "a launcher may follow, as with Slurm")

    def test_each_task_sees_its_gpus(self):
        text = "echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS $GOBAN_GPU_UUIDS $NVIDIA_VISIBLE_DEVICES $SLURM_GPUS_ON_NODE"
        each = ["0 4 a 4 1", "1 5 b 5 1"]
        for words in (["--gpus-per-task=1"], ["--gpu-bind=single:1", "--gpus=2"], ["--gpus=2", "--gpus-per-task=1"]):
            self.assertEqual(lines("-n2", *words, "sh", "-c", text), each, words)
        self.assertEqual(lines("-n2", "sh", "-c", text, SLURM_GPUS_PER_TASK="1"), each)
        self.assertEqual(lines("--gpus=2", "--gpus-per-task=1", "sh", "-c", text), each)
        self.assertEqual(lines("-n2", "--gres=gpu:2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"), ["0,1", "0,1"])
        self.assertEqual(lines("sh", "-c", "echo $CUDA_VISIBLE_DEVICES"), ["0,1,2,3"])
        self.assertEqual(lines("--gpus=0", "sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]"), ["[]"])
        _, err, code = step("--gres=gpu:5", "true")
        self.assertEqual(code, 1)
        self.assertIn("Invalid generic resource (gres) specification", err)

    def test_steps_at_once_have_different_gpus(self):
        text = "echo $CUDA_VISIBLE_DEVICES; until [ -e go ]; do sleep 0.05; done"
        first, second = (Step("--gres=gpu:2", "sh", "-c", text) for _ in range(2))
        seen = {step.process.stdout.readline() for step in (first, second)}
        self.assertEqual(seen, {"0,1\n", "2,3\n"})
        third = Step("--gpus=1", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
        self.assertIn("step creation temporarily disabled", third.process.stderr.readline())
        open("go", "w").close()
        self.assertEqual([each.end()[2] for each in (first, second, third)], [0, 0, 0])

    def test_the_exit_code_is_the_highest(self):
        _, err, code = step("-n2", "sh", "-c", "exit $((SLURM_PROCID * 3 + 2))")
        self.assertEqual(code, 5)
        self.assertIn("task 0: Exited with exit code 2", err)
        self.assertEqual(step("-n2", "sh", "-c", "kill -9 $$")[2], 137)
        self.assertEqual(step("-n2", "sh", "-c", "kill -TERM $$")[2], 143)
        self.assertEqual(step("nonexistent-program")[2], 2)
        self.assertEqual(step("-N", "2", "hostname")[2], 1)
        self.assertEqual(step("--bogus", "hostname")[2], 255)

    def test_one_failure_ends_the_others_if_asked(self):
        # Slurm returns 143 here, the code of the tasks that it killed.
        for words, variables in ((["-K"], {}), (["--kill-on-bad-exit=1"], {}), ([], {"SLURM_KILL_BAD_EXIT": "1"})):
            began = time.monotonic()
            code = step("-n3", *words, "sh", "-c", "[ $SLURM_PROCID = 1 ] && exit 7; sleep 300", **variables)[2]
            self.assertEqual(code, 7, words)
            self.assertLess(time.monotonic() - began, 120)
        text = ("trap 'exit 200' TERM; [ $SLURM_PROCID = 0 ] && touch caught; until [ -e caught ]; do sleep 0.1; done; "
                "[ $SLURM_PROCID = 1 ] && exit 7; while :; do sleep 0.1; done")
        self.assertEqual(step("-n2", "-K", "sh", "-c", text)[2], 7, "the other one catches the signal")
        self.assertEqual(step("-n2", "--wait=1", "sh", "-c", "[ $SLURM_PROCID = 1 ] || sleep 300")[2], 0)
        self.assertEqual(step("-n2", "-K0", "sh", "-c", "[ $SLURM_PROCID = 1 ] && exit 7; sleep 0.5; echo done")[0], "done\n")

    def test_interrupts_and_limits_end_the_tasks(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            running = Step("-n2", sys.executable, "-c", "import time; print(1, flush=True); time.sleep(300)")
            for _ in range(2):
                running.process.stdout.readline()
            running.process.send_signal(number)
            self.assertIn(running.end()[2], (code, 0) if number == signal.SIGTERM else (code,))
        _, err, code = step("-n2", "-t", "0:01", "sleep", "300")
        self.assertEqual(code, 143)
        self.assertIn("TIME LIMIT", err)

    def test_labels_and_input(self):
        self.assertEqual(lines("-n2", "-l", "sh", "-c", "echo hi; printf end"), ["0: end", "0: hi", "1: end", "1: hi"])
        self.assertIn(" 3: x", lines("-n12", "--label", "echo", "x"))
        self.assertEqual(lines("-n2", "-l", "cat", stdin="in\n"), ["0: in", "1: in"])
        self.assertEqual(step("-l", "head", "-c", "3000000", "/dev/zero")[0].count("0: "), 3, "a line without an end is not kept whole")
        self.assertEqual(lines("-n1", "cat", stdin="in\n"), ["in"])

    def test_files_have_the_patterns_of_slurm(self):
        lines("-n2", "-o", "o_%j_%2t.txt", "sh", "-c", "echo $SLURM_PROCID; echo error >&2")
        for rank in range(2):
            with open(f"o_7_0{rank}.txt") as file:
                self.assertEqual(file.read(), f"{rank}\nerror\n")
        lines("-n2", "-o", "o.txt", "-e", "e_%t.txt", "sh", "-c", "echo out; echo error >&2")
        with open("o.txt") as out, open("e_1.txt") as err:
            self.assertEqual((out.read(), err.read()), ("out\nout\n", "error\n"))
        lines("--open-mode=append", "-o", "o.txt", "echo", "more")
        with open("o.txt") as out:
            self.assertEqual(out.read(), "out\nout\nmore\n")
        with open("in.txt", "w") as out:
            out.write("text")
        self.assertEqual(step("-n2", "-i", "in.txt", "cat")[0], "texttext")
        self.assertEqual(step("-o", "nowhere/x", "true")[2], 1)
        with open("in.0", "w") as out:
            out.write("text")
        self.assertEqual(step("-n2", "-i", "in.%t", "touch", "begun")[2], 1, "there is no in.1")
        self.assertFalse(os.path.exists("begun"), "no task is left behind")

    def test_programs_by_task(self):
        with open("programs", "w") as out:
            out.write("# comment\n0 echo zero %t %o\n1-2 echo 'more of' %t %o\n")
        self.assertEqual(lines("-n3", "-l", "--multi-prog", "programs"), ["0: zero 0 0", "1: more of 1 0", "2: more of 2 1"])
        self.assertEqual(step("-n4", "--multi-prog", "programs")[2], 1)

    def test_variables_by_export(self):
        text = "echo $FOO $MINE $SLURM_PROCID"
        self.assertEqual(lines("--export=ALL,FOO=1", "sh", "-c", text, MINE="m"), ["1 m 0"])
        self.assertEqual(lines("--export=FOO=1", "sh", "-c", text, MINE="m"), ["1 0"])
        self.assertEqual(lines("--export=NONE", "sh", "-c", text, MINE="m"), ["0"])
        self.assertEqual(lines("--export=MINE", "sh", "-c", text, MINE="m"), ["m 0"])

    def test_what_has_no_effect_is_named(self):
        for word in ("--mem=1G", "--cpu-bind=cores", "--mpi=pmix", "--hint=nomultithread", "--distribution=block"):
            self.assertIn(word.split("=")[0], step(word, "true")[1])
        for word in ("--exact", "--overlap", "--unbuffered", "-Q", "--exclusive"):
            self.assertEqual(step(word, "true")[1], "")
        for word in ("--bcast=/tmp/x", "--jobid=8", "--nodelist=other", "--uid=0"):
            self.assertEqual(step(word, "true")[2], 1, word)


class Lists(unittest.TestCase):
    def test_scontrol_names_what_it_cannot_read(self):
        for words, says in ((["jobid=7", "nice=much"], "'much' is not a number for Nice"), (["jobid=", "nice=5"], "name the job")):
            done = subprocess.run([sys.executable, f"{FOLDER}/goban_slurm.py", "scontrol", "update", *words], text=True,
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertTrue(done.stderr.startswith(f"scontrol: error: {says}"), done.stderr)

    def test_host_lists(self):
        for text, names in (("a[1-3,07-09],b", "a1 a2 a3 a07 a08 a09 b"), ("n1", "n1"), ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
                            ("g[003-005]", "g003 g004 g005"), ("c[1-2]x", "c1x c2x")):
            self.assertEqual(hosts.expand(text), names.split())
        for wrong in ("a[1", "a]", "a[x]", "a[1-99999999]", "a b"):
            self.assertRaises(ValueError, hosts.expand, wrong)
        for names, text in (("a1 a2 a3 b7", "a[1-3],b7"), ("n08 n09 n10", "n[08-10]"), ("login", "login"), ("a1 a3", "a[1,3]"),
                            ("n9 n10", "n[9-10]")):
            self.assertEqual(hosts.compress(names.split()), text)

    def test_times(self):
        for text, seconds in (("90", 5400), ("1:30", 90), ("1:00:00", 3600), ("1-0", 86400), ("1-2:03", 93780), ("UNLIMITED", None)):
            self.assertEqual(options.time_limit_s(text), seconds)


if __name__ == "__main__":
    unittest.main()
