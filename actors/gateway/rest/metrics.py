"""The figures of every replica as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bus.stats import BUCKET_BOUNDS_S, EndpointStats, Replica

MEDIA_TYPE = CONTENT_TYPE_LATEST

_REPLICA = ("actor", "replica")
_ENDPOINT = ("actor", "replica", "subject")
_BOUNDS = (*(str(bound) for bound in BUCKET_BOUNDS_S), "+Inf")


def render(replicas: Sequence[Replica]) -> bytes:
    """Write the figures in the text format of Prometheus; counters start again with each replica."""
    registry = CollectorRegistry()
    registry.register(_Figures(replicas))
    return generate_latest(registry)


class _Figures:
    """A collector of what was read already."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = replicas

    def collect(self) -> Iterator[Metric]:
        started = GaugeMetricFamily("weft_process_start_time_seconds", "When a replica started.", labels=_REPLICA)
        for replica in self._replicas:
            started.add_metric((replica.actor, replica.replica), replica.started / 1_000)
        yield started
        yield self._filled(
            CounterMetricFamily("weft_calls", "Calls answered.", labels=_ENDPOINT), lambda one: one.calls
        )
        yield self._filled(
            CounterMetricFamily("weft_errors", "Answers that were errors.", labels=_ENDPOINT), lambda one: one.errors
        )
        yield self._filled(
            GaugeMetricFamily("weft_in_flight", "Calls at work.", labels=_ENDPOINT), lambda one: one.in_flight
        )
        yield self._filled(
            GaugeMetricFamily("weft_queued", "Calls that wait.", labels=_ENDPOINT), lambda one: one.queued
        )
        durations = HistogramMetricFamily("weft_call_duration_seconds", "Seconds a call took.", labels=_ENDPOINT)
        for labels, endpoint in self._endpoints():
            durations.add_metric(labels, _cumulative(endpoint.buckets), endpoint.duration_sum_s)
        yield durations

    def _filled(
        self, family: CounterMetricFamily | GaugeMetricFamily, read: Callable[[EndpointStats], int]
    ) -> CounterMetricFamily | GaugeMetricFamily:
        for labels, endpoint in self._endpoints():
            family.add_metric(labels, read(endpoint))
        return family

    def _endpoints(self) -> Iterator[tuple[tuple[str, str, str], EndpointStats]]:
        for replica in self._replicas:
            for endpoint in replica.endpoints:
                yield (replica.actor, replica.replica, endpoint.subject), endpoint


def _cumulative(buckets: Iterable[int]) -> list[tuple[str, float]]:
    return list(zip(_BOUNDS, accumulate(buckets), strict=True))
