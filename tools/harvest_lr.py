"""Write tests/data/reference/lr.json: what the reference's schedulers compute, print and refuse.

Run under the reference's Python. A function is written as {"function": name}, a scheduler inside
another as {"scheduler": [kind, arguments]}; `FUNCTIONS`, here and in the test, has the functions.
"""

import contextlib
import io
import json
import math
from pathlib import Path

import numpy as np
import paddle

STEPS = 60
RATE = {"learning_rate": 0.5}
FUNCTIONS = {
    "power": lambda epoch: 0.95**epoch,
    "inverse": lambda epoch: 1.0 / (1 + epoch),
    "sine": lambda x: 0.5 * (1 + math.sin(x * math.pi / 2.0)),
}
METRICS = {
    "flat": [1.0] * STEPS,
    "falling": [1.0 / (1 + step) for step in range(STEPS)],
    "stairs": [float(10 - step // 9) for step in range(STEPS)],
    "wave": [math.sin(step / 5.0) for step in range(STEPS)],
    "slow": [1.0 - 5e-5 * step for step in range(STEPS)],
}

CASES = [
    ("NoamDecay", {"d_model": 64, "warmup_steps": 10}),
    ("NoamDecay", {"d_model": 512, "warmup_steps": 25, "learning_rate": 2.0}),
    ("PiecewiseDecay", {"boundaries": [3, 6, 20], "values": [0.1, 0.2, 0.3, 0.4]}),
    ("PiecewiseDecay", {"boundaries": [30], "values": [1, 0.01, 7.0], "last_epoch": 4}),
    ("NaturalExpDecay", {**RATE, "gamma": 0.1}),
    ("NaturalExpDecay", {**RATE, "gamma": 2, "last_epoch": 3}),
    ("InverseTimeDecay", {**RATE, "gamma": 0.1}),
    ("InverseTimeDecay", {**RATE, "gamma": 3}),
    ("PolynomialDecay", {**RATE, "decay_steps": 20}),
    ("PolynomialDecay", {**RATE, "decay_steps": 7, "end_lr": 0.0, "power": 2.0}),
    ("PolynomialDecay", {**RATE, "decay_steps": 9, "power": 0.5, "cycle": True}),
    ("LinearWarmup", {**RATE, "warmup_steps": 10, "start_lr": 0.0, "end_lr": 0.5}),
    ("LinearWarmup", {"learning_rate": 1, "warmup_steps": 7, "start_lr": 0.1, "end_lr": 0.7}),
    (
        "LinearWarmup",
        {
            "learning_rate": {"scheduler": ["ExponentialDecay", {**RATE, "gamma": 0.9}]},
            "warmup_steps": 12,
            "start_lr": 0.0,
            "end_lr": 0.5,
        },
    ),
    (
        "LinearWarmup",
        {
            "learning_rate": {"scheduler": ["CosineAnnealingDecay", {**RATE, "T_max": 15}]},
            "warmup_steps": 5,
            "start_lr": 0.25,
            "end_lr": 0.5,
        },
    ),
    ("ExponentialDecay", {**RATE, "gamma": 0.9}),
    ("ExponentialDecay", {"learning_rate": 2, "gamma": 0.5, "last_epoch": 1}),
    ("MultiStepDecay", {**RATE, "milestones": [2, 4, 6]}),
    ("MultiStepDecay", {**RATE, "milestones": [10, 30, 55], "gamma": 0.8}),
    ("StepDecay", {**RATE, "step_size": 5}),
    ("StepDecay", {**RATE, "step_size": 1, "gamma": 0.97}),
    ("LambdaDecay", {**RATE, "lr_lambda": {"function": "power"}}),
    ("LambdaDecay", {**RATE, "lr_lambda": {"function": "inverse"}, "last_epoch": 2}),
    ("MultiplicativeDecay", {**RATE, "lr_lambda": {"function": "power"}}),
    ("MultiplicativeDecay", {**RATE, "lr_lambda": {"function": "inverse"}}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 10}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 7, "eta_min": 0.05}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 100, "eta_min": 0}),
    ("OneCycleLR", {"max_learning_rate": 1.0, "total_steps": 60}),
    ("OneCycleLR", {"max_learning_rate": 2, "total_steps": 61, "anneal_strategy": "linear"}),
    (
        "OneCycleLR",
        {
            "max_learning_rate": 0.5,
            "total_steps": 70,
            "divide_factor": 10,
            "end_learning_rate": 0.001,
            "phase_pct": 0.2,
            "three_phase": True,
        },
    ),
    ("CyclicLR", {"base_learning_rate": 0.1, "max_learning_rate": 1.0, "step_size_up": 7}),
    (
        "CyclicLR",
        {
            "base_learning_rate": 0.1,
            "max_learning_rate": 1.0,
            "step_size_up": 4,
            "step_size_down": 9,
            "mode": "triangular2",
        },
    ),
    (
        "CyclicLR",
        {
            "base_learning_rate": 0.5,
            "max_learning_rate": 2,
            "step_size_up": 10,
            "mode": "exp_range",
            "exp_gamma": 0.98,
        },
    ),
    (
        "CyclicLR",
        {
            "base_learning_rate": 0.1,
            "max_learning_rate": 1.0,
            "step_size_up": 6,
            "scale_fn": {"function": "sine"},
            "scale_mode": "iterations",
        },
    ),
    ("LinearLR", {**RATE, "total_steps": 20}),
    ("LinearLR", {**RATE, "total_steps": 33, "start_factor": 1.0, "end_factor": 0.1}),
    ("LinearLR", {**RATE, "total_steps": 4, "start_factor": 0.25, "end_factor": 0.75}),
    ("CosineAnnealingWarmRestarts", {**RATE, "T_0": 7}),
    ("CosineAnnealingWarmRestarts", {**RATE, "T_0": 4, "T_mult": 2, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {**RATE, "T_0": 1, "T_mult": 3}),
]

