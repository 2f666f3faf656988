"""Statistics of few repetitions, by scipy and ruptures; nothing here is a method of our own.

Samples are values of one figure, one for each round; all functions take plain sequences of floats and return floats.
Every answer carries its n. Intervals are of 95 % unless `confidence` says otherwise.

An interval of few rounds is computed by two methods. The bootstrap resamples only values that it has seen. With three
or five rounds it is too narrow: `tests/test_statistics.py` counts how often it holds the truth. The t interval of the
logarithms assumes a shape, but is honest about n. Below `BOOTSTRAP_ALONE_MIN` rounds we report the smallest interval
that holds both (docs/decisions/0029).
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy
import ruptures
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 4000
SEED = 20260101                   # The bootstrap draws the same samples every time: a report can be written again.
BOOTSTRAP_ALONE_MIN = 12          # The number of rounds from which the bootstrap needs no help.
PENALTY = 3.0                     # The penalty of one more change point, in units of variance x ln(n) (BIC has 2).
SEGMENT_POINTS_MIN = 4            # Anything shorter is no level, but a blip.
LEVEL_TOLERANCE = 0.05            # Levels this close to the last one are the same.
LEVEL_TOLERANCE_MAX = 0.20        # The limit for a last level that scatters much.


@dataclasses.dataclass(frozen=True)
class Interval:
    """An estimate with its interval. `n`: how many samples it stands on (the smaller side, of two)."""

    estimate: float
    low: float
    high: float
    n: int
    method: str


@dataclasses.dataclass(frozen=True)
class Summary:
    """The statistics of one sample. `outliers` are Tukey's; `*_without` are the same figures without them."""

    n: int
    mean: Interval
    median: Interval
    deviation: float
    outliers: tuple[float, ...]
    mean_without: float
    median_without: float
    needed_n: int | None          # rounds for a mean within 5 % with 95 %; None: cannot be told from one round


def _finite(values: Sequence[float]) -> numpy.ndarray:
    array = numpy.asarray(values, dtype=float)
    return array[numpy.isfinite(array)]


def _constant(array: numpy.ndarray) -> bool:
    """All values are one, but for the last digits: an interval of nothing."""
    return bool(numpy.ptp(array) <= 1e-9 * abs(float(array.mean())))


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean with Student's interval; with one value the interval is infinite."""
    array = _finite(values)
    if array.size == 0:
        return Interval(math.nan, math.nan, math.nan, 0, "none")
    mean = float(array.mean())
    if array.size == 1:
        return Interval(mean, -math.inf, math.inf, 1, "none")
    if _constant(array):
        return Interval(mean, mean, mean, int(array.size), "constant")
    low, high = stats.ttest_1samp(array, 0.0).confidence_interval(confidence)
    return Interval(mean, float(low), float(high), int(array.size), "Student")


