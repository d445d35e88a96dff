"""The command `headflow`: every capability with --json and --out."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from headflow import (
    continuation_commands,
    escape_command,
    flow_command,
    prune_command,
    reproduce_command,
    saddle_commands,
    sgd_command,
    sweep_command,
)
from headflow.options import (
    DEFAULT_PRIOR,
    FreeBiasOpt,
    FreeGainOpt,
    HeadsOpt,
    JsonOpt,
    OutOpt,
    PriorOpt,
    RtolOpt,
    SeedOpt,
    TokensOpt,
    takes_activation,
)
from headflow.output import (
    GO_ON,
    busy,
    emit,
    fail,
    given,
    progress_bar,
    refuse,
    share_bar,
    text_table,
)

app = typer.Typer(
    name="headflow",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# SymPy, SciPy and the rest of headflow are imported inside the commands: --help answers at once.


@app.callback()
def headflow(
    context: typer.Context,
    options: Annotated[
        Path | None, typer.Option(help="TOML file with a table of options for each command.")
    ] = None,
) -> None:
    """Derive the population risk of attention activations and compute with it."""
    if options is not None:
        from headflow.inputs import read_file

        context.default_map = read_file("options", str(options))


@app.command()
def activations(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="A Markdown table of definitions and tiers.")
    ] = False,
    reach: Annotated[
        bool, typer.Option("--reach", help="Train each as well, minutes (implies --markdown).")
    ] = False,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """List the built-in activations and their definitions."""
    from headflow.catalogue_table import as_markdown, definitions, train_all
    from theory.catalogue import CATALOGUE

    acts = list(CATALOGUE.values())
    trained = None
    if reach:
        with share_bar("training") as progress:
            trained = train_all(acts, progress=progress)
    rows = definitions(acts, trained)
    emit(rows, as_markdown(rows) if markdown or reach else text_table(rows), as_json, out)


@app.command()
@takes_activation
def derive(
    act: Any,
    everything: Annotated[bool, typer.Option("--all", help="Rebuild the catalogue.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to write.")] = Path("derived"),
    form: Annotated[
        str | None,
        typer.Option("--format", help="Print one document instead: latex, markdown or html."),
    ] = None,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """Derive the risk of an activation; print its equation, write equations, kernels, checks."""
    from headflow.derivations import print_document, require_holds, write, write_bayes_risk
    from headflow.store import DERIVATIONS, require_writable
    from numerics.errors import InputError
    from theory.catalogue import CATALOGUE
    from theory.derived import Derived

    if everything == (act is not None):
        raise InputError("derive: give one activation, or --all for the whole catalogue")
    if form is not None:
        if everything or as_json:
            raise InputError("derive: --format is one document; leave out --all and --json")
        print_document(act, form, out)
        return
    if everything:
        folder = DERIVATIONS
    require_writable(folder)
    if everything:
        for member in progress_bar(list(CATALOGUE.values()), "deriving"):
            write(Derived(member), folder)
        write_bayes_risk(folder)
        return
    with busy("deriving, and checking each step by numbers"):
        derived = require_holds(Derived(act))
    where = write(derived, folder)
    result = {
        "activation": act.definition(),
        "risk": derived.latex(),
        "steps": [step.rule for step in derived.steps],
        "checks": len(derived.checks),
        "folder": str(where),
    }
    text = (
        f"E = {derived.latex()}\n\n{len(derived.steps)} steps, every one checked by numbers; "
        f"written: {where}/equations.md, kernels.py, checks.md"
    )
    emit(result, text, as_json, out)


@app.command()
@takes_activation
def risk(
    act: Any,
    m: Annotated[str | None, typer.Option("--m", help="Alignments (H, F) as JSON.")] = None,
    overlaps: Annotated[str | None, typer.Option("--R", help="Overlaps (H, H) as JSON.")] = None,
    at: Annotated[str | None, typer.Option(help="'atoms': one head an atom of the prior.")] = None,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    beta: FreeBiasOpt = None,
    gamma: FreeGainOpt = None,
    gradient: Annotated[bool, typer.Option(help="Derivatives in m, R, beta and gain.")] = False,
    rtol: RtolOpt = 1e-8,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """Evaluate the population risk E(m, R), with its error."""
    import numpy as np

    from headflow.inputs import read_matrix, read_point, read_prior, read_tokens
    from headflow.risk import PopulationRisk

    act, law = given(act), read_prior(prior)
    alignments, gram = read_point(law, at, m, overlaps)
    free = None if beta is None else read_matrix("beta", beta)
    function = PopulationRisk(act, law, read_tokens(tokens), rtol=rtol)
    if not gradient:
        value = function(alignments, gram, beta=free, gain=gamma)
        emit(vars(value), str(value), as_json, out)
        return
    slopes = function.gradient(alignments, gram, beta=free, gain=gamma)
    result = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(slopes).items()}
    emit(result, "\n".join(f"{key}: {value}" for key, value in result.items()), as_json, out)


@app.command()
def bayes(
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    rtol: RtolOpt = 1e-8,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """The Bayes risk: what no activation can go below."""
    from headflow.inputs import read_prior, read_tokens
    from numerics.bayes import bayes_risk

    value = bayes_risk(read_prior(prior), read_tokens(tokens), rtol=rtol)
    emit(vars(value), str(value), as_json, out)


@app.command()
@takes_activation
def validate(
    act: Any,
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 3,
    seed: SeedOpt = 0,
    as_json: JsonOpt = False,
    out: OutOpt = None,
) -> None:
    """Compare the derived risk and gradient with Monte Carlo; exit status 1 if they disagree."""
    from headflow.inputs import read_prior, read_tokens
    from headflow.validation import validate as run

    law, length = read_prior(prior), read_tokens(tokens)
    result = run(given(act), law, tokens=length, heads=heads, seed=seed)
    payload = {
        "passed": result.passed,
        "bound": result.bound,
        "alpha": result.alpha,
        "notes": list(result.notes),
        "rows": [vars(row) for row in result.rows],
    }
    emit(payload, result.table(), as_json, out)
    if not result.passed:
        fail(f"validate: a z-score is above the bound {result.bound:.2f}")


@app.command()
def report(
    prior: PriorOpt = DEFAULT_PRIOR,
    tokens: TokensOpt = "5",
    heads: HeadsOpt = 4,
    seed: SeedOpt = 0,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    as_json: JsonOpt = False,
) -> None:
    """Derive, evaluate and validate the four softmaxes; write index.html and data.nc."""
    from headflow.inputs import read_prior, read_tokens
    from headflow.report import write_report
    from headflow.store import require_writable

    require_writable(out)
    law, length = read_prior(prior), read_tokens(tokens)
    summary = write_report(law, prior, length, heads, seed=seed, folder=out, progress=progress_bar)
    emit(summary, f"written: {out}/index.html, {out}/data.nc", as_json, None)
    if not summary["passed"]:
        fail("report: a validation failed; see the table in the report")


app.command()(flow_command.flow)
app.command()(sgd_command.sgd)
app.command()(saddle_commands.spectrum)
app.command()(saddle_commands.fixed_points)
app.command("continue")(continuation_commands.continue_)
app.command()(continuation_commands.phase_diagram)
app.command()(escape_command.escape)
app.command()(prune_command.prune)
app.command()(sweep_command.sweep)
app.command()(reproduce_command.reproduce)


def main() -> None:
    """Run the command; bad input is one line on stderr and exit status 2."""
    from numerics.errors import InputError
    from theory.errors import DefinitionError, ExpressionError

    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    try:
        code = app(standalone_mode=False)
    except ExpressionError as problem:
        refuse(str(problem), problem.caret())
    except (InputError, DefinitionError) as problem:
        refuse(str(problem))
    except (KeyboardInterrupt, typer.Abort):
        print(f"headflow: interrupted{GO_ON}", file=sys.stderr)
        raise SystemExit(130) from None
    except OSError as problem:
        refuse(f"{problem.filename}: {problem.strerror}")
    except Exception as problem:
        # The parser of the command line says what is wrong with an option; anything else is ours.
        if not hasattr(problem, "format_message"):
            raise
        refuse(problem.format_message())
    raise SystemExit(code if isinstance(code, int) else 0)
