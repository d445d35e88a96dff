"""Everything derived for one activation: risk, steps, checks, documents and source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from theory import rendering, second_order
from theory.activation import Activation
from theory.catalogue import resolved
from theory.checking import Check, check
from theory.closed_steps import closed_steps
from theory.codegen import numpy_source
from theory.derivation import Derivation, Step
from theory.document import markdown
from theory.document.writers import writer
from theory.flow import FlowEquations, flow_equations
from theory.gradient import gradient_steps, second_steps
from theory.noise import NoiseEquations, noise_equations
from theory.online import SampleStep, sample_step
from theory.printing import latex
from theory.risk import derive_concrete_risk, derive_risk
from theory.saddle import OriginSpectrum, origin_spectrum, smooth_at_zero


@dataclass(frozen=True)
class Derived:
    """The derivation of one activation's population risk, derivatives and dynamics.

    risk: SymPy expression in averages and lift integrals; drift_m, drift_R: gradient flow in
    index notation, tau in units of learning rate times steps over D; noise: what online SGD adds
    to dR/dtau per unit of learning rate; steps: all rules applied, in order; latex(): the risk;
    markdown(), html(), document(format): the whole derivation; numpy_source(): the kernels.
    """

    activation: Activation

    @cached_property
    def derivation(self) -> Derivation:
        """From the definition of the model to the risk, step by step."""
        return derive_concrete_risk(self.activation)

    @property
    def risk(self) -> sp.Expr:
        """The population risk: averages over one token, lift integrals, sums over heads."""
        return self.derivation.result

    @cached_property
    def gradient(self) -> tuple[Step, ...]:
        """Bonnet's and Price's theorems on each kind of term of the risk."""
        return gradient_steps(self.activation, derive_risk(self.activation).result)

    @cached_property
    def second(self) -> tuple[Step, ...]:
        """The same theorems once more, on some of the first derivatives."""
        return second_steps(self.activation, derive_risk(self.activation).result)

    @cached_property
    def closed_forms(self) -> tuple[Step, ...]:
        """The averages that have a closed form; empty when a lift or a grid is needed."""
        return closed_steps(self.activation)

    @property
    def flow(self) -> FlowEquations:
        """Gradient flow of m, R and R - m m^T, the same for every activation."""
        return flow_equations()

    @property
    def drift_m(self) -> sp.Expr:
        """dm_ij/dtau in E_m = dE/dm and G = dE/dR; repeated indices are summed."""
        return self.flow.drift_m

    @property
    def drift_R(self) -> sp.Expr:
        """dR_ij/dtau without the learning-rate term; repeated indices are summed."""
        return self.flow.drift_R

    @cached_property
    def backward(self) -> NoiseEquations:
        """The backpropagated errors delta_l^h and their second moment."""
        return noise_equations(self.activation)

    @property
    def noise(self) -> sp.Expr:
        """Sigma_hk, an average over all tokens: online SGD adds eta Sigma_hk to dR_hk/dtau."""
        return self.backward.noise

    @cached_property
    def sample(self) -> SampleStep:
        """One step of online SGD at finite D, in the order parameters."""
        return sample_step(self.activation)

    @property
    def dynamics(self) -> tuple[Step, ...]:
        """The steps of gradient flow and of online SGD."""
        return (*self.flow.steps, *self.backward.steps, *self.sample.steps)

    @cached_property
    def saddle(self) -> OriginSpectrum | None:
        """The Hessian at the origin in closed form; None where a kink leaves it undefined."""
        return origin_spectrum(self.activation) if smooth_at_zero(self.activation) else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps: the risk, its closed forms and derivatives, dynamics, the saddle."""
        saddle = self.saddle.steps if self.saddle else ()
        first = *self.derivation.steps, *self.closed_forms, *self.gradient
        return (*first, *self.dynamics, *self.second, *second_order.steps(), *saddle)

    @cached_property
    def checks(self) -> tuple[tuple[Step, Check], ...]:
        """Both sides of every step as numbers, at asymmetric points."""
        return tuple((step, check(step, self.activation)) for step in self.steps)

    def latex(self) -> str:
        """The population risk in LaTeX."""
        return latex(self.risk)

    def markdown(self) -> str:
        """The derivation as Markdown with LaTeX formulas: every rule with its reason."""
        return markdown.write(rendering.document(self, checked=False))

    def html(self) -> str:
        """The derivation as one HTML page, with the numbers of every check."""
        return self.document("html")

    def document(self, form: str = "latex") -> str:
        """The derivation with the numbers of every check: "latex", "markdown" or "html".

        LaTeX is a whole article, HTML one page with MathML that needs no network. Raises
        DefinitionError for another format.
        """
        write = writer(form)
        return write(rendering.document(self, checked=True))

    def checks_markdown(self) -> str:
        """The numeric check of every step as a Markdown table."""
        return markdown.write(rendering.checks(self.activation, self.checks))

    def numpy_source(self) -> str:
        """Source text of the NumPy module that evaluates risk and gradient."""
        return numpy_source(self.activation)


def derive(act: Activation | str) -> Derived:
    """The derivation for an activation or a catalogue name.

    Raises DefinitionError for an unknown name, and for a function, which has no equation.

    >>> derive("softmax").steps[1].rule
    'exchangeability'
    """
    return Derived(resolved(act))
