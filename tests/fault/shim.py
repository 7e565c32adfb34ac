# SPDX-License-Identifier: MIT
"""The command with shim.c between it and the C library: what it does to files is written down, or one of its calls fails.

The loader puts it there, or, for a command with the address sanitizer, the linker did."""
import os
import pathlib
import sys

LINKED = pathlib.Path(os.environ.get("TUTTI", "tutti")).with_name("tutti_injected")
if LINKED.exists():
    os.environ["TUTTI"] = str(LINKED)
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "system"))
from command import SANITIZED, TUTTI, CommandTest, kit_fmu  # noqa: E402
from systems import connect  # noqa: E402

SHIM = os.environ.get("SHIM") or str(pathlib.Path(TUTTI).parent / "tests" / "fault" / "fault_shim.so")
CHAIN = (f"a={kit_fmu('ChainMass', '2')}", f"b={kit_fmu('ChainMass', '3')}",
         *connect("a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"), "--set", "a.x_left=0.1", "--step", "0.01")


class ShimTest(CommandTest):
    def setUp(self):
        super().setUp()
        if SANITIZED and not LINKED.exists():
            self.skipTest("the sanitizer stands between the command and the C library itself")

    def shim(self, **wishes):
        """The environment of a run with the shim: fail="alloc:3:once", count=PATH, log=PATH."""
        loaded = {} if LINKED.exists() else {"LD_PRELOAD": SHIM}
        return {**loaded, **{f"SHIM_{name.upper()}": str(value) for name, value in wishes.items()}}
