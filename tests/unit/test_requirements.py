"""The manifest of the seeds' clauses and the tests that prove them agree, in both directions."""

from __future__ import annotations

import pytest

from tests.requirements import manifest, marks


@pytest.mark.slow
def test_a_test_proves_only_what_the_manifest_calls_met() -> None:
    clauses = manifest()

    wrong = [(used, path) for used, path in marks() if used not in clauses or clauses[used].status != "met"]

    assert wrong == []


@pytest.mark.slow
def test_what_is_met_has_a_test() -> None:
    proven = {used for used, _ in marks()}

    unproven = [name for name, clause in manifest().items() if clause.status == "met" and name not in proven]

    assert unproven == []


def test_what_comes_later_says_why() -> None:
    silent = [name for name, clause in manifest().items() if (clause.status == "later") != bool(clause.reason)]

    assert silent == []


def test_every_clause_names_its_seed() -> None:
    strange = [name for name in manifest() if name.split(".")[0] not in ("000", "001", "002", "003", "004")]

    assert strange == []
