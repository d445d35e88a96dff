# notation: theta, mu, R as in docs/model.md; everything here is written apart from the product.
"""Independent answers: mpmath and direct integrals that share no code with headflow."""

from __future__ import annotations

import mpmath
import numpy as np


def softmax_two_tokens(m: float, R: float, theta: float, digits: int = 30) -> mpmath.mpf:
    """Risk of one softmax head, L = 2, without a lift: E = 2 E[(1 - sigmoid(d))^2].

    d, the difference of the two logits, is normal with mean m theta and variance 2 R.
    """
    with mpmath.workdps(digits):
        mean, deviation = mpmath.mpf(m) * mpmath.mpf(theta), mpmath.sqrt(2 * mpmath.mpf(R))

        def integrand(z):
            miss = 1 / (1 + mpmath.exp(mean + deviation * z))
            return 2 * miss * miss * mpmath.npdf(z)

        turn = -mean / deviation
        ends = sorted(
            {mpmath.mpf(-14), mpmath.mpf(14), *(turn + k / deviation for k in (-9, 0, 9))}
        )
        return mpmath.quad(integrand, ends)


def softmax_many_tokens(
    m: float, R: float, theta: float, tokens: int, offset: float = 0, digits: int = 30
) -> mpmath.mpf:
    """Risk of one softmax (offset 0) or softmax-1 (offset 1) head for any L, in ``digits``.

    Trapezoid sums in the logit and in the logarithm of the lift variable, in exact order:
    plain loops, steps fixed so that both sums are converged to about 20 digits for R near 1.
    """
    with mpmath.workdps(digits):
        mean, deviation = mpmath.mpf(m) * theta, mpmath.sqrt(mpmath.mpf(R))
        step = mpmath.mpf(1) / 6
        z = [step * i for i in range(-66, 67)]
        w = [mpmath.npdf(one) * step for one in z]
        shift = mpmath.log(tokens)
        linear = square = mpmath.mpf(0)
        for i in range(-300, 110):
            t = mpmath.exp(step * i - shift)
            relevant, noise = [mpmath.mpf(0)] * 3, [mpmath.mpf(0)] * 3
            for one, weight in zip(z, w, strict=True):
                for totals, centre in ((relevant, mean), (noise, mpmath.mpf(0))):
                    y = t * mpmath.exp(centre + deviation * one)
                    if y > 100:
                        continue
                    decay = weight * mpmath.exp(-y)
                    totals[0] += decay
                    totals[1] += decay * y
                    totals[2] += decay * y * y
            cut = step * mpmath.exp(-offset * t)
            linear += cut * relevant[1] * noise[0] ** (tokens - 1)
            square += cut * relevant[2] * noise[0] ** (tokens - 1)
            if tokens > 1:
                square += cut * (tokens - 1) * relevant[0] * noise[2] * noise[0] ** (tokens - 2)
        return 1 - 2 * linear + square


def softmax_two_tokens_heads(
    m: np.ndarray, R: np.ndarray, support: np.ndarray, odds: np.ndarray, gain: float
) -> float:
    """Risk of H softmax heads, L = 2: E = E[(1 - A)^2 + (gain H - A - 1 + 1)^2] by Gauss-Hermite.

    With two tokens head h weighs the relevant one by sigmoid(d_h), d normal with mean m theta and
    covariance 2 R, and the other one by the rest; the risk needs singles and pairs of d only.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    heads = len(R)
    total = 0.0
    for theta, share in zip(support, odds, strict=True):
        mean = m @ theta
        first = np.zeros(heads)
        second = np.zeros((heads, heads))
        for h in range(heads):
            a = _sigmoid(mean[h] + np.sqrt(2 * R[h, h]) * nodes)
            first[h], second[h, h] = weights @ a, weights @ a**2
            for k in range(h):
                root = np.linalg.cholesky(2 * R[np.ix_([h, k], [h, k])])
                x = _sigmoid(mean[h] + root[0, 0] * nodes)[:, None]
                y = _sigmoid(mean[k] + root[1, 0] * nodes[:, None] + root[1, 1] * nodes)
                second[h, k] = second[k, h] = np.sum(weights[:, None] * weights * x * y)
        hit, hit_squared = gain * first.sum(), gain**2 * second.sum()
        missed = (gain * heads) ** 2 - 2 * gain * heads * hit + hit_squared
        total += share * (1 - 2 * hit + hit_squared + missed)
    return total


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(x / 2))
