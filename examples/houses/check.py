#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Seven houses and a market without a master: a fraction of the communication points of fixed steps, at the same price."""
import math
import pathlib
import subprocess
import sys
import threading
import xml.etree.ElementTree as xml

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from example import Example, Gallery  # noqa: E402

GALLERY = Gallery(
    topic="events", case=8, source="Awais, 4.2.3",
    shows="discrete events: components that step on changes, a price every 15 minutes",
    caption="The price of energy over three days, with components that only send changes, and with steps of 5 s.",
    commands=r"""
tutti run build/examples/houses/houses.ssp --coupling federated --quantum ambient.T=0.1 --quantum ambient.slope=2e-5 \
    --step 900 --quiet -o events.mat
tutti run build/examples/houses/houses.ssp --coupling jacobi --step 5 --output-step 900 --quiet -o steps.mat
tutti plot events.mat steps.mat -v market.price -v house3.T --title "Seven houses and a market: events, and steps of 5 s" -o houses.svg
""")
STOP, PERIOD, FIXED = 259200, 900, 5
QUANTUM = ("--coupling", "federated", "--quantum", "ambient.T=0.1", "--quantum", "ambient.slope=2e-5", "--step", PERIOD)
JOINED = ("--coupling", "jacobi", "--events", "none", "--step", 450, "--advance", "nmra")
MEAN, SWING, OMEGA = 10, 5, 2 * math.pi / 86400
COMFORT, BAND, THRIFT, USUAL, LEAST, SPAN, FULL = 20, 1, 2, 0.15, 0.12, 0.06, 21


class House:
    """tau T' = T_out(t) + rise on - T, in closed form between switches."""

    def __init__(self, tau, rise, rated, start):
        self.tau, self.rise, self.rated, self.since, self.free = tau, rise, rated, 0.0, 0.0
        self.on = False
        self.hold(0.0, start)

    def forced(self, t):
        angle, lag = OMEGA * t, OMEGA * self.tau
        return MEAN + self.rise * self.on - SWING * (math.cos(angle) + lag * math.sin(angle)) / (1 + lag * lag)

    def hold(self, t, temperature):
        self.since, self.free = t, temperature - self.forced(t)

    def at(self, t):
        return self.forced(t) + self.free * math.exp(-(t - self.since) / self.tau)

    def switch(self, t):
        temperature = self.at(t)
        self.on = not self.on
        self.hold(t, temperature)

    def beyond(self, t, low):
        return self.at(t) >= low + BAND if self.on else self.at(t) <= low

    def consume(self, begin, end, price):
        """The energy from `begin` to `end`, at one price."""
        low, t, energy = COMFORT - THRIFT * (price - USUAL), begin, 0.0
        while t < end:
            if self.beyond(t, low):
                self.switch(t)
            reached = next((s for s in np.arange(t + 30, end, 30) if self.beyond(s, low)), end)
            if reached < end or self.beyond(end, low):
                before = max(t, reached - 30)
                for _ in range(60):
                    middle = (before + reached) / 2
                    before, reached = (before, middle) if self.beyond(middle, low) else (middle, reached)
            energy += self.rated * self.on * (reached - t)
            t = reached
        return energy


def exact(example):
    """Prices after each period, and the mean temperature there, of houses with the parameters of the system."""
    root = xml.parse(pathlib.Path(__file__).with_name("SystemStructure.ssd")).getroot()
    houses = []
    for component in root.findall(".//{*}Component"):
        given = {p.get("name"): float(p[0].get("value")) for p in component.findall(".//{*}Parameter")}
        if component.get("name").startswith("house"):
            houses.append(House(given["tau"], given["rise"], given["rated"], given["T_start"]))
    price, prices, warmth = LEAST + SPAN / 2, [], []
    for period in range(STOP // PERIOD):
        begin, end = period * PERIOD, (period + 1) * PERIOD
        energy = sum(house.consume(float(begin), float(end), price) for house in houses)
        price = LEAST + SPAN * energy / (PERIOD * FULL)
        prices.append(price)
        warmth.append(sum(house.at(end) for house in houses) / len(houses))
    assert len(houses) == 7 and example
    return np.array(prices), np.array(warmth)


def of_run(run):
    """The same of a run: at the end of each period, after the market's event."""
    times = PERIOD * np.arange(1, STOP // PERIOD + 1)
    names = ["market.price", *(f"house{i}.T" for i in range(7))]
    rows = run.at(times, names)
    return rows[:, 0], rows[:, 1:].mean(axis=1)


def run_federation(example):
    """`tutti rti`, the houses as one federate, the market as another one: prices, and the macro steps of the run."""
    tutti, here = example.build / "tutti", pathlib.Path(__file__).resolve().parent
    links = [word for i in range(7) for word in ("--publish", f"house{i}.power=House[house{i}].power",
                                                 "--subscribe", f"Market.price=house{i}.price")]
    with subprocess.Popen([tutti, "rti", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as rti:
        address = next(line.split()[-1] for line in rti.stderr if "listening at" in line)
        threading.Thread(target=rti.stderr.read, daemon=True).start()
        market = subprocess.Popen([example.build / "examples" / "houses" / "market", here / "market.xml", address, str(STOP // 86400)],
                                  stdout=subprocess.PIPE, text=True)
        try:
            run = example.run_system(*JOINED, "--join", f"{address}/houses", "--fom", here / "market.xml", *links, variant="Joined.ssd")
            printed, _ = market.communicate(timeout=60)
        finally:
            market.kill()
            rti.terminate()
    *lines, last = printed.splitlines()
    return np.array([float(line.split(",")[1]) for line in lines]), run.stats["steps"], int(last.split()[0])


def main():
    example = Example(__doc__, GALLERY)
    prices, warmth = exact(example)
    steps = example.run_system("--coupling", "jacobi", "--step", FIXED, "--output-step", PERIOD)
    events = example.run_system(*QUANTUM)
    points = events.stats["federation"]["instants"]
    example.figure("communication points in three days, events", f"{points} of {STOP // FIXED}", 0 < points <= STOP // FIXED // 10,
                   "a tenth of those of steps of 5 s", "10 times fewer")
    for what, run in (("events", events), ("steps of 5 s", steps)):
        price, mean = of_run(run)
        worst = np.max(np.abs(price - prices)) / np.max(prices)
        example.figure(f"price, {what}: largest distance from the exact solution", f"{100 * worst:.2f}%", worst <= 0.01, "<= 1%", "about 1%")
        example.figure(f"mean temperature, {what}: mean distance", f"{np.mean(np.abs(mean - warmth)):.1e} K",
                       np.mean(np.abs(mean - warmth)) <= 0.1, "<= 0.1 K", "median about 0.7 K")
    price, points, messages = run_federation(example)
    worst = np.max(np.abs(price - prices)) / np.max(prices) if price.shape == prices.shape else np.inf
    example.figure("the market as a program, the houses as one federate: communication points", f"{points} of {STOP // FIXED}",
                   0 < points <= STOP // FIXED // 10, "a tenth of those of steps of 5 s", "10 times fewer")
    example.figure("the market as a program: price, largest distance from the exact solution", f"{100 * worst:.2f}%", worst <= 0.01, "<= 1%",
                   "about 1%")
    example.figure("messages from the houses to the market", messages, messages > 7, "some of each")
    example.same_bits("federated", *QUANTUM, "--stop", 21600)
    example.end()


main()
