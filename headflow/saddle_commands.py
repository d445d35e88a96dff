"""The commands `headflow spectrum` and `headflow fixed-points`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from headflow.options import (
    DEFAULT_PRIOR,
    FreeBiasOpt,
    FreeGainOpt,
    HeadsOpt,
    JsonOpt,
    OutOpt,
    PriorOpt,
    SeedOpt,
    TokensOpt,
    takes_activation,
)
from headflow.output import busy, emit, given, text_table

PlaceOpt = Annotated[
    str,
    typer.Option(help="origin, unspecialized, atoms (most probable ones); or point: --m and --R."),
]
# A gradient above this is none of rounding or of the accuracy of a fixed point.
NO_FIXED_POINT = 1e-6
# Components of a mode on one line of a terminal.
MOST_SHOWN = 6
POINT = "point"


@takes_activation
def spectrum(
    act: Any,
    at: PlaceOpt = "unspecialized",
    m: Annotated[str | None, typer.Option("--m", help="Alignments (H, F) as JSON.")] = None,
    overlaps: Annotated[str | None, typer.Option("--R", help="Overlaps (H, H) as JSON.")] = None,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    beta: FreeBiasOpt = None,
    gamma: FreeGainOpt = None,
    dimension: Annotated[int | None, typer.Option(help="Token dimension D.")] = None,
    rates: Annotated[
        bool, typer.Option("--flow-jacobian", help="The Jacobian of d(m, R)/dtau as well.")
    ] = False,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """Eigenvalues of the risk's Hessian in weight space; at the origin also in closed form."""
    from headflow.datasets import weight_spectrum
    from headflow.inputs import read_matrix, read_point, read_prior, read_tokens
    from headflow.risk import PopulationRisk
    from numerics.errors import InputError
    from numerics.saddles.fixed_points import judged
    from numerics.saddles.hessian import coordinates
    from numerics.saddles.places import ORIGIN, PLACES, heads_at

    if at not in (*PLACES, POINT):
        raise InputError(f"at: expected one of {', '.join(PLACES)}, {POINT}, got {at!r}")
    if (at == POINT) != (m is not None and overlaps is not None):
        raise InputError("at: give --m and --R with --at point, and only then")
    law = read_prior(prior)
    risk = PopulationRisk(given(act), law, read_tokens(tokens))
    closed = _closed(act) if at == ORIGIN else {}
    if at == POINT:
        alignments, gram = read_point(law, None, m, overlaps)
    else:
        alignments = heads_at(at, risk, heads)
        gram = alignments @ alignments.T
    free = None if beta is None else read_matrix("beta", beta)
    found = weight_spectrum(risk, alignments, gram, dimension, beta=free, gain=gamma)
    rows = [_mode_row(found.isel(mode=i)) for i in range(found.sizes["mode"])]
    fixed = found.attrs["gradient"] <= NO_FIXED_POINT
    verdict = None
    if fixed and free is None and gamma is None:
        verdict = judged(risk, coordinates(alignments, gram), gram).verdict
    lines = [f"{name}: {text}" for name, text in closed.items()]
    if closed:
        lines.append("(H heads, L tokens, V and mu: variance and mean of theta along the mode)")
    lines += [text_table(rows), f"|gradient| = {found.attrs['gradient']:.2e}"]
    if not fixed:
        lines.append("this is no fixed point: the eigenvalues are curvatures of the risk there")
    elif verdict is not None:
        lines.append(f"fixed point: {verdict}")
    if dimension is None:
        lines.append("multiplicity of noise directions: for one of them; give --dimension for all")
    result = {
        "closed_form": closed,
        "m": alignments,
        "R": gram,
        "gradient": found.attrs["gradient"],
        "verdict": verdict,
        **{name: found[name].values.tolist() for name in found.data_vars},
    }
    result["m"], result["R"] = (_listed(result[name]) for name in ("m", "R"))
    if rates:
        result["flow_jacobian"] = _rates(risk, alignments, gram)
        lines += ["", "flow Jacobian (growth rates of m and R in 1/tau; not the Hessian):"]
        lines.append(text_table([_rate_row(*row) for row in result["flow_jacobian"]]))
    emit(result, "\n".join(lines), as_json, out)


@takes_activation
def fixed_points(
    act: Any,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 2,
    starts: Annotated[int, typer.Option(help="Random starts.")] = 6,
    seed: SeedOpt = 0,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """Fixed points of gradient flow, lowest risk first, with what the Hessian says of each."""
    from headflow.inputs import read_prior, read_tokens
    from headflow.risk import PopulationRisk
    from numerics.saddles.fixed_points import fixed_points as search

    risk = PopulationRisk(given(act), read_prior(prior), read_tokens(tokens), seed=seed)
    with busy("following starts to fixed points"):
        found = search(risk, heads, seed, starts)
    rows = [
        {
            "risk": f"{point.risk.value:.9f}",
            "error": f"{point.risk.error:.0e}",
            "residual": f"{point.residual:.0e}",
            "verdict": point.verdict,
            "m": " ".join(f"{value:+.4f}" for value in point.m.ravel()),
        }
        for point in found
    ]
    result = [
        {
            "m": _listed(point.m),
            "R": _listed(point.R),
            "risk": vars(point.risk),
            "residual": point.residual,
            "verdict": point.verdict,
            "index": point.index,
            "noise_index": point.noise_index,
            "flat": vars(point.flat),
            "eigenvalues": point.spectrum.eigenvalue.values.tolist(),
        }
        for point in found
    ]
    emit(result, text_table(rows), as_json, out)


def _mode_row(one: Any) -> dict[str, str]:
    """One mode; its part along the spikes, a group for each head, where that fits a line."""
    row = {
        "eigenvalue": f"{round(float(one.eigenvalue), 9) + 0.0:+.9f}",
        "error": f"{float(one.error):.0e}",
        "multiplicity": str(int(one.multiplicity)),
        "block": str(one.block.values),
    }
    heads = one.pattern.values.round(2)
    if heads.size <= MOST_SHOWN:
        shown = " | ".join(" ".join(f"{part + 0.0:+.2f}" for part in head) for head in heads)
        row["along spikes, head by head"] = "" if one.pattern.isnull().any() else shown
    return row


def _closed(act: Any) -> dict[str, str]:
    """The origin's eigenvalues as formulas in L, H, V and mu."""
    from theory.saddle import origin_spectrum

    closed = origin_spectrum(act)
    found = {"splitting": str(closed.splitting), "common": str(closed.common)}
    names = (
        "splitting changes sign, for mu = 0, at V",
        "common changes sign, for mu = 0, at V",
    )
    for name, root in zip(names, closed.thresholds, strict=True):
        if root is not None:
            found[name] = str(root)
    return found


def _rates(risk: Any, m: Any, R: Any) -> list[tuple[float, float, float]]:
    """Real part, imaginary part and error of each eigenvalue of the flow Jacobian."""
    from headflow.datasets import flow_jacobian

    found = flow_jacobian(risk, m, R)
    modes = zip(found.eigenvalue.values, found.error.values, strict=True)
    return [(float(rate.real), float(rate.imag), float(error)) for rate, error in modes]


def _rate_row(real: float, imaginary: float, error: float) -> dict[str, str]:
    return {"real": f"{real:+.9f}", "imaginary": f"{imaginary:+.9f}", "error": f"{error:.0e}"}


def _listed(array: Any) -> Any:
    return array.tolist() if hasattr(array, "tolist") else array