def _bootstrap(samples: tuple[numpy.ndarray, ...], statistic, confidence: float) -> tuple[float, float]:
    result = stats.bootstrap(samples, statistic, n_resamples=RESAMPLES, confidence_level=confidence, vectorized=True,
                             method="percentile", rng=numpy.random.default_rng(SEED))
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The median with its interval; few positive values borrow from the t interval of their logarithms."""
    array = _finite(values)
    if array.size == 0:
        return Interval(math.nan, math.nan, math.nan, 0, "none")
    median = float(numpy.median(array))
    if array.size == 1:
        return Interval(median, -math.inf, math.inf, 1, "none")
    if _constant(array):
        return Interval(median, median, median, int(array.size), "constant")
    low, high = _bootstrap((array,), numpy.median, confidence)
    method = "bootstrap"
    if array.size < BOOTSTRAP_ALONE_MIN and array.min() > 0:
        t_low, t_high = stats.ttest_1samp(numpy.log(array), 0.0).confidence_interval(confidence)
        low, high, method = min(low, math.exp(t_low)), max(high, math.exp(t_high)), "bootstrap and Student of logs"
    return Interval(median, low, high, int(array.size), method)


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float],
                 confidence: float = CONFIDENCE) -> Interval:
    """The median of the ratios of values that belong to the same round, with its interval."""
    pairs = [(a, b) for a, b in zip(numerators, denominators, strict=True)
             if math.isfinite(a) and math.isfinite(b) and b > 0]
    return median_interval([a / b for a, b in pairs], confidence)


def _ratio_of_medians(numerator, denominator, axis=-1):
    return numpy.median(numerator, axis=axis) / numpy.median(denominator, axis=axis)


def unpaired_ratio(numerators: Sequence[float], denominators: Sequence[float],
                   confidence: float = CONFIDENCE) -> Interval:
    """The ratio of medians of two samples taken apart (today and the baseline), with its interval."""
    a, b = _finite(numerators), _finite(denominators)
    if not a.size or not b.size or numpy.median(b) <= 0:
        return Interval(math.nan, math.nan, math.nan, 0, "none")
    ratio, n = float(numpy.median(a) / numpy.median(b)), int(min(a.size, b.size))
    if n < 2:
        return Interval(ratio, -math.inf, math.inf, n, "none")
    if _constant(a) and _constant(b):
        return Interval(ratio, ratio, ratio, n, "constant")
    low, high = _bootstrap((a, b), _ratio_of_medians, confidence)
    method = "bootstrap"
    if n < BOOTSTRAP_ALONE_MIN and a.min() > 0 and b.min() > 0:
        welch = stats.ttest_ind(numpy.log(a), numpy.log(b), equal_var=False).confidence_interval(confidence)
        if math.isfinite(welch.low) and math.isfinite(welch.high):
            low, high = min(low, math.exp(welch.low)), max(high, math.exp(welch.high))
            method = "bootstrap and Welch of logs"
    return Interval(ratio, low, high, n, method)


def tukey_outliers(values: Sequence[float]) -> tuple[float, ...]:
    """Values beyond 1.5 interquartile ranges of the quartiles; of fewer than four values there are none."""
    array = _finite(values)
    if array.size < 4:
        return ()
    low, high = numpy.percentile(array, [25, 75])
    reach = 1.5 * (high - low)
    return tuple(float(value) for value in array if value < low - reach or value > high + reach)


def needed_sample_size(values: Sequence[float], relative_error: float = 0.05,
                       confidence: float = CONFIDENCE, n_max: int = 10_000) -> int | None:
    """The samples that put the mean's interval within ± relative_error of it; None if one value, n_max if more."""
    array = _finite(values)
    if array.size < 2 or array.mean() == 0:
        return None
    n = numpy.arange(2, n_max + 1)
    half_widths = stats.t.ppf((1 + confidence) / 2, n - 1) * array.std(ddof=1) / numpy.sqrt(n)
    enough = half_widths <= relative_error * abs(array.mean())
    return int(n[numpy.argmax(enough)]) if enough.any() else n_max


def summarise(values: Sequence[float]) -> Summary:
    """All that a report says of one sample, with and without its outliers."""
    array = _finite(values)
    outliers = tukey_outliers(array)
    kept = numpy.array([value for value in array if value not in outliers])
    return Summary(n=int(array.size), mean=mean_interval(array), median=median_interval(array),
                   deviation=float(array.std(ddof=1)) if array.size > 1 else math.nan, outliers=outliers,
                   mean_without=float(kept.mean()) if kept.size else math.nan,
                   median_without=float(numpy.median(kept)) if kept.size else math.nan,
                   needed_n=needed_sample_size(array))


