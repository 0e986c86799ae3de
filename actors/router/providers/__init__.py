"""The providers of models: one file each, all behind the same protocol."""
