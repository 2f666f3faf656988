"""The Universal Scalability Law, fitted by scipy: what limits a server as load or reactors are added.

    X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1))

λ: rate of one; σ: work that must wait for the others (contention); κ: time to agree with them (coherency).
With κ > 0 the rate has a peak at N = sqrt((1 - σ) / κ); with κ = 0 < σ it approaches λ / σ.
Source of the law: N. J. Gunther, Guerrilla Capacity Planning, 2007.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy
from scipy import optimize

LEVELS_MIN = 3                    # a curve of three parameters through fewer levels is no measurement
NEGLIGIBLE = 1e-9                 # a σ or κ below this is none


@dataclasses.dataclass(frozen=True)
class ScalingFit:
    """The fitted law and the limit that it predicts. Errors are standard errors, infinite where not determined."""

    rate_one: float
    contention: float
    coherency: float
    contention_error: float
    coherency_error: float
    peak_n: float                 # where the rate is highest; infinite without coherency
    peak_rate: float              # the highest rate; infinite when nothing limits
    r_squared: float
    levels: int
    n: int

    def rate_at(self, count: float) -> float:
        """The rate that the law predicts."""
        return float(law(count, self.rate_one, self.contention, self.coherency))


def law(count, rate_one, contention, coherency):
    """The rate at `count` clients or reactors."""
    return rate_one * count / (1 + contention * (count - 1) + coherency * count * (count - 1))


def _peak(rate_one: float, contention: float, coherency: float) -> tuple[float, float]:
    if coherency > NEGLIGIBLE:
        at = math.sqrt(max(0.0, 1 - contention) / coherency)
        return max(1.0, at), float(law(max(1.0, at), rate_one, contention, coherency))
    return math.inf, rate_one / contention if contention > NEGLIGIBLE else math.inf


def fit_scaling(counts: Sequence[float], rates: Sequence[float]) -> ScalingFit | None:
    """Fit the law to measured (N, rate); None when there are fewer than three different N."""
    x, y = numpy.asarray(counts, dtype=float), numpy.asarray(rates, dtype=float)
    levels = len(set(x.tolist()))
    if levels < LEVELS_MIN or x.size < LEVELS_MIN:
        return None
    guess = (float(numpy.median(y[x == x.min()]) / x.min()), 0.05, 1e-4)
    try:
        # Relative errors: a rate of ten connections counts as much as one of a thousand.
        found, covariance = optimize.curve_fit(law, x, y, p0=guess, sigma=y, bounds=((0, 0, 0), (math.inf, 1, 1)),
                                               x_scale=(max(guess[0], 1e-9), 0.1, 1e-3), max_nfev=20_000)
    except (RuntimeError, ValueError):
        return None
    rate_one, contention, coherency = (float(value) for value in found)
    residual, total = ((y - law(x, *found)) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    errors = numpy.sqrt(numpy.diag(covariance)) if x.size > 3 else numpy.full(3, math.inf)
    peak_n, peak_rate = _peak(rate_one, contention, coherency)
    return ScalingFit(rate_one, contention, coherency, float(errors[1]), float(errors[2]), peak_n, peak_rate,
                      float(1 - residual / total) if total > 0 else math.nan, levels, int(x.size))

# SPDX-License-Identifier: Apache-2.0