def sign_test(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """The p of 'neither side is larger' for values of the same rounds. Five rounds cannot be below 0.06."""
    above = sum(a > b for a, b in zip(numerators, denominators, strict=True))
    below = sum(a < b for a, b in zip(numerators, denominators, strict=True))
    return float(stats.binomtest(above, above + below).pvalue) if above + below else 1.0


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """The p of 'both samples come from one distribution', for samples taken apart."""
    if len(a) < 2 or len(b) < 2:
        return math.nan
    return float(stats.mannwhitneyu(a, b).pvalue)


def verdict(ratio: Interval, threshold: float) -> str:
    """'greater', 'less', 'equivalent' (the interval lies within the threshold), or 'undecided'."""
    if not math.isfinite(ratio.estimate):
        return "undecided"
    if ratio.low > threshold:
        return "greater"
    if ratio.high < 1 / threshold:
        return "less"
    if ratio.low >= 1 / threshold and ratio.high <= threshold:
        return "equivalent"
    return "undecided"


# ---- series in time ------------------------------------------------------------------------------

def change_points(series: Sequence[float], penalty: float = PENALTY) -> list[int]:
    """Where the level of a series changes: the indices at which a new level begins (PELT, least squares).

    The noise is taken from differences of neighbours, which a change of level hardly touches.
    """
    array = _finite(series)
    if array.size < 2 * SEGMENT_POINTS_MIN:
        return []
    noise = stats.median_abs_deviation(numpy.diff(array), scale="normal") / math.sqrt(2)
    noise = max(float(noise), 1e-6 * max(1e-12, float(numpy.abs(array).mean())))
    found = ruptures.KernelCPD(kernel="linear", min_size=SEGMENT_POINTS_MIN).fit((array / noise).reshape(-1, 1))
    return [int(index) for index in found.predict(pen=penalty * math.log(array.size))[:-1]]


def steady_from(series: Sequence[float], tolerance: float = LEVEL_TOLERANCE) -> int | None:
    """The index at which a series has reached its level; None when too little (a third) of it is left from there.

    Its level is the median of its last third. Warm-up ends with the first stretch between change points that is on this
    level. The tolerance is `tolerance`, or three times the scatter of the last third (at most a fifth of the level). A
    later excursion is no warm-up.
    """
    array = numpy.asarray(series, dtype=float)
    if array.size < 2 * SEGMENT_POINTS_MIN:
        return None
    last = array[-max(SEGMENT_POINTS_MIN, array.size // 3):]
    level = float(numpy.median(last))
    scatter = float(stats.median_abs_deviation(last, scale="normal"))
    reach = min(max(tolerance * abs(level), 3 * scatter), LEVEL_TOLERANCE_MAX * abs(level))
    edges = [0, *change_points(array), array.size]
    for begin, end in zip(edges, edges[1:], strict=False):
        here, rest = float(numpy.median(array[begin:end])), float(numpy.median(array[begin:]))
        if abs(here - level) <= reach and abs(rest - level) <= reach:
            return begin if array.size - begin >= array.size / 3 else None
    return None


@dataclasses.dataclass(frozen=True)
class Drift:
    """A trend in time. `slope_*`: units per second (Theil–Sen, 95 %); `p`: of 'no trend' (Kendall)."""

    slope: float
    slope_low: float
    slope_high: float
    relative: float               # change over the whole series, as a share of its median
    p: float
    n: int

    @property
    def significant(self) -> bool:
        """The interval of the slope excludes zero."""
        return self.slope_low > 0 or self.slope_high < 0


def drift(times_s: Sequence[float], values: Sequence[float]) -> Drift | None:
    """The trend of a series; None below eight points. Resistant to outliers."""
    if len(values) < 8:
        return None
    slope, _, low, high = stats.theilslopes(values, times_s, alpha=CONFIDENCE)
    p = stats.kendalltau(times_s, values).pvalue
    median = float(numpy.median(values))
    span = float(times_s[-1] - times_s[0])
    return Drift(float(slope), float(low), float(high), float(slope) * span / median if median else 0.0,
                 1.0 if math.isnan(p) else float(p), len(values))


def jain_index(shares: Sequence[float]) -> float:
    """Fairness of a division: 1 when all shares are equal, 1/n when one takes everything (Jain, Chiu, Hawe 1984)."""
    array = _finite(shares)
    square_sum = float((array ** 2).sum())
    return float(array.sum() ** 2 / (array.size * square_sum)) if square_sum > 0 else math.nan

# SPDX-License-Identifier: Apache-2.0
