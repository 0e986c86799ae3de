"""The applications that patterns are learned from: forty in the open, ten that are kept apart, and those to be left."""

from __future__ import annotations

from tests.patterns.apps.apart import APART
from tests.patterns.apps.articles import ARTICLES
from tests.patterns.apps.forums import FORUMS
from tests.patterns.apps.frameworks import FRAMEWORKS
from tests.patterns.apps.listings import LISTINGS
from tests.patterns.apps.people import PEOPLE
from tests.patterns.apps.shops import SHOPS
from tests.patterns.apps.unlearnable import UNLEARNABLE

APPLICATIONS = (*ARTICLES, *SHOPS, *FORUMS, *PEOPLE, *LISTINGS, *FRAMEWORKS)

COUNTED = "counted"
"""The one of UNLEARNABLE whose pages may be learned; what it writes may not."""

__all__ = ["APART", "APPLICATIONS", "COUNTED", "UNLEARNABLE"]
