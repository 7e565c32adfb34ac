# SPDX-License-Identifier: MIT
"""`pip install .`: builds libtutti with CMake, as ./dev does, and puts it into the package. TUTTI_BUILD names a build that is there."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
# What goes into the package, and where a build has it. Modules are there if their libraries were found.
LIBRARY = "src/libtutti.so.0"
MODULES = ("tutti_program.so", "tutti_keeper", "tutti_hdf5.so", "tutti_http.so", "tutti_mpi.so")


def build():
    folder = os.environ.get("TUTTI_BUILD")
    if folder:
        return pathlib.Path(folder)
    path = ROOT / "build" / "release"
    subprocess.run(["cmake", "--preset", "release", "-B", str(path), "-S", str(ROOT)], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", str(path), "--target", "tutti_shared"], check=True)
    for module in MODULES:  # a target that is not there is a module that cannot be had
        subprocess.run(["cmake", "--build", str(path), "--target", module.split(".", maxsplit=1)[0]], check=False)
    return path


class WithLibrary(build_py):
    """The package, and the library in it."""

    def run(self):
        super().run()
        folder, package = build(), pathlib.Path(self.build_lib) / "tutti"
        for name in (LIBRARY, *MODULES):
            if name == LIBRARY or (folder / name).exists():
                shutil.copy(folder / name, package / pathlib.Path(name).name)


class OfThisPlatform(bdist_wheel):
    """Any Python, but this machine's kind of processor and system."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


VERSION = re.search(r"project\(tutti VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
setup(version=VERSION, cmdclass={"build_py": WithLibrary, "bdist_wheel": OfThisPlatform})