PLATEAUS = [
    ({**RATE}, "flat"),
    ({**RATE, "patience": 3, "cooldown": 4}, "stairs"),
    ({**RATE, "patience": 2, "factor": 0.5, "min_lr": 0.02}, "flat"),
    ({**RATE, "patience": 2, "mode": "MAX", "threshold": 0.5}, "falling"),
    ({**RATE, "patience": 4, "mode": "max", "threshold_mode": "abs", "factor": 0.7}, "wave"),
    ({**RATE, "patience": 1, "mode": "min", "threshold_mode": "ABS", "cooldown": 2}, "wave"),
    ({**RATE, "patience": 5, "threshold": 1e-4}, "slow"),
    ({**RATE, "patience": 0, "factor": 0.5, "epsilon": 0.1}, "flat"),
]

JUMPS = [3, 0, None, 11, None, 27, 5, None, None, 1]

REFUSED = [
    ("LRScheduler", {"learning_rate": "a"}),
    ("LRScheduler", {"learning_rate": -1.0}),
    ("LRScheduler", {"learning_rate": 0.1}),
    ("NoamDecay", {"d_model": -8, "warmup_steps": 10}),
    ("NoamDecay", {"d_model": 8, "warmup_steps": 10, "learning_rate": [1.0]}),
    ("PiecewiseDecay", {"boundaries": [], "values": [1.0]}),
    ("PiecewiseDecay", {"boundaries": [1, 2], "values": [1.0]}),
    ("NaturalExpDecay", {**RATE, "gamma": -0.1}),
    ("InverseTimeDecay", {"learning_rate": -0.5, "gamma": 0.1}),
    ("PolynomialDecay", {**RATE, "decay_steps": 2.5}),
    ("PolynomialDecay", {**RATE, "decay_steps": 0}),
    ("PolynomialDecay", {**RATE, "decay_steps": 5, "power": 0.0}),
    ("LinearWarmup", {"learning_rate": "a", "warmup_steps": 5, "start_lr": 0.0, "end_lr": 1.0}),
    ("LinearWarmup", {**RATE, "warmup_steps": 0, "start_lr": 0.0, "end_lr": 1.0}),
    ("LinearWarmup", {**RATE, "warmup_steps": 5, "start_lr": 1.0, "end_lr": 0.5}),
    ("ExponentialDecay", {**RATE, "gamma": 1.0}),
    ("MultiStepDecay", {**RATE, "milestones": 3}),
    ("MultiStepDecay", {**RATE, "milestones": [3, 2]}),
    ("MultiStepDecay", {**RATE, "milestones": [2, 3], "gamma": 1.5}),
    ("StepDecay", {**RATE, "step_size": "a"}),
    ("StepDecay", {**RATE, "step_size": 0}),
    ("StepDecay", {**RATE, "step_size": 2, "gamma": 2.0}),
    ("LambdaDecay", {**RATE, "lr_lambda": 3}),
    ("MultiplicativeDecay", {**RATE, "lr_lambda": "a"}),
    ("ReduceOnPlateau", {**RATE, "mode": "best"}),
    ("ReduceOnPlateau", {**RATE, "factor": 1.0}),
    ("ReduceOnPlateau", {**RATE, "threshold_mode": "all"}),
    ("ReduceOnPlateau", {"learning_rate": "a"}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 1.5}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 10, "eta_min": "a"}),
    ("CosineAnnealingDecay", {**RATE, "T_max": 0}),
    ("OneCycleLR", {"max_learning_rate": "a", "total_steps": 5}),
    ("OneCycleLR", {"max_learning_rate": -1, "total_steps": 5}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "end_learning_rate": "a"}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "end_learning_rate": -1}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5.0}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": -5}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "phase_pct": 1}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "phase_pct": 1.5}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "divide_factor": "a"}),
    ("OneCycleLR", {"max_learning_rate": 1, "total_steps": 5, "anneal_strategy": "a"}),
    (
        "OneCycleLR",
        {"max_learning_rate": 1, "total_steps": 5, "phase_pct": 0.6, "three_phase": True},
    ),
    ("CyclicLR", {"base_learning_rate": 1, "max_learning_rate": "a", "step_size_up": 5}),
    ("CyclicLR", {"base_learning_rate": 1, "max_learning_rate": -1, "step_size_up": 5}),
    ("CyclicLR", {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 5.0}),
    ("CyclicLR", {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 0}),
    (
        "CyclicLR",
        {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 5, "step_size_down": 0},
    ),
    (
        "CyclicLR",
        {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 5, "exp_gamma": 1},
    ),
    (
        "CyclicLR",
        {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 5, "mode": "a"},
    ),
    (
        "CyclicLR",
        {"base_learning_rate": 1, "max_learning_rate": 2, "step_size_up": 5, "scale_mode": "a"},
    ),
    ("LinearLR", {**RATE, "total_steps": 0}),
    ("LinearLR", {**RATE, "total_steps": 5, "start_factor": 0.0}),
    ("LinearLR", {**RATE, "total_steps": 5, "end_factor": 1.1}),
    ("CosineAnnealingWarmRestarts", {**RATE, "T_0": 0}),
    ("CosineAnnealingWarmRestarts", {**RATE, "T_0": 4, "T_mult": 0}),
]


