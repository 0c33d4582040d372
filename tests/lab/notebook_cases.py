"""The notebook, run cell by cell as a notebook server would."""

import contextlib
import io
import json
import os
import unittest

import goban_lab as lab

NOTEBOOK = os.path.join(os.environ.get("GOBAN_ROOT", os.path.join(os.path.dirname(__file__), "..", "..")),
                        "examples", "lab", "first_policy.ipynb")


class Notebook(unittest.TestCase):
    def test_its_cells_run_in_order(self):
        with open(NOTEBOOK, encoding="utf-8") as file:
            book = json.load(file)
        self.assertEqual(book["nbformat"], 4)
        names = {"__name__": "__main__"}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for number, cell in enumerate(book["cells"]):
                self.assertNotIn("\r", "".join(cell["source"]))
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                    exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        self.assertIn("gain over fifo+packed", printed.getvalue())
        self.assertIn("method place", names["message"])
        rows = {row.policy: row for row in names["result"].rows}
        self.assertGreater(rows["SmallFirst"].gain.value, 0)
        direct = lab.simulate(names["jobs"], names["cluster"], names["SmallFirst"]())
        self.assertEqual(rows["SmallFirst"].mean_jct_s.value, direct.mean_jct_s)
        self.assertGreater(names["longest_s"]["credit 0"], names["longest_s"]["credit 100"])


if __name__ == "__main__":
    unittest.main()
