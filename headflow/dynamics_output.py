"""What the commands of the dynamics share: files, figures, phases in words, Datasets as JSON."""

from __future__ import annotations

from typing import Any

from headflow.output import fail

# Rows of a printed table of times.
ROWS = 12
SUFFIXES = (".nc", ".svg")
# A negative curvature below this share of the largest counts as 0: no flow is quite at rest.
UNSTABLE = 1e-3


def part_of(out: Any) -> Any:
    """Where a run that writes to ``out`` keeps its checkpoint."""
    return None if out is None else out.with_name(f"{out.name}.part")


def write(data: Any, out: Any) -> None:
    if out is not None:
        from headflow.store import write_netcdf

        write_netcdf(data, out)


def require_writable(out: Any, figure: Any) -> None:
    """InputError, before any work, for a file that cannot be written in the end."""
    from headflow import store
    from numerics.errors import InputError

    for path, suffix in zip((out, figure), SUFFIXES, strict=True):
        if path is None:
            continue
        store.require_writable(path.parent)
        if path.is_dir():
            raise InputError(f"out: {path} is a folder; give the name of a file")
        if path.suffix != suffix:
            raise InputError(f"out: {path} would hold {suffix[1:]}; end its name with {suffix}")


def phases_of(data: Any, prior: Any) -> Any:
    """The phases up to where the flow got; None for one that got nowhere."""
    from numerics.dynamics.phases import known, phases

    reached = known(data)
    return phases(reached, prior) if reached.sizes["time"] > 1 else None


def draw(path: Any, data: Any, comparison: Any, prior: Any, length: Any, found: Any) -> None:
    from headflow.store import write_whole
    from numerics.bayes import bayes_risk
    from numerics.dynamics.phases import known
    from numerics.dynamics.plot import dynamics_figure

    if found is None:
        fail("figure: nothing to draw, the flow got nowhere")
    bayes = bayes_risk(prior, length).value
    write_whole(path, dynamics_figure(known(data), comparison, prior, bayes, found))


def told(found: Any) -> str:
    """The phases in words."""
    if found is None:
        return ""
    lines = [
        f"plateau at E = {one.level:.4f}, tau = {one.start:.4g} to {one.end:.4g}"
        for one in found.plateaus
    ]
    times = found.specialization_times
    if any(time == time for time in times):
        told = ", ".join(f"{time:.4g}" if time == time else "never" for time in times)
        lines.append(f"heads specialize at tau = {told}")
    else:
        lines.append("no head specializes")
    lines += [
        f"head {one.head + 1} moves over along direction {one.direction + 1}, "
        f"tau = {one.left_at:.4g} to {one.joined_at:.4g}"
        for one in found.excursions
    ]
    if not found.settled:
        lines.append("not at rest at the last tau: a longer --time may move these times")
    return "\n".join(lines) + "\n"


def end_told(risk: Any, data: Any) -> str:
    """What the Hessian says of the last state: equal heads, and a saddle that passes for rest.

    Empty where there is nothing to say, or no second derivative.
    """
    from numerics.dynamics.phases import known
    from numerics.errors import InputError
    from numerics.saddles.invariant import equal_heads
    from numerics.saddles.spectrum import NOISE, weight_spectrum

    reached = known(data)
    if not reached.sizes["time"]:
        return ""
    end = reached.isel(time=-1)
    free: dict[str, Any] = {name: end[name].values for name in ("beta", "gain") if name in end}
    try:
        lines = [one.told() for one in equal_heads(risk, end.m.values, end.R.values, **free)]
        spectrum = weight_spectrum(risk, end.m.values, end.R.values, **free)
    except InputError:
        return ""
    # Directions without signal are left alone by a flow that starts within the others.
    modes = spectrum.isel(mode=(spectrum.block != NOISE).values)
    lowest = modes.isel(mode=int(modes.eigenvalue.argmin("mode")))
    value, error = float(lowest.eigenvalue), float(lowest.error)
    if value < -max(error, UNSTABLE * float(abs(modes.eigenvalue).max())):
        lines.append(
            f"the last state is no minimum: along one mode the risk has the curvature {value:.4g} "
            f"+- {error:.1g}, and where the flow rests heads leave at the rate {-value:.3g}; a "
            "longer --time shows it"
        )
    return "".join(f"{line}\n" for line in lines)


def by_head(m: Any) -> str:
    """Alignments of one time as text, head by head."""
    return "; ".join(" ".join(f"{value:+.4f}" for value in row) for row in m)


def plain(data: Any) -> dict[str, Any]:
    """A Dataset as numbers and lists for JSON."""
    import json

    values = {name: data[name].values.tolist() for name in (*data.coords, *data.data_vars)}
    attributes = dict(data.attrs)
    return {**attributes, "configuration": json.loads(attributes["configuration"]), **values}


def some_of(number: int) -> list[int]:
    """The first, the last and evenly spaced ones between."""
    import numpy as np

    return np.unique(np.linspace(0, number - 1, ROWS).round().astype(int)).tolist()