def built(value):
    """An argument as the scheduler takes it."""
    if isinstance(value, dict):
        if "function" in value:
            return FUNCTIONS[value["function"]]
        return make(*value["scheduler"])
    return value


def make(kind, arguments):
    """The scheduler of this kind."""
    return getattr(paddle.optimizer.lr, kind)(**{k: built(v) for k, v in arguments.items()})


def trajectory(kind, arguments):
    """The rates of all steps, the state in the middle, the rates of some jumps, what is printed."""
    scheduler, rates, state = make(kind, arguments), [], None
    for step in range(STEPS):
        rates.append(scheduler())
        if step == STEPS // 2:
            state = scheduler.state_dict()
        scheduler.step()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        loud = make(kind, {**arguments, "verbose": True})
        jumps = []
        for epoch in JUMPS:
            loud.step(epoch) if epoch is not None else loud.step()
            jumps.append(loud())
    return {
        "kind": kind,
        "arguments": arguments,
        "rates": rates,
        "state": state,
        "jumps": jumps,
        "printed": printed.getvalue(),
    }


def plateau(arguments, metrics):
    """The rates of a scheduler that watches a metric, its last state, what is printed."""
    rates = []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        scheduler = make("ReduceOnPlateau", {**arguments, "verbose": True})
        for value in METRICS[metrics]:
            scheduler.step(value)
            rates.append(scheduler())
    state = scheduler.state_dict()
    return {
        "arguments": arguments,
        "metrics": METRICS[metrics],
        "rates": rates,
        "state": state,
        "printed": printed.getvalue(),
    }


def refusal(kind, arguments):
    """The error that this call raises."""
    try:
        make(kind, arguments)
    except Exception as error:
        return {
            "kind": kind,
            "arguments": arguments,
            "error": type(error).__name__,
            "message": str(error),
        }
    raise SystemExit(f"{kind}({arguments}) was expected to fail")


def metric_refusals():
    """The errors for metrics that are no number."""
    found = []
    for value in ["a", [1.0], np.ones(2)]:
        try:
            paddle.optimizer.lr.ReduceOnPlateau(0.5).step(value)
        except Exception as error:
            text = value if isinstance(value, str) else list(value)
            found.append({"value": text, "error": type(error).__name__, "message": str(error)})
    return found


def main():
    facts = {
        "jump_epochs": JUMPS,
        "schedulers": [trajectory(*case) for case in CASES],
        "plateaus": [plateau(*case) for case in PLATEAUS],
        "refused": [refusal(*case) for case in REFUSED],
        "refused_metrics": metric_refusals(),
    }
    lines = []
    for key, value in facts.items():
        rows = ",\n".join(json.dumps(row, sort_keys=True) for row in value)
        lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
    path = Path(__file__).parent.parent / "tests" / "data" / "reference" / "lr.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
