"""lab.env() as gymnasium checks it, and against the simulator's own policies."""

import unittest

import goban_lab as lab
import numpy

try:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
except ImportError:
    gymnasium = None

CLUSTER = lab.cluster("4x4:V100")


def jobs(seed=1):
    return lab.generate(jobs=150, gpus=16, load=1.1, seed=seed)


@unittest.skipUnless(gymnasium, "gymnasium is not installed")
class Environment(unittest.TestCase):
    def test_gymnasium_accepts_it(self):
        for of in (jobs(), jobs):
            check_env(lab.env(of, CLUSTER, slots=8), skip_render_check=True)

    def test_in_order_it_is_first_come_first_served(self):
        env = lab.env(jobs(), CLUSTER, slots=4)
        _, info = env.reset(seed=3)
        total, ended = 0.0, False
        while not ended:
            action = 0 if info["action_mask"][0] else 4
            _, reward, ended, cut, info = env.step(action)
            total += reward
            self.assertFalse(cut)
        fifo = lab.simulate(jobs(), CLUSTER, "fifo+packed")
        self.assertAlmostEqual(-total * 3600, fifo.mean_jct_s, 4)

    def test_shortest_first_is_better(self):
        env = lab.env(jobs(), CLUSTER, slots=64)
        seen, info = env.reset(seed=3)
        total, ended = 0.0, False
        while not ended:
            valid = info["action_mask"][:64] == 1
            action = int(numpy.where(valid, seen["queue"][:, 1], numpy.inf).argmin()) if valid.any() else 64
            seen, reward, ended, _, info = env.step(action)
            total += reward
        self.assertLess(-total * 3600, 0.9 * lab.simulate(jobs(), CLUSTER, "fifo+packed").mean_jct_s)

    def test_what_is_observed(self):
        env = lab.env(jobs(), CLUSTER, slots=5)
        seen, info = env.reset(seed=1)
        self.assertEqual(seen["free"].tolist(), [4, 4, 4, 4])
        columns = jobs()._core.columns()
        self.assertEqual(seen["queue"][0].tolist()[0], columns["gpus"][0])
        numpy.testing.assert_allclose(seen["queue"][0][1], columns["limit_s"][0], rtol=1e-6)
        self.assertEqual(info["now_s"], columns["submit_s"][0])
        before = seen["free"].copy()
        later = [env.step(0)[0]["free"].sum() for _ in range(60)]
        self.assertEqual(seen["free"].tolist(), before.tolist())  # an observation is not overwritten
        self.assertLess(min(later), 8)
        env.reset(seed=1)  # an episode can be given up

    def test_several_step_as_one_each(self):
        many = lab.env(jobs, CLUSTER, slots=6, num_envs=3)
        alone = [lab.env(jobs, CLUSTER, slots=6) for _ in range(3)]
        seen, info = many.reset(seed=10)
        states = [env.reset(seed=10 + i) for i, env in enumerate(alone)]
        self.assertIn(seen["queue"], many.observation_space["queue"])
        over = [False] * 3
        draw = numpy.random.default_rng(5)
        for _ in range(600):
            masks = many.action_masks()
            actions = (draw.random(masks.shape) * masks).argmax(axis=1)
            seen, rewards, ended, _, info = many.step(actions)
            for i, env in enumerate(alone):
                if over[i]:
                    states[i], reward, over[i] = env.reset(), 0.0, False
                else:
                    observed, reward, over[i], _, own = env.step(actions[i])
                    states[i] = observed, own
                numpy.testing.assert_array_equal(seen["queue"][i], states[i][0]["queue"])
                numpy.testing.assert_array_equal(seen["free"][i], states[i][0]["free"])
                numpy.testing.assert_array_equal(info["action_mask"][i], states[i][1]["action_mask"])
                self.assertEqual((rewards[i], ended[i]), (reward, over[i]))

    def test_inputs_are_checked(self):
        for options in ({"slots": 0}, {"num_envs": 0}):
            with self.assertRaises(lab.LabError):
                lab.env(jobs(), CLUSTER, **options)
        for policy in ("nonsense", "fifo+sticky"):
            with self.assertRaises(lab.LabError):
                lab.env(jobs(), CLUSTER, policy=policy).reset()
        with self.assertRaises(lab.LabError):
            lab.env(jobs, CLUSTER, num_envs=2).step(numpy.zeros(3, dtype=numpy.int64))


if __name__ == "__main__":
    unittest.main()
