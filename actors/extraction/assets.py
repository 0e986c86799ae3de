"""Reads the files that are shipped with extraction, models and words of languages: its only module that reads any."""

from __future__ import annotations

from importlib.resources import files

FOLDER = "package_data"

CONTENT_MODEL = "content_model.npz"
"""The trees that classify blocks and page types (`scripts/train-extraction`)."""

FIELD_MODELS = "field_models.npz"
"""The trees that elect titles, authors and dates (`scripts/train-extraction`)."""

LANGUAGES = "languages.json"
"""For every language that others are taken for: its script, its commonest words (in their order) and its letters."""

LANGUAGE_WORDS = "language_words.json"
"""Further words of the languages that most pages are written in (`scripts/train-extraction`)."""

VOCABULARY = "vocabulary.json"
"""The words by which dates and names are known."""


def bytes_of(name: str) -> bytes:
    """Return the content of one of the files."""
    return files("actors.extraction").joinpath(FOLDER, name).read_bytes()
