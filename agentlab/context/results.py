"""Results of uneven size: most tool results are small, and a few hold most of the tokens.

In real coding agents the largest 5 % of the results hold more than half of all result tokens
(data/facts/result_sizes.csv). A lognormal distribution has that shape, and two published numbers fix it. A size is

    X = exp(mu + sigma * Z)      with Z from the standard normal distribution, whose distribution function is Phi

    median of X                  exp(mu)
    mean of X                    exp(mu + sigma^2 / 2)
    quantile p of X              exp(mu + sigma * z(p))      with z(p) the quantile p of Z
    share that the largest part q of the results has of all tokens      Phi(sigma - z(1 - q))

Source: N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous Univariate Distributions, volume 1, chapter 14. A model
has its limits: it knows no largest result, a real tool does.
"""

import math
import random
from statistics import NormalDist
from typing import NamedTuple, Self

from agentlab.context.growth import MAX_STEPS, MAX_TOKENS, whole_number
from agentlab.context.presets import Preset
from agentlab.errors import AgentlabError
from agentlab.facts import read_facts

_Z = NormalDist()
_TOP = 0.05
"""The part of the results whose share of the tokens was measured."""


class Lognormal(NamedTuple):
    """A lognormal distribution of result sizes: ``mu`` is the natural logarithm of the median in tokens."""

    mu: float
    sigma: float

    @classmethod
    def from_median_and_mean(cls, median: float, mean: float) -> Self:
        """sigma = sqrt(2 * ln(mean / median)). Raises AgentlabError for a mean below the median."""
        _tokens(median=median, mean=mean)
        if mean < median:
            raise AgentlabError(f"the mean {mean:g} is below the median {median:g}; a few large results pull it above")
        return cls(math.log(median), math.sqrt(2 * math.log(mean / median)))

    @classmethod
    def from_median_and_quantile(cls, median: float, p: float, quantile: float) -> Self:
        """sigma = ln(quantile / median) / z(p), with p between 0.5 and 1: 0.95 for a p95."""
        _tokens(median=median, quantile=quantile)
        _between("p", p, 0.5, 1)
        if quantile < median:
            raise AgentlabError(f"the quantile {quantile:g} for p = {p:g} is below the median {median:g}; swap the two")
        return cls(math.log(median), math.log(quantile / median) / _Z.inv_cdf(p))

    @classmethod
    def from_mean_and_top_share(cls, mean: float, share: float, top: float = _TOP) -> Self:
        """sigma = z(1 - top) + z(share), where the largest part ``top`` of the results has ``share`` of the tokens."""
        _tokens(mean=mean)
        _between("top", top, 0, 1)
        _between("share", share, top, 1)
        sigma = _Z.inv_cdf(1 - top) + _Z.inv_cdf(share)
        return cls(math.log(mean) - sigma**2 / 2, sigma)

    @property
    def median(self) -> float:
        """Half of the results have at most so many tokens."""
        return math.exp(self.mu)

    @property
    def mean(self) -> float:
        """Tokens of all results by their number: the r of the growth formula."""
        return math.exp(self.mu + self.sigma**2 / 2)

    def quantile(self, p: float) -> float:
        """The size in tokens that the part `p` of the results does not exceed."""
        _between("p", p, 0, 1)
        return math.exp(self.mu + self.sigma * _Z.inv_cdf(p))

    def top_share(self, top: float = _TOP) -> float:
        """The share of all result tokens that the largest part `top` of the results has, from 0 to 1."""
        _between("top", top, 0, 1)
        return _Z.cdf(self.sigma - _Z.inv_cdf(1 - top))


def sizes_of(preset: Preset) -> Lognormal:
    """The distribution of a preset's results: from mean and median, else from the mean and the share of the largest."""
    if preset.r_median is not None:
        return Lognormal.from_median_and_mean(preset.r_median, preset.r)
    for row in read_facts("result_sizes"):
        if row["name"] == preset.name:
            return Lognormal.from_mean_and_top_share(preset.r, (float(row["top5_low"]) + float(row["top5_high"])) / 2)
    raise AgentlabError(f"of the results of {preset.name} only the mean is known; expected a median or a share, too")


def draw_results(sizes: Lognormal, count: int, seed: int) -> tuple[int, ...]:
    """`count` result sizes in whole tokens; a run of N requests sends the first N - 1 of its results.

    The same seed gives the same sizes everywhere, and a longer draw begins with the shorter one: the numbers come from
    `random.Random.random`, which Python keeps the same from version to version, and what the last bit of a logarithm
    may differ from machine to machine is far below one token.
    """
    whole_number("count", count, at_most=MAX_STEPS)
    whole_number("seed", seed, at_most=2**32 - 1)
    source = random.Random(seed)  # noqa: S311 - sizes of example results are no secret
    # random() may return 0, of which there is no quantile; its smallest other number stands in.
    parts = (source.random() or 2**-53 for _ in range(count))
    return tuple(round(math.exp(sizes.mu + sizes.sigma * _Z.inv_cdf(part))) for part in parts)


def _tokens(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value <= MAX_TOKENS:
            raise AgentlabError(f"the {name} is {value:g}; expected tokens above 0 and up to {MAX_TOKENS:,}")


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low < value < high:
        raise AgentlabError(f"{name} is {value:g}; expected a part between {low:g} and {high:g}, both excluded")
