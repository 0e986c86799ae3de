"""Promises that the real thing and its twin both keep."""
