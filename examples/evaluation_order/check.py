#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Five models whose outputs depend on different inputs: where possible, outputs are evaluated together at the start."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="start", case=33, stand_in=True, source="Andersson, examples 5.2.1 and 5.2.2, section 5.3.1",
    shows="outputs of a model that depend on different inputs, evaluated together",
    caption="The coloured loop is solved as a block. Of model2, y1 and y2 are evaluated together; of model1, y2 "
            "and y3, and then y1 and y4.",
    commands=r"""
tutti graph build/examples/evaluation_order/evaluation_order.ssp -o evaluation_order.svg
""")
# Orders of example 5.2.1 (eq. 5.11 and 5.12).
PUBLISHED_ORDERS = ("u1[1] y1[1] u1[2] y2[2] u2[2] y1[2]", "u1[1] y1[1] u2[2] y1[2] u1[2] y2[2]")
# What each output needs, and what each input is connected to, outside loops: example 5.2.2 and section 5.3.1.
OUTPUTS = {
    "model1.y1": ["model1.u1"], "model2.y1": ["model2.u2"], "model2.y2": ["model2.u1"], "model3.y1": [],
    "model1.u1": ["model3.y1"], "model2.u1": ["model3.y1"], "model2.u2": ["model1.y1"],
}
FIVE = {
    "model1.y1": ["model1.u3"], "model1.y2": ["model1.u1"], "model1.y3": ["model1.u2"], "model1.y4": ["model1.u3"],
    "model2.y1": ["model2.u2"], "model2.y2": ["model2.u1"], "model4.y1": [], "model5.y1": ["model5.u1", "model5.u2"],
    "model1.u1": ["model2.y1"], "model1.u2": ["model2.y2"], "model1.u3": ["model5.y1"], "model2.u1": ["model4.y1"],
    "model2.u2": ["model4.y1"], "model5.u1": ["model1.y2"], "model5.u2": ["model1.y3"],
}
LOOP = {"model3.u1", "model3.y1", "model5.u3", "model5.y2"}
JOINED = {("model1.y1", "model1.y4"), ("model1.y2", "model1.y3"), ("model2.y1", "model2.y2")}


def depth_first(needs):
    """An order of inputs and outputs, each after what it needs, as Algorithm 1 gives it."""
    order = []

    def visit(node):
        if node not in order:
            for needed in needs[node]:
                visit(needed)
            order.append(node)

    for node in needs:
        visit(node)
    return order


def evaluations(order):
    """Of pairs (model, "u" or "y"): a model is evaluated where an output is read and an input was set after the last one (Assumption 5.1)."""
    count, fresh = 0, set()
    for model, kind in order:
        if kind == "u":
            fresh.discard(model)
        elif model not in fresh:
            count += 1
            fresh.add(model)
    return count


def split(order):
    return [(name.split(".")[0], name.split(".")[1][0]) for name in order]


def check(example, what, variant, start, one_by_one, most, published):
    """Evaluations at the start, loops left out, and start values. `one_by_one`: an order for comparison, of pairs."""
    analysis = example.analyze(variant=variant)
    steps = [action for action in analysis["order"] if action["do"] != "solve"]
    counts = evaluations(one_by_one), evaluations(split(name for action in steps for name in action["variables"]))
    ok = counts[1] == analysis["evaluations"] == most < counts[0]
    example.figure(f"{what}: evaluations at the start, by Algorithm 1 / by Tutti", f"{counts[0]} / {counts[1]}", ok, f"{most} by Tutti", published)
    run = example.run_system(variant=variant)
    example.compare(f"{what}: error of the start values", [run[name][0] for name in start], list(start.values()), 1e-12)
    joined = {tuple(sorted(action["variables"])) for action in steps if action["do"] == "get" and len(action["variables"]) > 1}
    return analysis, joined


def told(joined):
    return "; ".join(", ".join(names) for names in sorted(joined))


def main():
    example = Example(__doc__, GALLERY)
    orders = [[(name[-2], name[0]) for name in order.split()] for order in PUBLISHED_ORDERS]
    assert evaluations(orders[0]) == evaluations(orders[1])
    start = {"model1.y1": 3.5, "model2.y1": 2.5, "model2.y2": 5.5}
    check(example, "example 5.2.1", "Branches.ssd", start, orders[0], 2, "two orders, 5.11 and 5.12, and both are right")

    start = {"model3.y1": 3, "model1.y1": 3.5, "model2.y1": 2.5, "model2.y2": 5}
    _, joined = check(example, "example 5.2.2", "Outputs.ssd", start, split(depth_first(OUTPUTS)), 3, "a minimal number")
    example.figure("example 5.2.2: outputs evaluated together", told(joined), joined == {("model2.y1", "model2.y2")}, "all of model 2",
                   "all of model 2")

    start = {"model4.y1": 1, "model2.y1": 1.25, "model2.y2": 0.25, "model1.y2": 0.25, "model1.y3": 2.25, "model5.y1": 6.5,
             "model1.y1": 7, "model1.y4": 16, "model5.y2": 0.5, "model3.y1": 2}
    analysis, joined = check(example, "section 5.3.1", None, start, split(depth_first(FIVE)), 5, "as few as possible")
    example.figure("section 5.3.1: outputs evaluated together", told(joined), joined == JOINED, "those of the thesis", told(JOINED))
    loops = [loop["variables"] for loop in analysis["loops"]]
    example.figure("section 5.3.1: variables in the loop", ", ".join(sorted(loops[0])), len(loops) == 1 and set(loops[0]) == LOOP,
                   "those of the thesis", ", ".join(sorted(LOOP)))
    example.end()


if __name__ == "__main__":
    main()
