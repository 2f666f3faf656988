"""Statistics against scipy's own references, known distributions and hand-made series."""
import math

import numpy
import pytest
from scipy import stats

from katana_lab import statistics


def test_the_interval_of_a_mean_is_students():
    values = [9.8, 10.1, 10.4, 9.9, 10.3]
    low, high = stats.t.interval(0.95, 4, loc=numpy.mean(values), scale=stats.sem(values))
    found = statistics.mean_interval(values)
    assert (found.low, found.high, found.n) == (pytest.approx(low), pytest.approx(high), 5)


def test_one_value_has_no_interval():
    assert statistics.mean_interval([3.0]).high == math.inf
    assert statistics.median_interval([3.0]).low == -math.inf
    assert statistics.unpaired_ratio([3.0], [1.0, 2.0]).high == math.inf


def test_no_value_is_not_a_number_and_never_an_exception():
    assert math.isnan(statistics.mean_interval([]).estimate)
    assert math.isnan(statistics.paired_ratio([], []).estimate)
    assert math.isnan(statistics.unpaired_ratio([], [1.0]).estimate)
    assert statistics.summarise([math.nan]).n == 0


def coverage(rounds: int, sigma: float = 0.08, runs: int = 300) -> float:
    """The share of runs in which the 95 % interval of the ratio of two noisy servers holds the true ratio, 1.3."""
    random = numpy.random.default_rng(rounds)
    held = 0
    for _ in range(runs):
        base = random.lognormal(0, sigma, rounds)
        other = 1.3 * random.lognormal(0, sigma, rounds)
        found = statistics.paired_ratio(other, base)
        held += found.low <= 1.3 <= found.high
    return held / runs


@pytest.mark.parametrize("rounds", [3, 9])
def test_the_interval_of_a_ratio_holds_the_truth_19_times_of_20_even_of_few_rounds(rounds, monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)
    assert coverage(rounds) >= 0.92


def test_the_bootstrap_alone_would_be_too_narrow_for_three_rounds(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)
    monkeypatch.setattr(statistics, "BOOTSTRAP_ALONE_MIN", 0)
    assert coverage(3) < 0.85


def test_two_equal_servers_are_rarely_called_different(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)
    random = numpy.random.default_rng(7)
    verdicts = [statistics.verdict(statistics.unpaired_ratio(random.normal(100, 3, 5), random.normal(100, 3, 5)), 1.05)
                for _ in range(200)]
    assert sum(one in ("greater", "less") for one in verdicts) <= 4


def test_a_paired_ratio_survives_what_disturbs_a_whole_round():
    base = [10.0, 30.0, 11.0, 10.5, 28.0]
    found = statistics.paired_ratio([1.2 * value for value in base], base)
    assert found.estimate == pytest.approx(1.2)
    assert found.low == pytest.approx(1.2) and found.high == pytest.approx(1.2)


def test_tukey_names_the_outlier_and_the_summary_has_both_figures():
    values = [10, 11, 10, 12, 11, 10, 99]
    summary = statistics.summarise(values)
    assert summary.outliers == (99.0,)
    assert summary.mean.estimate == pytest.approx(numpy.mean(values))
    assert summary.mean_without == pytest.approx(numpy.mean(values[:-1]))
    assert statistics.tukey_outliers([1, 2, 99]) == ()
    # Quartiles 10 and 11.5: the fence stands at 11.5 + 1.5 x 1.5.
    assert statistics.tukey_outliers([*values[:-1], 13.74]) == ()
    assert statistics.tukey_outliers([*values[:-1], 13.76]) == (13.76,)


def test_the_needed_sample_size_is_the_smallest_that_suffices():
    values = [90, 100, 110, 95, 105]
    n = statistics.needed_sample_size(values, 0.05)
    deviation = numpy.std(values, ddof=1)

    def half_width(count):
        return stats.t.ppf(0.975, count - 1) * deviation / math.sqrt(count)

    assert half_width(n) <= 5 < half_width(n - 1)
    assert statistics.needed_sample_size([5.0]) is None


def test_tests_of_difference_are_scipys():
    a, b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert statistics.sign_test(a, b) == pytest.approx(2 * 0.5 ** 6)
    assert statistics.sign_test(a, a) == 1.0
    assert statistics.mann_whitney(a, b) == pytest.approx(stats.mannwhitneyu(a, b).pvalue)


@pytest.mark.parametrize("low, high, expected", [
    (1.06, 1.2, "greater"), (0.8, 0.94, "less"), (0.97, 1.04, "equivalent"), (0.99, 1.2, "undecided"),
    (-math.inf, math.inf, "undecided")])
def test_a_verdict_needs_the_whole_interval(low, high, expected):
    assert statistics.verdict(statistics.Interval(1.0, low, high, 5, "test"), 1.05) == expected


def noisy(levels, points, noise, seed=1):
    """A series of levels, `points` each."""
    random = numpy.random.default_rng(seed)
    return numpy.concatenate([level + random.normal(0, noise, points) for level in levels])


@pytest.mark.parametrize("seed", range(5))
def test_the_end_of_warm_up_is_found_where_the_level_settles(seed):
    series = noisy([40, 70, 100, 100, 100, 100], 10, 2, seed)
    assert abs(statistics.steady_from(series) - 20) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_a_steady_series_needs_no_warm_up(seed):
    assert statistics.steady_from(noisy([100], 60, 3, seed)) == 0


def test_an_exponential_approach_is_cut_where_it_is_within_the_tolerance():
    times = numpy.arange(80) / 10
    series = 100 * (1 - numpy.exp(-times / 0.7)) + noisy([0], 80, 1)
    start = statistics.steady_from(series)
    assert 8 <= start <= 30


def test_an_excursion_in_the_middle_is_no_warm_up():
    assert statistics.steady_from(noisy([100, 100, 80, 100, 100, 100], 10, 2)) == 0
    assert abs(statistics.steady_from(noisy([60, 100, 100, 80, 100, 100], 10, 2)) - 10) <= 1


def test_a_series_that_never_settles_is_not_called_steady():
    random = numpy.random.default_rng(4)
    series = numpy.concatenate([numpy.full(12, 40.0), random.uniform(100, 700, 24)])
    assert statistics.steady_from(series) != 0


def test_a_level_that_only_just_began_is_no_steady_state():
    assert statistics.steady_from(noisy([50, 50, 50, 100], 10, 1)) is None
    assert statistics.steady_from([1.0, 2.0, 3.0]) is None


def test_a_change_of_level_is_found_at_its_place_and_noise_has_none():
    assert statistics.change_points(noisy([100, 90], 50, 2)) == [50]
    assert statistics.change_points(noisy([100], 100, 2, 3)) == []


def test_drift_is_told_from_noise():
    times = numpy.arange(100.0)
    growing = statistics.drift(times, 1000 + 2 * times + noisy([0], 100, 5))
    assert growing.significant and growing.slope == pytest.approx(2, rel=0.1) and growing.p < 1e-6
    assert not statistics.drift(times, noisy([1000], 100, 5, 2)).significant
    assert statistics.drift([1, 2], [1, 2]) is None


def test_fairness_is_1_for_equals_and_1_nth_for_a_monopoly():
    assert statistics.jain_index([5, 5, 5]) == pytest.approx(1)
    assert statistics.jain_index([9, 0, 0]) == pytest.approx(1 / 3)

# SPDX-License-Identifier: Apache-2.0
