# notation: tau = steps * eta / D, eta the learning rate; m, R alignments and overlaps.
"""The dynamics in the report: gradient flow in two phases, SGD beside theory, the hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from headflow import page
from headflow.datasets import gradient_flow
from headflow.risk import PopulationRisk
from headflow.sgd import simulate_sgd
from numerics.bayes import bayes_risk
from numerics.dynamics.averages import compare
from numerics.dynamics.phases import Phases, known, phases
from numerics.dynamics.plot import dynamics_figure
from numerics.priors import FiniteSupport, Prior
from theory.rendering_dynamics import flow_lines

# Three atoms with a mean and no symmetry: two phases with a plateau between them.
EXAMPLE = FiniteSupport([[1.7, 0.4], [-0.9, 1.1], [0.3, -1.5]], [0.5, 0.2, 0.3])
TOKENS, DIMENSION, RATE, RUNS = 5, 1000, 1.0, 24
# Where SGD starts: heads apart by more than the noise of its steps, or each run would leave the
# saddle at a time of its own.
M0 = np.array([[0.05, 0.06], [0.02, -0.05]])
R0 = M0 @ M0.T + 0.02 * np.array([[1.0, 0.2], [0.2, 1.3]])
SGD_TIMES = np.concatenate([[0.0], np.geomspace(0.1, 80.0, 25)])
THEORY_TIMES = np.geomspace(0.1, 320.0, 100)
RTOL = 1e-4


@dataclass(frozen=True)
class Study:
    """One figure: theory, what was simulated beside it, its prior and phases."""

    title: str
    theory: xr.Dataset
    comparison: xr.Dataset | None
    prior: Prior
    bayes: float
    phases: Phases
    caption: str


def two_phases(seed: int) -> Study:
    """softmax with two heads from a small start: mean direction, plateau, specialization."""
    k = 0.01 * np.random.default_rng(seed).standard_normal((2, 4))
    times = np.concatenate([[0.0], np.geomspace(0.1, 320.0, 160)])
    risk = PopulationRisk("softmax", EXAMPLE, TOKENS)
    flow = gradient_flow(risk, k[:, :2], k @ k.T, times, rtol=RTOL)
    found = phases(flow, EXAMPLE)
    return _study(
        "Two phases: softmax, two heads, three atoms, gradient flow",
        flow,
        None,
        EXAMPLE,
        TOKENS,
        found,
        f"All heads first align with the mean direction. {_told(found)} The start is small, norm "
        "0.01; errors are bounds from a ladder of tolerances.",
    )


def online_sgd(seed: int) -> Study:
    """The same model trained by online SGD beside the equation with its learning-rate term."""
    risk = PopulationRisk("softmax", EXAMPLE, TOKENS, seed=seed)
    options: dict[str, Any] = {"m0": M0, "R0": R0, "times": SGD_TIMES, "seeds": RUNS, "seed": seed}
    runs = simulate_sgd(
        "softmax", EXAMPLE, TOKENS, 2, DIMENSION, RATE, float(SGD_TIMES[-1]), **options
    )
    recorded = runs.time.values
    times = np.union1d(recorded, THEORY_TIMES)
    theory = gradient_flow(risk, M0, R0, times, RATE, rtol=RTOL)
    comparison = compare(theory.isel(time=np.isin(times, recorded)), runs)
    verdict = "agree" if comparison.attrs["passed"] else "do NOT agree"
    return _study(
        "Online SGD beside its equation",
        theory,
        comparison,
        EXAMPLE,
        TOKENS,
        phases(theory, EXAMPLE),
        f"Points: {RUNS} runs of SGD, D = {DIMENSION}, learning rate {RATE:g}, with the standard "
        "error of their mean. Lines: the equation with the term that SGD adds to the overlaps. "
        f"They {verdict}: largest |z| {comparison.attrs['largest_z']:.2f} of "
        f"{comparison.attrs['comparisons']} comparisons, bound {float(comparison.bound[-1]):.2f} "
        f"at false-alarm rate {comparison.attrs['alpha']:g}.",
    )


def hierarchy(prior: Prior, tokens: Any, heads: int, seed: int) -> Study:
    """Bayes-softmax on the report's own prior: the order in which directions are learned."""
    k = 0.05 * np.random.default_rng(seed).standard_normal((heads, prior.spikes + heads))
    times = np.concatenate([[0.0], np.geomspace(0.5, 500.0, 120)])
    risk = PopulationRisk("bayes-softmax", prior, tokens, seed=seed)
    flow = gradient_flow(risk, k[:, : prior.spikes], k @ k.T, times, rtol=1e-3)
    reached = known(flow)
    found = phases(reached, prior)
    order = ", ".join(
        f"direction {f + 1} (variance {variance:.3g}) at τ = {time:.3g}"
        for f, (variance, time) in enumerate(
            zip(found.directions.variances, found.feature_times, strict=True)
        )
    )
    return _study(
        f"Specialization: bayes-softmax, {heads} heads, the prior of this report",
        reached,
        None,
        prior,
        tokens,
        found,
        f"Half of the final spread over heads is reached along {order}. "
        f"Final risk {float(reached.risk[-1]):.5f} ({flow.attrs['status']}).",
    )


def studies(prior: Prior, tokens: Any, heads: int, seed: int) -> list[Callable[[], Study]]:
    """What is to be run, one figure each."""
    return [
        lambda: two_phases(seed),
        lambda: online_sgd(seed),
        lambda: hierarchy(prior, tokens, heads, seed),
    ]


def section(done: list[Study]) -> str:
    """The figures of all studies under one heading."""
    parts = [
        page.words(
            r"How heads move while they are trained. With $E^m = \partial E / \partial m$, "
            r"$G = \partial E / \partial R$, learning rate $\eta$, mini-batch size $B$ and "
            r"$\Sigma$ the second moment of the errors that reach the logits in backpropagation:"
        ),
        *(page.math(line) for line in flow_lines()),
        page.words(
            r"The last term is what the noise of SGD adds; without it ($\eta = 0$) this is "
            "gradient flow. In the figures, shaded: plateaus of the risk, where learning seems to "
            "have stopped. Dashed: when half of the final difference between heads is reached "
            r"along a direction. Directions are those of the covariance of $\theta$, largest "
            "variance first."
        ),
    ]
    for one in done:
        svg = dynamics_figure(one.theory, one.comparison, one.prior, one.bayes, one.phases)
        parts += [page.subheading(one.title), page.figure(svg, one.caption)]
    return page.section("Dynamics", *parts)


def _study(title, theory, comparison, prior, tokens, found, caption) -> Study:
    bayes = bayes_risk(prior, tokens, rtol=RTOL).value
    return Study(title, theory, comparison, prior, bayes, found, caption)


def _told(found: Phases) -> str:
    """Plateaus and times of specialization in words."""
    plateaus = "; ".join(
        f"a plateau at E = {one.level:.4f} from τ = {one.start:.3g} to {one.end:.3g}"
        for one in found.plateaus
    )
    times = " and ".join(f"{time:.3g}" for time in found.specialization_times)
    return f"Then follows {plateaus or 'no plateau'}; heads specialize at τ = {times}."
