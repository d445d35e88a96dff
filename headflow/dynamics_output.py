"""What the commands of the dynamics share: files, figures, phases in words, Datasets as JSON."""

from __future__ import annotations

from typing import Any

from headflow.output import fail

# Rows of a printed table of times.
ROWS = 12


def part_of(out: Any) -> Any:
    """Where a run that writes to ``out`` keeps its checkpoint."""
    return None if out is None else out.with_name(f"{out.name}.part")


def write(data: Any, out: Any) -> None:
    if out is not None:
        from headflow.store import write_netcdf

        write_netcdf(data, out)


def require_writable(*paths: Any) -> None:
    """InputError, before any work, for a file that cannot be written in the end."""
    from headflow import store
    from numerics.errors import InputError

    for path in paths:
        if path is not None:
            store.require_writable(path.parent)
            if path.is_dir():
                raise InputError(f"out: {path} is a folder; give the name of a file")


def phases_of(data: Any, prior: Any) -> Any:
    """The phases up to where the flow got; None for one that got nowhere."""
    from numerics.phases import known, phases

    reached = known(data)
    return phases(reached, prior) if reached.sizes["time"] > 1 else None


def draw(path: Any, data: Any, comparison: Any, prior: Any, length: Any, found: Any) -> None:
    from headflow.store import write_whole
    from numerics.bayes import bayes_risk
    from numerics.dynamics_plot import dynamics_figure
    from numerics.phases import known

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
    times = ", ".join(f"{time:.4g}" for time in found.specialization_times)
    lines.append(f"heads specialize at tau = {times}")
    lines += [
        f"head {one.head} moves over along direction {one.direction}, tau = {one.left_at:.4g} to "
        f"{one.joined_at:.4g}"
        for one in found.excursions
    ]
    return "\n".join(lines) + "\n"


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
