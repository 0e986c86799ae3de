"""The tests of Weft: unit, contract, flows and integration."""
