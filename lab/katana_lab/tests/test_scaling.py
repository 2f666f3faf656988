"""The Universal Scalability Law: known parameters come back, and too few levels give no fit."""
import math

import numpy
import pytest

from katana_lab import scaling


def test_known_parameters_come_back_with_their_peak():
    counts = [1, 2, 4, 8, 16, 32, 64]
    fit = scaling.fit_scaling(counts, [float(scaling.law(n, 1000, 0.03, 0.0005)) for n in counts])
    assert fit.rate_one == pytest.approx(1000, rel=1e-3)
    assert fit.contention == pytest.approx(0.03, rel=1e-2)
    assert fit.coherency == pytest.approx(0.0005, rel=1e-2)
    assert fit.peak_n == pytest.approx(math.sqrt(0.97 / 0.0005), rel=1e-2)
    assert fit.r_squared > 0.9999


def test_the_law_is_gunthers():
    assert scaling.law(1, 1000, 0.3, 0.2) == 1000
    assert scaling.law(4, 1000, 0.03, 0.0005) == pytest.approx(4000 / 1.096)


def test_noise_of_a_few_percent_leaves_the_parameters_in_reach():
    random = numpy.random.default_rng(5)
    counts = numpy.repeat([1, 2, 4, 8, 16, 32], 5)
    fit = scaling.fit_scaling(counts, scaling.law(counts, 1000, 0.05, 0.001) * random.normal(1, 0.02, counts.size))
    assert fit.contention == pytest.approx(0.05, abs=0.02)
    assert fit.contention_error < 0.02 and fit.levels == 6 and fit.n == 30


def test_contention_alone_has_a_ceiling_and_no_peak():
    counts = [1, 2, 4, 8, 16, 64]
    fit = scaling.fit_scaling(counts, [float(scaling.law(n, 100, 0.1, 0.0)) for n in counts])
    assert fit.peak_rate == pytest.approx(1000, rel=0.02)


def test_fewer_than_three_levels_are_not_fitted():
    assert scaling.fit_scaling([1, 1, 2, 2], [10, 11, 20, 21]) is None

# SPDX-License-Identifier: Apache-2.0
