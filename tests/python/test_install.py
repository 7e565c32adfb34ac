#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A wheel, installed into an environment of its own, which knows nothing of this folder."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common import ROOT, kit


def simulated(build):
    """A simulation, with a module that has to be found: that of --live, if it was built."""
    served = ", live='127.0.0.1:0'" if (build / "tutti_http.so").exists() else ""
    return f"tutti.simulate({kit('BouncingBall')!r}{served})"


class Install(unittest.TestCase):
    def test_build_tree(self):
        build = pathlib.Path(os.environ["TUTTI_LIBRARY"]).parents[1]
        environment = {key: value for key, value in os.environ.items() if key != "TUTTI_LIBRARY"}
        program = f"import tutti; print(tutti._lib._name); {simulated(build)}"
        ended = subprocess.run([sys.executable, "-B", "-c", program], check=True, env={**environment, "PYTHONPATH": str(build / "python")},
                               cwd="/", capture_output=True, text=True)
        self.assertEqual(ended.stdout.strip(), str(build / "src" / "libtutti.so.0"))

    def test_wheel(self):
        build = pathlib.Path(os.environ["TUTTI_LIBRARY"]).parents[1]
        with tempfile.TemporaryDirectory() as folder:
            source, env = pathlib.Path(folder) / "source", pathlib.Path(folder) / "env"
            source.mkdir()
            for name in ("setup.py", "pyproject.toml", "CMakeLists.txt", "python", "docs"):  # nothing is written into the clone
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, source / name)
            plain = {key: value for key, value in os.environ.items()
                     if key not in ("TUTTI_LIBRARY", "PYTHONPATH", "LD_PRELOAD", "ASAN_OPTIONS")}
            subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", env], check=True, env=plain)
            python = env / "bin" / "python3"
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", source], check=True,
                           env={**plain, "TUTTI_BUILD": str(build)}, cwd=folder)
            program = (f"import tutti; print(tutti.__file__); r = {simulated(build)}; "
                       "r.save('r.csv'); print(len(tutti.read('r.csv').time) == len(r.time))")
            ended = subprocess.run([python, "-c", program], check=True, env=plain, cwd=folder, capture_output=True, text=True)
            where, same = ended.stdout.split()
            self.assertTrue(where.startswith(str(env)), where)
            self.assertEqual(same, "True")


if __name__ == "__main__":
    unittest.main()
