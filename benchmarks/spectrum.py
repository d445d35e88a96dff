"""The whole spectrum of the Hessian in weight space beside one gradient of the same risk."""

from __future__ import annotations

import statistics

import headflow as hf
from benchmarks.problems import generic
from benchmarks.table import Row, seconds
from benchmarks.timing import interleaved

SEED, TOKENS, STRENGTHS = 0, 5, (2.0, 1.5)
TARGET = 20.0
REFERENCE_RTOL = 1e-11


def rows() -> list[Row]:
    problem = generic(SEED, tokens=TOKENS)
    prior = hf.flipped_spikes(STRENGTHS)
    risk, exact = (
        hf.PopulationRisk("softmax", prior, TOKENS, **options)
        for options in ({}, {"rtol": REFERENCE_RTOL})
    )
    m, R = problem.m, problem.R
    found = hf.weight_spectrum(risk, m, R)
    reference = hf.weight_spectrum(exact, m, R)
    error = float(abs(found.eigenvalue - reference.eigenvalue).max())
    spectrum_time, gradient_time = map(
        statistics.median,
        interleaved(lambda: hf.weight_spectrum(risk, m, R), lambda: risk.gradient(m, R)),
    )
    heads, spikes = m.shape
    return [
        Row(
            f"spectrum at H = {heads}, F = {spikes}, L = {TOKENS} over one gradient, softmax",
            spectrum_time / gradient_time,
            "at most",
            TARGET,
            "x",
            ours=(
                f"{seconds(spectrum_time)} (true error {error:.1e}, "
                f"stated {float(found.error.max()):.1e})"
            ),
            theirs=f"{seconds(gradient_time)} (one gradient)",
        )
    ]
