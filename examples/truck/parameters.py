# SPDX-License-Identifier: MIT
"""The truck's parameters, which the publication leaves open but for 1350 Nm, 100 km/h and 10 t. Started, it prints them as options of
`tutti run`."""
RATIO, SPEED, TARGET = 3, 50, 500 / 3  # of the gearbox; of the wheels at the start; of the engine at 100 km/h, rad/s
ENGINE = {"J": 3, "w_target": TARGET, "k_p": 50, "k_i": 20, "M_max": 1350}
DRIVELINE = {  # with the clutch's two stiffnesses
    "clutch": {"J1": 0.5, "J2": 0.3, "k": 8e3, "k_stiff": 3e4, "play": 0.1, "d": 20, "ratio": 1},
    "gearbox": {"J1": 0.3, "J2": 0.6, "k": 5e4, "k_stiff": 5e4, "play": 1, "d": 20, "ratio": RATIO},
    "shaft": {"J1": 0.6, "J2": 0.5, "k": 4e4, "k_stiff": 4e4, "play": 1, "d": 50, "ratio": 1},
}
TRAILER = {"m": 10000, "r": 0.5, "slope": 0.02, "wave": 50, "rolling": 0.007, "drag": 3}
JOINTS = (  # angle, speed and torque of both ends, and their inertias
    (("engine.phi", "engine.w", "engine.M"), ("clutch.phi1", "clutch.w1", "clutch.M1"), (ENGINE["J"], 0.5)),
    (("clutch.phi2", "clutch.w2", "clutch.M2"), ("gearbox.phi1", "gearbox.w1", "gearbox.M1"), (0.3, 0.3)),
    (("gearbox.phi2", "gearbox.w2", "gearbox.M2"), ("shaft.phi1", "shaft.w1", "shaft.M1"), (0.6, 0.6)),
    (("shaft.phi2", "shaft.w2", "shaft.M2"), ("trailer.phi", "trailer.w", "trailer.M"), (0.5, TRAILER["m"] * TRAILER["r"] ** 2)),
)


def settings():
    """All of them, with speeds that fit at the start."""
    speeds = {"engine": {"w": RATIO * SPEED}, "clutch": {"w1": RATIO * SPEED, "w2": RATIO * SPEED},
              "gearbox": {"w1": RATIO * SPEED, "w2": SPEED}, "shaft": {"w1": SPEED, "w2": SPEED}, "trailer": {"w": SPEED}}
    units = {"engine": ENGINE, **DRIVELINE, "trailer": TRAILER}
    return [word for unit, values in units.items() for name, value in {**values, **speeds[unit]}.items()
            for word in ("--set", f"{unit}.{name}={value!r}")]


if __name__ == "__main__":
    print(" ".join(settings()))
