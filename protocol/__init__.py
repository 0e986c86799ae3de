"""What is said on the bus and at the edge: types, tables and pure rules, importing nothing of ours and doing no I/O."""
