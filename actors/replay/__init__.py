"""Replays recorded conversations: the same actors, in one process without a network, and what they do differently.

`weft replay` is the way in (`replaying.py`); `scratch.py` has the actors, `playback.py` what the outside said,
`comparison.py` what is the same.
"""
