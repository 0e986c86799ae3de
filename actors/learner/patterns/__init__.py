"""What the learner makes of pages that were shown: patterns of the APIs behind them (000 §4)."""
